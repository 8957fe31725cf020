import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Approval } from '../src/domain/approval.ts'
import { askAndWait, call, sendTool } from './support/approval-fixtures.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

/** What would be hidden: turned around, of no width, a control, and far down in a long text. */
const SLY = { to: 'bob\u202Egro.live', cc: 'a\u200Bb\u0007\u{E0041}', text: `${'x'.repeat(5000)} and eve` }

async function homeThatAsks(t: TestContext): Promise<{ home: string; approval: Approval }> {
  const home = freshFolder(t)
  const app = await openApp(t, { home, model: askAndWait(call('send', SLY), call('send', {})), tools: [sendTool()] })
  await runTaskIn(app)
  await app.close()
  const { items } = await tirelessJson<{ items: Approval[] }>(home, 'approvals', 'list')
  assert.equal(items.length, 2)
  return { home, approval: items[1] as Approval }
}

describe('approvals on the command line', () => {
  test('are shown whole, with nothing hidden in them; for programs exactly as they are', async (t) => {
    const { home, approval } = await homeThatAsks(t)
    assert.deepEqual(approval.args, SLY)
    for (const words of [['list'], ['show', approval.id]]) {
      const { exit, stdout } = await tireless(home, 'approvals', ...words)
      assert.equal(exit, 0)
      assert.match(stdout, /bob\\u\{202e\}gro\.live/)
      assert.match(stdout, /a\\u\{200b\}b\\u0007\\u\{e0041\}/)
      assert.match(stdout, /x{5000} and eve/)
      assert.doesNotMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
      for (const word of [approval.id, 'send', 'reach third_party', 'it leaves the house', approval.origin.run_id])
        assert.ok(stdout.includes(word), word)
    }
  })

  test('are answered once; what cannot be answered is refused with the reason', async (t) => {
    const { home, approval } = await homeThatAsks(t)
    const standing = await tirelessJson<{ error: { code: string; message: string } }>(
      ...([home, 'approvals', 'allow', approval.id, '--grant', 'ever'] as const),
    )
    assert.deepEqual([standing.exit, standing.error.code], [2, 'usage'])
    assert.match(standing.error.message, /invalid grant.*got "ever".*a number of days such as 7d/)
    assert.equal((await tirelessJson<{ error: object }>(home, 'approvals', 'show', 'nobody')).exit, 1)
    const allowed = await tirelessJson<Approval>(home, 'approvals', 'allow', approval.id, '--grant', 'once')
    assert.deepEqual([allowed.exit, allowed.status], [0, 'allowed'])
    const late = await tirelessJson<{ error: { code: string } }>(
      home,
      'approvals',
      'deny',
      approval.id,
      '--reason',
      'too late',
    )
    assert.deepEqual([late.exit, late.error.code], [1, 'conflict'])
    const { items } = await tirelessJson<{ items: Approval[] }>(home, 'approvals', 'list')
    assert.deepEqual(
      items.map(({ status }) => status),
      ['open', 'allowed'],
    )
    const open = await tirelessJson<{ items: Approval[] }>(home, 'approvals', 'list', '--status', 'open')
    assert.equal(open.items.length, 1)
    assert.equal((await tirelessJson<{ approvals: number }>(home, 'status')).approvals, 1)
  })
})
