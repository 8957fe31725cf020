import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Approval } from '../src/domain/approval.ts'
import { askAndWait, call, sendTool } from './support/approval-fixtures.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

/** Characters that can hide text: right-to-left override, zero width, control; and text far down in a long value. */
const HIDDEN_TEXT = { to: 'bob\u202Egro.live', cc: 'a\u200Bb\u0007\u{E0041}', text: `${'x'.repeat(5000)} and eve` }

async function homeAwaitingApproval(t: TestContext): Promise<{ home: string; approval: Approval }> {
  const home = freshFolder(t)
  const app = await openApp(t, {
    home,
    model: askAndWait(call('send', HIDDEN_TEXT), call('send', {})),
    tools: [sendTool()],
  })
  await runTaskIn(app)
  await app.close()
  const { items } = await tirelessJson<{ items: Approval[] }>(home, 'approvals', 'list')
  assert.equal(items.length, 2)
  return { home, approval: items[1] as Approval }
}

describe('approvals on the command line', () => {
  test('are shown in full with invisible characters escaped; --json prints them unchanged', async (t) => {
    const { home, approval } = await homeAwaitingApproval(t)
    assert.deepEqual(approval.args, HIDDEN_TEXT)
    for (const args of [['list'], ['show', approval.id]]) {
      const { exit, stdout } = await tireless(home, 'approvals', ...args)
      assert.equal(exit, 0)
      assert.match(stdout, /bob\\u\{202e\}gro\.live/)
      assert.match(stdout, /a\\u\{200b\}b\\u0007\\u\{e0041\}/)
      assert.match(stdout, /x{5000} and eve/)
      assert.doesNotMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
      for (const word of [
        approval.id,
        'send',
        'reach third_party',
        'it sends data to a third party',
        approval.origin.run_id,
      ])
        assert.ok(stdout.includes(word), word)
    }
  })

  test('are answered once; an invalid answer is refused with the reason', async (t) => {
    const { home, approval } = await homeAwaitingApproval(t)
    const badGrant = await tirelessJson<{ error: { code: string; message: string } }>(
      ...([home, 'approvals', 'allow', approval.id, '--grant', 'ever'] as const),
    )
    assert.deepEqual({ exit: badGrant.exit, code: badGrant.error.code }, { exit: 2, code: 'usage' })
    assert.match(badGrant.error.message, /invalid grant.*got "ever".*a number of days such as 7d/)
    assert.equal((await tirelessJson<{ error: object }>(home, 'approvals', 'show', 'nobody')).exit, 1)
    const allowed = await tirelessJson<Approval>(home, 'approvals', 'allow', approval.id, '--grant', 'once')
    assert.deepEqual({ exit: allowed.exit, status: allowed.status }, { exit: 0, status: 'allowed' })
    const late = await tirelessJson<{ error: { code: string } }>(
      home,
      'approvals',
      'deny',
      approval.id,
      '--reason',
      'too late',
    )
    assert.deepEqual({ exit: late.exit, code: late.error.code }, { exit: 1, code: 'conflict' })
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
