/** A dry run of `agent new` and `agent edit` says what would come of it, by the code that does it. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

const MONDAY = Date.parse('2026-11-16T06:30:00Z')
const yaml = 'kernel: { timezone: Asia/Shanghai }\n'
const clock = (): FakeClock => new FakeClock({ now: MONDAY })

const paidModel = (answers: readonly string[]) => {
  const left = [...answers]
  return { ...scriptedModel(() => ({ text: left.shift() ?? 'no' })), price: { input: 3, output: 15, max_output: 1000 } }
}

describe('E1: what a sentence would make is said before it is made', () => {
  for (const sentence of ['report on my mail every weekday at half past seven', '每天晚上八点总结我的邮件', 'tidy up'])
    test(`E1: the dry run and the agent agree: ${sentence}`, async (t) => {
      const home = freshFolder(t)
      const app = await openApp(t, { home, clock: clock(), yaml })
      const preview = await app.run('agent new', { sentence, dry_run: true })
      assert.equal(existsSync(join(home, 'agents')), false, 'nothing is written')
      assert.equal((await app.run('agent list', {})).items.length, 0)
      const created = await app.run('agent new', preview.create)
      assert.deepEqual({ ...created, dry_run: true }, preview)
      assert.ok(existsSync(created.source))
      assert.equal(preview.next?.length, preview.schedule === null ? 0 : 5)
    })

  test('E1: a schedule that a model read is created as it was shown, without asking the model again', async (t) => {
    const model = paidModel(['{"cron": "0 9 * * 1"}', '{"cron": "30 4 * * *"}'])
    const app = await openApp(t, { clock: clock(), yaml, model })
    const preview = await app.run('agent new', { sentence: 'tidy up at the start of the week', dry_run: true })
    assert.equal(preview.needs_yes, 'proposed')
    assert.equal((await app.run('agent new', preview.create)).schedule, '0 9 * * 1')
    assert.equal((await app.run('budget show', {})).today.calls, 1)
  })

  test('a dry run says what needs a yes, and is refused as the real command is', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml, model: paidModel([]) })
    const often = await app.run('agent new', { sentence: 'look at the queue every 10 minutes', dry_run: true })
    assert.equal(often.needs_yes, 'often')
    assert.ok((often.usd_per_run ?? 0) > 0 && (often.usd_per_day ?? 0) > (often.usd_per_run ?? 0) * 140)
    const refused = { sentence: 'wake me every day at 3', dry_run: true }
    await assert.rejects(app.run('agent new', refused), { code: 'usage', message: /03:00 or 15:00/ })
    for (const id of ['../bad', 'bad name'])
      await assert.rejects(app.run('agent new', { sentence: 'x', id, dry_run: true }), { code: 'usage' })
    const watching = await app.run('agent new', { sentence: 'watch my repo every hour', dry_run: true })
    assert.equal(watching.watch_missing, true)
  })

  test('a dry run of agent edit says the next times and changes nothing', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clock(), yaml })
    const { source } = await app.run('agent new', { sentence: 'report every morning', id: 'r' })
    const before = readFileSync(source, 'utf8')
    const shown = await app.run('agent edit', { id: 'r', schedule: '每个工作日九点半', dry_run: true })
    assert.deepEqual(shown.next?.[0], '2026-11-17T01:30:00.000Z')
    assert.equal(shown.dry_run, true)
    await assert.rejects(app.run('agent edit', { id: 'r', schedule: '61 * * * *', dry_run: true }), { code: 'usage' })
    const tooLong = { id: 'r', workspace: ' ', dry_run: true }
    await assert.rejects(app.run('agent edit', tooLong), { code: 'config_invalid' })
    assert.equal(readFileSync(source, 'utf8'), before)
    assert.equal(existsSync(`${source}.draft`), false)
  })

  test('the command line prints what would be created and changed', async (t) => {
    const home = freshFolder(t)
    const preview = await tireless(home, 'agent', 'new', 'water the plants every day at 18:00', '--dry-run')
    assert.match(preview.stdout, /^Would create water-plants: .*agent\.yaml\nRuns every day at 18:00\. Next: /)
    await tireless(home, 'agent', 'new', 'water the plants every day at 18:00')
    const edit = await tireless(home, 'agent', 'edit', 'water-plants', '--schedule', 'every hour', '--dry-run')
    assert.match(edit.stdout, /^Would change water-plants: .*agent\.yaml\nRuns every hour\./)
    const queued = await tirelessJson<{ status: string }>(home, 'agent', 'run', 'water-plants', '--detach')
    assert.deepEqual({ exit: queued.exit, status: queued.status }, { exit: 0, status: 'pending' })
  })
})

test('a detached run is queued and done by the kernel', async (t) => {
  const files = [{ tool: 'create_file', args: { path: 'log.md', content: 'watered' } }]
  const model = scriptedModel(({ messages }) =>
    messages.length > 1 ? { text: '## Summary\nwatered' } : { calls: files },
  )
  const app = await openApp(t, { model, yaml: 'kernel: { agents: [{ agent_id: a, prompt: water the plants }] }\n' })
  const stop = new AbortController()
  const draining = app.context.drain({ untilIdle: false, until: stop.signal })
  const { status, dispatch_id } = await app.run('agent run', { id: 'a', detach: true })
  assert.equal(status, 'pending')
  await waitUntil(async () => (await app.run('agent list', {})).items[0]?.last_status === 'done')
  const { last_run_id, runs } = await app.run('agent show', { id: 'a' })
  assert.deepEqual([last_run_id, runs[0]?.dispatch_id], [dispatch_id, dispatch_id])
  stop.abort()
  await draining
})
