import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import type { Env } from '../../src/ports/env.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { recordingHook, withEnv } from '../support/event-recorder.ts'
import { cancelDispatch, enqueue, fakeTool, type QueuedTask, statusOf, stopReasonsOf } from '../support/fake-tools.ts'
import {
  advanceUntilDone,
  dispatchOf,
  freshFolder,
  journalOf,
  kindsOf,
  openApp,
  replayIn,
  runTaskIn,
  waitUntil,
} from '../support/open-app.ts'

const finalStep = { text: 'done' }
const waitStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

/** A part of the run setup that hangs until `release`; `log` records the teardown. */
interface HangingSetup {
  readonly options: AppOptions
  readonly log: string[]
  release(): void
}

const logClose = (log: string[], env: Env): Env => ({ ...env, close: async () => void log.push('env closed') })

const HANGING: readonly [string, readonly string[], () => HangingSetup][] = [
  [
    'an env whose open() hangs',
    ['env closed'],
    () => {
      const gate = Promise.withResolvers<void>()
      const log: string[] = []
      const slow = withEnv(async (env) => {
        log.push('hangs')
        await gate.promise
        return logClose(log, env)
      })
      return { options: { plugins: [slow] }, log, release: gate.resolve }
    },
  ],
  [
    'a tool whose setup() hangs',
    ['env closed', 'tool torn down'],
    () => {
      const gate = Promise.withResolvers<void>()
      const log: string[] = []
      const tool = fakeTool({
        async setup() {
          log.push('hangs')
          await gate.promise
        },
        teardown: async () => void log.push('tool torn down'),
      })
      const plugins = [withEnv((env) => logClose(log, env))]
      return { options: { tools: [tool], plugins }, log, release: gate.resolve }
    },
  ],
]

/** Contract: the run has been claimed and its setup hangs when it resolves. */
async function startHangingRun(
  t: TestContext,
  { options, log }: HangingSetup,
  input: object = {},
  home = freshFolder(t),
) {
  const clock = new FakeClock()
  const model = scriptedModel([finalStep])
  const app = await openApp(t, { home, clock, model, ...options })
  const task = await enqueue(app, input)
  const started = app.run('start', { until_idle: true })
  await waitUntil(() => log.includes('hangs'))
  return { app, clock, model, task, started, home }
}

const isReplayIdentical = async (app: App, { dispatch_id }: QueuedTask): Promise<boolean> =>
  (await replayIn(app, dispatch_id)).identical

for (const [what, teardown, hanging] of HANGING)
  describe(`run setup: ${what}`, () => {
    for (const how of ['immediate', 'after_step'] as const)
      test(`case 53: cancelling (${how}) does not wait for it; it is torn down later`, async (t) => {
        const hangingSetup = hanging()
        const { app, clock, task, model, started } = await startHangingRun(t, hangingSetup)
        const [cancelled] = (await advanceUntilDone(clock, cancelDispatch(app, task, how))).items
        assert.equal(cancelled?.status, 'cancelled')
        await advanceUntilDone(clock, started)
        assert.deepEqual(kindsOf(await journalOf(app, task.session_id)), ['run_started', 'run_ended'])
        assert.deepEqual(
          { stopReasons: await stopReasonsOf(app, task), requestCount: model.requests.length },
          { stopReasons: ['cancelled'], requestCount: 0 },
        )
        hangingSetup.release()
        await waitUntil(() => hangingSetup.log.length > teardown.length)
        assert.deepEqual(hangingSetup.log.slice(1).toSorted(), teardown)
        assert.equal(await isReplayIdentical(app, task), true)
      })

    test('case 50: the time limit of the run ends the wait for it', async (t) => {
      const hangingSetup = hanging()
      const { app, clock, task, started } = await startHangingRun(t, hangingSetup, { max_seconds: 60 })
      await advanceUntilDone(clock, started)
      assert.deepEqual(
        { status: await statusOf(app, task), stopReasons: await stopReasonsOf(app, task) },
        { status: 'failed', stopReasons: ['budget_time'] },
      )
      const [started_at, ended_at] = (await journalOf(app, task.session_id)).map(({ ts }) => ts)
      assert.equal(Number(ended_at) - Number(started_at), 62_000)
      hangingSetup.release()
      await waitUntil(() => hangingSetup.log.length > teardown.length)
      assert.equal(await isReplayIdentical(app, task), true)
    })

    test('SIGTERM: stopping does not wait for it; the next start runs the task', async (t) => {
      const home = freshFolder(t)
      const [drain, abort] = [new AbortController(), new AbortController()]
      const hangingSetup = hanging()
      const signals = { drain: drain.signal, abort: abort.signal }
      const options = { ...hangingSetup.options, signals }
      const { app, clock, task, started } = await startHangingRun(t, { ...hangingSetup, options }, {}, home)
      drain.abort()
      abort.abort()
      await advanceUntilDone(clock, started)
      assert.deepEqual(
        { status: await statusOf(app, task), journal: await journalOf(app, task.session_id) },
        { status: 'pending', journal: [] },
      )
      await app.close()
      const next = await openApp(t, { home, model: scriptedModel([finalStep]) })
      await next.run('start', { until_idle: true })
      assert.equal((await dispatchOf(next, task.dispatch_id)).result, 'done')
    })
  })

