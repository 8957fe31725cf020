import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type KernelHome, listDispatches, openKernelApp, runOnce } from '../support/kernels.ts'

const DAY = 86_400_000

const tracesIn = (home: string): number => readdirSync(join(home, 'traces')).length
const foldersIn = (home: string): number => readdirSync(join(home, 'workspaces')).length

for (const [days, left] of [
  [90, 1],
  [null, 3],
] as const)
  test(`E6, case 142: retention.days: ${days} keeps ${left} of three runs with trace and folder`, async (t) => {
    const { app, home, clock } = await openKernelApp(t, {
      agents: [{ agent_id: 'a', workspace: null }],
      kernel: { planner: { mode: 'static' } },
      config: { retention: { days } },
    })
    await runOnce(app)
    await clock.advance(DAY)
    await runOnce(app)
    assert.deepEqual(
      { dispatchCount: (await listDispatches(app)).length, traces: tracesIn(home), folders: foldersIn(home) },
      { dispatchCount: 2, traces: 2, folders: 2 },
    )
    await clock.advance(100 * DAY)
    await runOnce(app)
    assert.deepEqual(
      { dispatchCount: (await listDispatches(app)).length, traces: tracesIn(home), folders: foldersIn(home) },
      { dispatchCount: left, traces: left, folders: left },
    )
    const { items } = await app.run('cycles list', { limit: 10 })
    assert.equal(items.length, left)
    assert.deepEqual(await app.context.store.verify(), [])
  })

test('E6: the folder of an agent and a git worktree outlive their runs', async (t) => {
  const agents = [{ agent_id: 'a', workspace: 'workspaces/a' }]
  const { app, home, clock } = await openKernelApp(t, { agents, config: { retention: { days: 90 } } })
  await runOnce(app)
  const { session_id } = await app.run('run', { task: 'the task' })
  mkdirSync(join(home, 'workspaces', session_id, '.git'), { recursive: true })
  await clock.advance(100 * DAY)
  await runOnce(app)
  assert.deepEqual(readdirSync(join(home, 'workspaces')).sort(), ['a', session_id].sort())
})

test('E6: an old session with an unread message is kept', async (t) => {
  const model = scriptedModel([])
  const modelThatSends = {
    ...model,
    async call(): Promise<never> {
      const { items } = await app.run('sessions list', {})
      await app.run('send', { session: items[0]?.session_id ?? '', text: 'the message' })
      throw new TirelessError('model_refused', 'no')
    },
  }
  const given = { agents: [], config: { retention: { days: 90 } }, options: { model: modelThatSends } }
  const { app, clock }: KernelHome = await openKernelApp(t, given)
  await app.run('run', { task: 'the task' })
  const [failed] = await listDispatches(app)
  assert.equal(failed?.status, 'failed')
  await clock.advance(100 * DAY)
  await runOnce(app)
  const session = await app.run('sessions show', { id: failed.session_id })
  assert.deepEqual(
    session.unread.map((observation) => observation.type === 'user_message' && observation.text),
    ['the message'],
  )
})
