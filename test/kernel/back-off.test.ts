/** An agent whose work comes to the same again and again is asked less often at beats: until something changes, or somebody asks. */

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
const goes = JSON.stringify([{ agent_id: 'a', dispatch: true, reason: 'x' }])

/** Never does anything. */
const failing = () => scriptedModel((request) => (isPlanning(request) ? { text: goes } : { text: 'I did nothing' }))

type Living = KernelHome & { stop(): Promise<unknown> }

/** A kernel whose first cycle was at 12:00; beats come every ten minutes. */
const beating = (t: TestContext, its: readonly TestAgent[] = agents, mode = 'hybrid'): Promise<Living> =>
  startKernel(t, described(its, mode))

const described = (its: readonly TestAgent[], mode: string) => ({
  agents: its,
  kernel: { planner: { mode }, schedule: { every: '10m' }, max_attempts: 1 },
  model: failing(),
})

const sent = async ({ app }: KernelHome): Promise<number> =>
  (await listDispatches(app)).filter(({ agent_id }) => agent_id === 'a').length

/** Whether that beat has sent it. */
async function isSent(home: KernelHome): Promise<boolean> {
  const before = await sent(home)
  await advanceOneBeat(home, 10 * MINUTE)
  return (await sent(home)) > before
}

/** Three times the same, and the next beat is rested. */
async function atRest(home: KernelHome): Promise<void> {
  assert.deepEqual([await isSent(home), await isSent(home), await isSent(home)], [true, true, false])
}

const idleReason = async ({ app }: KernelHome): Promise<string | null | undefined> =>
  ((await app.run('cycles list', { limit: 1 })) as { items: { result: { idle_reason: string | null } | null }[] })
    .items[0]?.result?.idle_reason

const writeGoal = (home: KernelHome, text: string): void =>
  writeFileSync(join(home.home, 'kernels/default/GOAL.md'), text)

describe('progress, not motion (case 135, E5)', () => {
  test('the same outcome three cycles running: it is asked less and less', async (t) => {
    const home = await beating(t)
    const asked = [0]
    for (let n = 1; n < 16; n++) if (await isSent(home)) asked.push(n)
    assert.deepEqual(asked, [0, 1, 2, 4, 7, 12])
    await home.stop()
  })

  test('C6: the reason for a rest is true: how often the same, until when, and what ends it sooner', async (t) => {
    const home = await beating(t, [{ agent_id: 'a', watch: ['inbox'] }])
    await atRest(home)
    assert.equal(
      await idleReason(home),
      'a: same outcome 3 times in a row; paused until 12:40, or until GOAL.md, STATE.md, its own files ' +
        'or a watched path changes or a message arrives; run now: tireless once',
    )
    assert.equal(await isSent(home), true)
    assert.equal(home.clock.now(), Date.parse('2030-03-10T12:40:00Z'))
    await home.stop()
  })

  const changes: Readonly<Record<string, (home: KernelHome) => void>> = {
    'GOAL.md': (home) => writeGoal(home, '目标：成长'),
    'STATE.md': ({ home }) => editState(home, (text) => text.replace('## identity', '## news\na deploy\n## identity')),
    'what it watches': ({ home }) => mkdirSync(join(home, 'inbox')),
    'a file of its own': ({ home }) => {
      mkdirSync(join(home, 'agents', 'a'), { recursive: true })
      writeFileSync(join(home, 'agents', 'a', 'role.md'), 'careful')
    },
  }
  for (const [what, change] of Object.entries(changes))
    for (const mode of what === 'GOAL.md' ? ['hybrid', 'llm'] : ['hybrid'])
      test(`C6: ${mode}: a change of ${what} ends the rest, and three tries begin anew`, async (t) => {
        const home = await beating(t, [{ agent_id: 'a', watch: ['inbox'] }], mode)
        await atRest(home)
        change(home)
        assert.deepEqual([await isSent(home), await isSent(home), await isSent(home)], [true, true, true])
        assert.equal(await isSent(home), false)
        await home.stop()
      })

  test('C6: a message to it ends the rest', async (t) => {
    const home = await beating(t)
    await atRest(home)
    const [last] = await listDispatches(home.app)
    await home.app.run('send', { session: last?.session_id, text: 'the door is open now' })
    await waitUntil(async () => (await listDispatches(home.app)).every(({ status }) => status === 'failed'))
    assert.equal(await isSent(home), true)
    await home.stop()
  })

  for (const mode of ['hybrid', 'llm'])
    test(`C6: ${mode}: who asks for a cycle by hand gets it, at rest or not, each time`, async (t) => {
      const home = await beating(t, agents, mode)
      await atRest(home)
      const planned = countPlanningCalls(home.model)
      for (let n = 1; n <= 3; n++) {
        const { dispatched } = (await home.app.run('cycle now', {})) as { dispatched: number }
        assert.deepEqual([dispatched, countPlanningCalls(home.model) - planned], [1, mode === 'llm' ? n : 0])
      }
      await home.stop()
      await home.app.close()
      const { app } = await openKernelApp(t, { ...described(agents, mode), home: home.home, clock: home.clock })
      for (let n = 0; n < 3; n++) assert.equal((await runOnce(app)).dispatched, 1)
    })

  for (const [mode, pace] of [
    ['static', ['', '']],
    ['hybrid', ['; it now pauses 1 beat between runs', '; it now pauses 2 beats between runs']],
  ] as const)
    test(`that it comes to the same is told, and how long it rests at beats: ${mode}`, async (t) => {
      const kernel = { planner: { mode }, max_attempts: 1 }
      const { app } = await openKernelApp(t, { agents, kernel, model: failing() })
      const notes = new Set<string>()
      for (let n = 0; n < 5; n++) {
        const told = await app.run(
          'once',
          {},
          (progress) => void (progress.kind === 'note' && notes.add(progress.text)),
        )
        assert.equal((told as { dispatched: number }).dispatched, 1)
      }
      assert.deepEqual(
        [...notes],
        [`a had the same result 3 times in a row${pace[0]}`, `a had the same result 4 times in a row${pace[1]}`],
      )
    })
})