describe('run setup', () => {
  /** A waiting run; `log` records each later setup. */
  async function parkRun(t: TestContext) {
    const log: string[] = []
    const hook = recordingHook()
    const app = await openApp(t, {
      model: scriptedModel([waitStep, finalStep]),
      hooks: [hook],
      tools: [fakeTool({ setup: async () => void log.push('tool set up') })],
      plugins: [
        withEnv((env) => {
          log.push('env opened')
          return env
        }),
      ],
    })
    const { dispatch_id, session_id, status } = await runTaskIn(app)
    assert.deepEqual({ status, log: log.splice(0) }, { status: 'waiting', log: ['env opened', 'tool set up'] })
    return { app, log, hook, task: { dispatch_id, session_id } }
  }

  test('I10: after SIGTERM, a run stopped before its setup goes back to pending, without setup', async (t) => {
    const [drain, abort] = [new AbortController(), new AbortController()]
    const log: string[] = []
    const stopping = {
      name: 'stopping',
      on_run_start() {
        drain.abort()
        abort.abort()
      },
    }
    const opening = withEnv((env) => {
      log.push('env opened')
      return env
    })
    const signals = { drain: drain.signal, abort: abort.signal }
    const app = await openApp(t, { model: scriptedModel([finalStep]), hooks: [stopping], plugins: [opening], signals })
    const task = await enqueue(app)
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      { status: await statusOf(app, task), journal: await journalOf(app, task.session_id), log },
      { status: 'pending', journal: [], log: [] },
    )
  })

  test('case 53: a run that is opened while the store closes leaves nothing that keeps the process', async (t) => {
    const clock = new FakeClock()
    const log: string[] = []
    let closeStore = async (): Promise<void> => {}
    const opening = withEnv(async (env) => {
      await closeStore()
      return logClose(log, env)
    })
    const app = await createApp({ home: freshFolder(t), clock, model: scriptedModel([finalStep]), plugins: [opening] })
    closeStore = () => app.context.store.close()
    await enqueue(app)
    await assert.rejects(app.run('start', { until_idle: true }), { code: 'store_closed' })
    await assert.rejects(app.close(), { code: 'plugin_failed' }, 'the queue cannot be stored any more')
    assert.deepEqual({ timers: clock.sleeping, log }, { timers: 0, log: ['env closed'] })
  })

  test('case 53: cancelling a waiting run sets nothing up', async (t) => {
    const { app, log, hook, task } = await parkRun(t)
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.deepEqual({ stopReasons: await stopReasonsOf(app, task), log }, { stopReasons: ['cancelled'], log: [] })
    assert.equal(hook.moments.at(-1), 'run_end 1')
    assert.equal(await isReplayIdentical(app, task), true)
  })

  test('case 53: a woken run is set up again', async (t) => {
    const { app, log, task } = await parkRun(t)
    await app.run('send', { session: task.session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    assert.deepEqual({ status: await statusOf(app, task), log }, { status: 'done', log: ['env opened', 'tool set up'] })
  })

  test('case 53: a run whose setup fails can still be cancelled', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, model: scriptedModel([waitStep]) })
    const task = await runTaskIn(app)
    await app.close()
    const broken = withEnv(() => Promise.reject(new Error('the machine is gone')))
    const later = await openApp(t, { home, model: scriptedModel([]), plugins: [broken] })
    assert.equal((await cancelDispatch(later, task)).items[0]?.status, 'cancelled')
  })
})
