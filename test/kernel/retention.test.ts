import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type KernelHome, listDispatches, openKernelApp, runOnce } from '../support/kernels.ts'

const DAY = 86_400_000

const tracesIn = (home: string): number => readdirSync(join(home, 'traces')).length
const foldersIn = (home: string): number => readdirSync(join(home, 'workspaces')).length

/** Retention counts days on which the store committed. */
async function passDays({ app, clock }: Pick<KernelHome, 'app' | 'clock'>, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    await clock.advance(DAY)
    await app.service('memory').remember({ key: 'day', text: String(day) })
  }
}

for (const [days, left] of [
  [20, 1],
  [null, 3],
] as const)
  test(`E6, O7, case 142: retention.days: ${days} keeps ${left} of three runs, and all their results`, async (t) => {
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
    await passDays({ app, clock }, 21)
    await runOnce(app)
    assert.deepEqual(
      { dispatchCount: (await listDispatches(app)).length, traces: tracesIn(home), folders: foldersIn(home) },
      { dispatchCount: left, traces: left, folders: 3 },
    )
    const { items } = await app.run('cycles list', { limit: 10 })
    assert.equal(items.length, left)
    assert.deepEqual(await app.context.store.verify(), [])
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
  const given = { agents: [], config: { retention: { days: 20 } }, options: { model: modelThatSends } }
  const { app, clock }: KernelHome = await openKernelApp(t, given)
  await app.run('run', { task: 'the task' })
  const [failed] = await listDispatches(app)
  assert.equal(failed?.status, 'failed')
  await passDays({ app, clock }, 21)
  await runOnce(app)
  const session = await app.run('sessions show', { id: failed.session_id })
  assert.deepEqual(
    session.unread.map((observation) => observation.type === 'user_message' && observation.text),
    ['the message'],
  )
})
