import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
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
  runTaskIn,
  waitUntil,
} from '../support/open-app.ts'

const done = { text: 'done' }
const waiting = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

/** Something that hangs while a run is opened, until it is let go, and what is done about it. */
interface Hanging {
  readonly options: AppOptions
  readonly log: string[]
  goOn(): void
}

const logging = (log: string[], env: Env): Env => ({ ...env, close: async () => void log.push('env closed') })

const HANGING: readonly [string, readonly string[], () => Hanging][] = [
  [
    'an env that does not open',
    ['env closed'],
    () => {
      const gate = Promise.withResolvers<void>()
      const log: string[] = []
      const slow = withEnv(async (env) => {
        log.push('hangs')
        await gate.promise
        return logging(log, env)
      })
      return { options: { plugins: [slow] }, log, goOn: gate.resolve }
    },
  ],
  [
    'a tool that is not set up',
    ['env closed', 'tool down'],
    () => {
      const gate = Promise.withResolvers<void>()
      const log: string[] = []
      const tool = fakeTool({
        async setup() {
          log.push('hangs')
          await gate.promise
        },
        teardown: async () => void log.push('tool down'),
      })
      const plugins = [withEnv((env) => logging(log, env))]
      return { options: { tools: [tool], plugins }, log, goOn: gate.resolve }
    },
  ],
]

/** Under way, and hanging. */
async function hangingIn(t: TestContext, { options, log }: Hanging, input: object = {}, home = freshFolder(t)) {
  const clock = new FakeClock()
  const model = scriptedModel([done])
  const app = await openApp(t, { home, clock, model, ...options })
  const task = await enqueue(app, input)
  const started = app.run('start', { until_idle: true })
  await waitUntil(() => log.includes('hangs'))
  return { app, clock, model, task, started, home }
}

const replayed = async (app: App, { dispatch_id }: QueuedTask): Promise<boolean> =>
  ((await app.run('replay', { run: dispatch_id })) as { identical: boolean }).identical

for (const [what, takenDown, hanging] of HANGING)
  describe(`opening a run: ${what}`, () => {
    for (const how of ['immediate', 'after_step'])
      test(`case 53: is left behind when it is cancelled, ${how}; what comes of it later is taken down`, async (t) => {
        const hung = hanging()
        const { app, clock, task, model, started } = await hangingIn(t, hung)
        const [cancelled] = (await advanceUntilDone(clock, cancelDispatch(app, task, how))).items
        assert.equal(cancelled?.status, 'cancelled')
        await advanceUntilDone(clock, started)
        assert.deepEqual(kindsOf(await journalOf(app, task.session_id)), ['run_started', 'run_ended'])
        assert.deepEqual([await stopReasonsOf(app, task), model.requests.length], [['cancelled'], 0])
        hung.goOn()
        await waitUntil(() => hung.log.length > takenDown.length)
        assert.deepEqual(hung.log.slice(1).toSorted(), takenDown)
        assert.equal(await replayed(app, task), true)
      })

    test('case 50: is left behind when the time of the run is up', async (t) => {
      const hung = hanging()
      const { app, clock, task, started } = await hangingIn(t, hung, { max_seconds: 60 })
      await advanceUntilDone(clock, started)
      assert.deepEqual([await statusOf(app, task), await stopReasonsOf(app, task)], ['failed', ['budget_time']])
      const [started_at, ended_at] = (await journalOf(app, task.session_id)).map(({ ts }) => ts)
      assert.equal(Number(ended_at) - Number(started_at), 62_000)
      hung.goOn()
      await waitUntil(() => hung.log.length > takenDown.length)
      assert.equal(await replayed(app, task), true)
    })

    test('SIGTERM: is left behind when the program stops; the run is given back, and the next start begins it', async (t) => {
      const home = freshFolder(t)
      const [drain, abort] = [new AbortController(), new AbortController()]
      const hung = hanging()
      const signals = { drain: drain.signal, abort: abort.signal }
      const options = { ...hung.options, signals }
      const { app, clock, task, started } = await hangingIn(t, { ...hung, options }, {}, home)
      drain.abort()
      abort.abort()
      await advanceUntilDone(clock, started)
      assert.deepEqual([await statusOf(app, task), await journalOf(app, task.session_id)], ['pending', []])
      await app.close()
      const next = await openApp(t, { home, model: scriptedModel([done]) })
      await next.run('start', { until_idle: true })
      assert.equal((await dispatchOf(next, task.dispatch_id)).result, 'done')
    })
  })

describe('opening a run', () => {
  /** A run that waits; and everything that is set up from then on. */
  async function parked(t: TestContext) {
    const log: string[] = []
    const hook = recordingHook()
    const app = await openApp(t, {
      model: scriptedModel([waiting, done]),
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
    assert.deepEqual([status, log.splice(0)], ['waiting', ['env opened', 'tool set up']])
    return { app, log, hook, task: { dispatch_id, session_id } }
  }

  test('I10, SIGTERM: one that the program stops before anything is set up is given back, and nothing is', async (t) => {
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
    const app = await openApp(t, { model: scriptedModel([done]), hooks: [stopping], plugins: [opening], signals })
    const task = await enqueue(app)
    await app.run('start', { until_idle: true })
    assert.deepEqual([await statusOf(app, task), await journalOf(app, task.session_id), log], ['pending', [], []])
  })

  test('case 53: a parked run that is cancelled ends without anything being set up for it', async (t) => {
    const { app, log, hook, task } = await parked(t)
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.deepEqual([await stopReasonsOf(app, task), log], [['cancelled'], []])
    assert.equal(hook.moments.at(-1), 'run_end 1')
    assert.equal(await replayed(app, task), true)
  })

  test('case 53: one that is woken is set up again', async (t) => {
    const { app, log, task } = await parked(t)
    await app.run('send', { session: task.session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    assert.deepEqual([await statusOf(app, task), log], ['done', ['env opened', 'tool set up']])
  })

  test('case 53: one that cannot be set up any more can still be cancelled', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, model: scriptedModel([waiting]) })
    const task = await runTaskIn(app)
    await app.close()
    const broken = withEnv(() => Promise.reject(new Error('the machine is gone')))
    const later = await openApp(t, { home, model: scriptedModel([]), plugins: [broken] })
    assert.equal((await cancelDispatch(later, task)).items[0]?.status, 'cancelled')
  })
})
