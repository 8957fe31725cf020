/** Back-off: an agent with the same outcome again and again runs at fewer beats, until its inputs change. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  advanceOneBeat,
  countPlanningCalls,
  editState,
  isPlanning,
  type KernelHome,
  listDispatches,
  MINUTE,
  openKernelApp,
  runOnce,
  startKernel,
  type TestAgent,
} from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

const agents = [{ agent_id: 'a' }]
const dispatchPlan = JSON.stringify([{ agent_id: 'a', dispatch: true, reason: 'x' }])

/** Plans to dispatch the agent, which then does nothing. */
const idleModel = () =>
  scriptedModel((request) => (isPlanning(request) ? { text: dispatchPlan } : { text: 'I did nothing' }))

type RunningKernel = KernelHome & { stop(): Promise<unknown> }

/** A kernel that ran its first cycle at 12:00 and has a beat every ten minutes. */
const startKernelWith = (
  t: TestContext,
  given: readonly TestAgent[] = agents,
  mode = 'hybrid',
): Promise<RunningKernel> => startKernel(t, kernelOptions(given, mode))

const kernelOptions = (given: readonly TestAgent[], mode: string) => ({
  agents: given,
  kernel: { planner: { mode }, schedule: { every: '10m' }, max_attempts: 1 },
  model: idleModel(),
})

const countDispatches = async ({ app }: KernelHome): Promise<number> =>
  (await listDispatches(app)).filter(({ agent_id }) => agent_id === 'a').length

/** Advances one beat; whether that beat dispatched the agent. */
async function isDispatchedAtNextBeat(home: KernelHome): Promise<boolean> {
  const before = await countDispatches(home)
  await advanceOneBeat(home, 10 * MINUTE)
  return (await countDispatches(home)) > before
}

/** Runs the kernel into its back-off: after the third equal outcome a beat is skipped. */
async function reachBackOff(home: KernelHome): Promise<void> {
  assert.deepEqual(
    [await isDispatchedAtNextBeat(home), await isDispatchedAtNextBeat(home), await isDispatchedAtNextBeat(home)],
    [true, true, false],
  )
}

const idleReason = async ({ app }: KernelHome): Promise<string | null | undefined> =>
  (await app.run('cycles list', { limit: 1 })).items[0]?.result?.idle_reason

const writeGoal = (home: KernelHome, text: string): void =>
  writeFileSync(join(home.home, 'kernels/default/GOAL.md'), text)

describe('back-off without progress (case 135, E5)', () => {
  test('after three equal outcomes the agent runs at fewer and fewer beats', async (t) => {
    const home = await startKernelWith(t)
    const dispatchedBeats = [0]
    for (let n = 1; n < 16; n++) if (await isDispatchedAtNextBeat(home)) dispatchedBeats.push(n)
    assert.deepEqual(dispatchedBeats, [0, 1, 2, 4, 7, 12])
    await home.stop()
  })

  test('the idle reason says how often, until when, and what ends the pause sooner', async (t) => {
    const home = await startKernelWith(t, [{ agent_id: 'a', watch: ['inbox'] }])
    await reachBackOff(home)
    assert.equal(
      await idleReason(home),
      'a: same outcome 3 times in a row; paused until 12:40, or until GOAL.md, STATE.md, its own files ' +
        'or a watched path changes or a message arrives; run now: tireless once',
    )
    assert.equal(await isDispatchedAtNextBeat(home), true)
    assert.equal(home.clock.now(), Date.parse('2030-03-10T12:40:00Z'))
    await home.stop()
  })

  const changes: Readonly<Record<string, (home: KernelHome) => void>> = {
    'GOAL.md': (home) => writeGoal(home, '目标：成长'),
    'STATE.md': ({ home }) => editState(home, (text) => text.replace('## identity', '## news\na deploy\n## identity')),
    'a watched path': ({ home }) => mkdirSync(join(home, 'inbox')),
    "the agent's own files": ({ home }) => {
      mkdirSync(join(home, 'agents', 'a'), { recursive: true })
      writeFileSync(join(home, 'agents', 'a', 'role.md'), 'careful')
    },
  }
  for (const [what, change] of Object.entries(changes))
    for (const mode of what === 'GOAL.md' ? ['hybrid', 'llm'] : ['hybrid'])
      test(`${mode}: a change of ${what} ends the pause; three more runs follow`, async (t) => {
        const home = await startKernelWith(t, [{ agent_id: 'a', watch: ['inbox'] }], mode)
        await reachBackOff(home)
        change(home)
        assert.deepEqual(
          [await isDispatchedAtNextBeat(home), await isDispatchedAtNextBeat(home), await isDispatchedAtNextBeat(home)],
          [true, true, true],
        )
        assert.equal(await isDispatchedAtNextBeat(home), false)
        await home.stop()
      })

  test('a message to the agent ends the pause', async (t) => {
    const home = await startKernelWith(t)
    await reachBackOff(home)
    const [last] = await listDispatches(home.app)
    await home.app.run('send', { session: last?.session_id ?? '', text: 'the door is open now' })
    await waitUntil(async () => (await listDispatches(home.app)).every(({ status }) => status === 'failed'))
    assert.equal(await isDispatchedAtNextBeat(home), true)
    await home.stop()
  })

  for (const mode of ['hybrid', 'llm'])
    test(`${mode}: a manual cycle always runs, paused or not`, async (t) => {
      const home = await startKernelWith(t, agents, mode)
      await reachBackOff(home)
      const planned = countPlanningCalls(home.model)
      for (let n = 1; n <= 3; n++) {
        const { dispatched } = await home.app.run('cycle now', {})
        assert.deepEqual(
          { dispatched, planningCallCount: countPlanningCalls(home.model) - planned },
          { dispatched: 1, planningCallCount: mode === 'llm' ? n : 0 },
        )
      }
      await home.stop()
      await home.app.close()
      const { app } = await openKernelApp(t, { ...kernelOptions(agents, mode), home: home.home, clock: home.clock })
      for (let n = 0; n < 3; n++) assert.equal((await runOnce(app)).dispatched, 1)
    })

  for (const [mode, pace] of [
    ['static', ['', '']],
    ['hybrid', ['; it now pauses 1 beat between runs', '; it now pauses 2 beats between runs']],
  ] as const)
    test(`a note reports equal outcomes and the pause: ${mode}`, async (t) => {
      const kernel = { planner: { mode }, max_attempts: 1 }
      const { app } = await openKernelApp(t, { agents, kernel, model: idleModel() })
      const notes = new Set<string>()
      for (let n = 0; n < 5; n++) {
        const result = await app.run(
          'once',
          {},
          (progress) => void (progress.kind === 'note' && notes.add(progress.text)),
        )
        assert.equal((result as { dispatched: number }).dispatched, 1)
      }
      assert.deepEqual(
        [...notes],
        [`a had the same result 3 times in a row${pace[0]}`, `a had the same result 4 times in a row${pace[1]}`],
      )
    })
})
