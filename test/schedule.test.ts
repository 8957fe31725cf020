import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../src/app.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ModelScript, scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless } from './support/command-line.ts'
import { advanceUntilDone, dispatchOf, freshFolder, openApp, waitUntil } from './support/open-app.ts'
import { addSchedule, type Item, NOON, openScheduled, YAML } from './support/scheduled-app.ts'

const MINUTE = 60_000

const listSchedules = async (app: App): Promise<readonly Item[]> => (await app.run('schedule list', {})).items

const itemOf = async (app: App, id: string): Promise<Item | undefined> =>
  (await listSchedules(app)).find((one) => one.id === id)

const assertRefused = (work: Promise<unknown>, code: string, message: RegExp): Promise<void> =>
  assert.rejects(work, { code, message })

describe('schedule', () => {
  test('E1: list shows kernel, agent and added schedules with agents, next and last beat', async (t) => {
    const { app } = await openScheduled(t)
    await addSchedule(app, { id: 'tea', agent: 'report', prompt: 'make tea', cron: '30 9 * * *' })
    await app.service('queue').requireLead()
    await app.context.store.commit([
      { ops: [{ op: 'schedule_fired', id: 'kernel:default', instant: NOON + 20 * MINUTE }] },
    ])
    const seen = (await listSchedules(app)).map(({ id, origin, agents, prompt, next, last }) => ({
      id,
      origin,
      agents,
      prompt,
      next,
      last,
    }))
    assert.deepEqual(seen, [
      {
        ...{ id: 'kernel:default', origin: 'kernel', agents: ['report'], prompt: null },
        ...{ next: '2026-01-15T12:30:00.000Z', last: '2026-01-15T12:20:00.000Z' },
      },
      {
        id: 'agent:tender',
        origin: 'agent',
        agents: ['tender'],
        prompt: null,
        next: '2026-01-15T13:00:00.000Z',
        last: null,
      },
      {
        id: 'tea',
        origin: 'added',
        agents: ['report'],
        prompt: 'make tea',
        next: '2026-01-16T01:30:00.000Z',
        last: null,
      },
    ])
  })

  test('E1: add takes a cron line, an interval or a time, and the schedule survives a restart', async (t) => {
    const home = freshFolder(t)
    const clock = new FakeClock({ now: NOON + 1 })
    const app = await openApp(t, { home, clock, yaml: YAML })
    const next = async (input: object): Promise<string | null> =>
      (await addSchedule(app, { agent: 'report', ...input })).next
    assert.equal(await next({ cron: '0 9 * * *', timezone: 'Europe/Berlin' }), '2026-01-16T08:00:00.000Z')
    assert.equal(await next({ every: '30m' }), '2026-01-15T12:30:00.001Z')
    assert.equal(await next({ at: '2026-01-16T09:00' }), '2026-01-16T01:00:00.000Z')
    assert.equal(await next({ at: '2026-01-16T09:00Z' }), '2026-01-16T09:00:00.000Z')
    assert.equal(await next({ at: '90m' }), '2026-01-15T13:30:00.001Z')
    const listed = await listSchedules(app)
    assert.equal(new Set(listed.map(({ id }) => id)).size, 7)
    await app.close()
    assert.deepEqual(await listSchedules(await openApp(t, { home, clock })), listed)
  })

  test('E1: add refuses invalid input, and adds nothing', async (t) => {
    const { app } = await openScheduled(t)
    const addSchedule = (input: object) => app.run('schedule add', { agent: 'report', ...input })
    await assertRefused(addSchedule({}), 'usage', /exactly one time; expected one of --cron, --every, --at/)
    await assertRefused(addSchedule({ cron: '@daily', every: '5m' }), 'usage', /exactly one time/)
    await assertRefused(
      addSchedule({ cron: '99 * * * *' }),
      'usage',
      /minute 99 is not from 0 to 59; got "99 \* \* \* \*"; expected five fields.*do this/,
    )
    await assertRefused(
      addSchedule({ every: 'often' }),
      'usage',
      /--every is not a duration; got often; expected a duration such as 500ms, .* at most 36500d/,
    )
    await assertRefused(addSchedule({ every: '0s' }), 'usage', /--every is not a duration/)
    await assertRefused(addSchedule({ at: 'soon' }), 'usage', /invalid date and time; got "soon"/)
    await assertRefused(
      addSchedule({ at: '2026-01-15T11:00:00Z' }),
      'usage',
      /that time is in the past; .*expected a time after 2026-01-15T12:00/,
    )
    await assertRefused(
      addSchedule({ cron: '@daily', timezone: 'Mars/Base' }),
      'usage',
      /unknown time zone; got Mars\/Base/,
    )
    await assertRefused(addSchedule({ agent: 'nobody', cron: '@daily' }), 'not_found', /no such agent; got nobody/)
    await assertRefused(
      addSchedule({ agent: 'default', cron: '@daily' }),
      'usage',
      /default has no prompt of its own.*--prompt/,
    )
    await assertRefused(addSchedule({ cron: '@daily', id: 'kernel:default' }), 'usage', /schedule add: .*1 to 64/)
    await addSchedule({ cron: '@daily', id: 'tea' })
    await assertRefused(addSchedule({ cron: '@hourly', id: 'tea' }), 'conflict', /schedule tea already exists/)
    assert.deepEqual(
      (await listSchedules(app)).slice(2).map(({ id, schedule }) => ({ id, schedule })),
      [{ id: 'tea', schedule: '@daily' }],
    )
  })

  test('E1: pause, resume and remove work for added schedules only; beats of a pause are not made up', async (t) => {
    const { app, clock } = await openScheduled(t)
    await addSchedule(app, { id: 'tea', agent: 'report', every: '10m' })
    const paused = await app.run('schedule pause', { id: 'tea' })
    assert.deepEqual({ paused: paused.paused, next: paused.next }, { paused: true, next: null })
    await clock.advance(35 * MINUTE)
    const resumed = await app.run('schedule resume', { id: 'tea' })
    assert.deepEqual(
      { paused: resumed.paused, next: resumed.next },
      { paused: false, next: '2026-01-15T12:40:00.001Z' },
    )
    const [mark] = (await app.context.store.marks()).filter(({ schedule_id }) => schedule_id === 'tea')
    assert.equal(mark?.until, clock.now())
    assert.equal((await app.run('schedule remove', { id: 'tea' })).removed, 'tea')
    assert.equal(await itemOf(app, 'tea'), undefined)
    for (const verb of ['pause', 'resume', 'remove']) {
      await assertRefused(
        app.runByName(`schedule ${verb}`, { id: 'tea' }),
        'not_found',
        /no such schedule; got tea; do this: run tireless schedule list/,
      )
      await assertRefused(
        app.runByName(`schedule ${verb}`, { id: 'agent:tender' }),
        'usage',
        /the schedule of tender in kernel.agents/,
      )
      await assertRefused(
        app.runByName(`schedule ${verb}`, { id: 'kernel:default' }),
        'usage',
        /change kernel.schedule/,
      )
    }
  })

  test('E1: run dispatches now, unattended, with the prompt of the schedule or agent', async (t) => {
    const { app } = await openScheduled(t)
    await addSchedule(app, { id: 'tea', agent: 'report', prompt: 'make tea', cron: '@daily' })
    const listed = await listSchedules(app)
    const run = async (id: string) => (await app.run('schedule run', { id })).items
    const [tea] = await run('tea')
    const [tenderRun] = await run('agent:tender')
    assert.ok(tea && tenderRun)
    const dispatch = await dispatchOf(app, tea.dispatch_id)
    assert.match(dispatch.prompt, /^make tea\n/)
    assert.deepEqual(
      { status: dispatch.status, agent_id: dispatch.agent_id },
      { status: 'pending', agent_id: 'report' },
    )
    const { behaviour, language, schedule_id } = dispatch.metadata
    assert.deepEqual(
      { behaviour, language, schedule_id },
      { behaviour: 'unattended', language: 'en', schedule_id: 'tea' },
    )
    assert.match((await dispatchOf(app, tenderRun.dispatch_id)).prompt, /^tend the folder\n/)
    await addSchedule(app, { id: 'look', agent: 'report', prompt: 'look at {STATE}', cron: '@daily' })
    const [lookRun] = await run('look')
    assert.match((await dispatchOf(app, lookRun?.dispatch_id ?? '')).prompt, /^look at <data [0-9a-f]{12} STATE>\n/)
    await app.run('schedule remove', { id: 'look' })
    assert.deepEqual(await listSchedules(app), listed)
    await assertRefused(run('kernel:default'), 'usage', /the kernel's own schedule; do this: .*cycle now/)
    await assertRefused(run('nothing'), 'not_found', /no such schedule/)
  })

  test('E1: config check names an invalid cron line with its line number', async (t) => {
    const home = freshFolder(t)
    writeFileSync(
      join(home, 'tireless.yaml'),
      YAML.replace('"*/10 * * * *"', '"*/90 * * * *"').replace('0 21 *', '0 24 *'),
    )
    const { exit, stderr } = await tireless(home, 'config', 'check')
    assert.equal(exit, 1)
    assert.match(stderr, /tireless\.yaml:3: kernel\.schedule is not valid: .*got "\*\/90 \* \* \* \*"/)
    assert.match(stderr, /tireless\.yaml:6: kernel\.agents\[1\]\.schedule is not valid: .*hour 24/)
  })
})

describe('the kernel follows the schedules', () => {
  const KERNEL_YAML =
    "kernel: { schedule: '@yearly', timezone: UTC, agents: [{ agent_id: report, prompt: write the report }] }"
  const script: ModelScript = [
    { calls: [{ tool: 'create_file', args: { path: 'tea.md', content: 'green' } }] },
    { text: 'Made.\n\n## Execution Summary\n- tea.md' },
  ]

  async function openKernel(t: TestContext, home = freshFolder(t), clock = new FakeClock({ now: NOON })) {
    const stop = new AbortController()
    const signals = { drain: stop.signal, abort: new AbortController().signal }
    const app = await openApp(t, { home, clock, signals, model: scriptedModel(script), yaml: KERNEL_YAML })
    /** Leaves out the cycle that a first start begins with. */
    const cycles = async () => (await app.run('cycles list', {})).items.filter(({ trigger }) => trigger !== 'first')
    const waitForCycles = (count: number) =>
      waitUntil(async () => (await cycles()).filter(({ ended_at }) => ended_at !== null).length >= count)
    return { app, home, clock, stop, cycles, came: waitForCycles }
  }

  const prompts = async (app: App): Promise<readonly string[]> =>
    (await app.context.store.dispatches({ limit: 10 })).map(({ prompt }) => prompt.split('\n')[0] ?? '')

  test('E1: a schedule added to a running kernel is followed at once; a removed or paused one is not', async (t) => {
    const { app, clock, stop, cycles, came: waitForCycles } = await openKernel(t)
    const started = app.run('start', {})
    await waitUntil(() => app.context.kernel.isRunning())
    await addSchedule(app, { id: 'tea', agent: 'report', prompt: 'make tea', every: '10m' })
    await advanceUntilDone(clock, waitForCycles(2))
    assert.deepEqual(
      (await cycles()).map(({ trigger, due }) => ({ trigger, due })),
      [
        { trigger: 'tea', due: '2026-01-15T12:20:00.000Z' },
        { trigger: 'tea', due: '2026-01-15T12:10:00.000Z' },
      ],
    )
    assert.deepEqual((await prompts(app)).slice(0, 2), ['make tea', 'make tea'])
    await app.run('schedule pause', { id: 'tea' })
    await addSchedule(app, { id: 'milk', agent: 'report', prompt: 'fetch milk', every: '25m' })
    await advanceUntilDone(clock, waitForCycles(3))
    assert.deepEqual(
      (await cycles()).map(({ trigger }) => trigger),
      ['milk', 'tea', 'tea'],
    )
    stop.abort()
    await started
  })

  test('E1: a one-time schedule fires once, late if need be, and is then removed', async (t) => {
    const first = await openKernel(t)
    await addSchedule(first.app, { id: 'tea', agent: 'report', prompt: 'make tea', at: '10m' })
    await first.app.close()
    const later = await openKernel(t, first.home, new FakeClock({ now: NOON + 26 * 60 * MINUTE }))
    await advanceUntilDone(later.clock, later.app.run('start', { until_idle: true }))
    assert.deepEqual(
      (await later.cycles()).map(({ trigger, due }) => ({ trigger, due })),
      [{ trigger: 'tea', due: '2026-01-15T12:10:00.000Z' }],
    )
    assert.equal(await itemOf(later.app, 'tea'), undefined)
    await advanceUntilDone(later.clock, later.app.run('start', { until_idle: true }))
    assert.equal((await later.cycles()).length, 1)
  })

  test('E1: start --until-idle ends without waiting for a beat if nothing is due', async (t) => {
    const { app, clock, cycles } = await openKernel(t)
    await addSchedule(app, { id: 'tea', agent: 'report', prompt: 'make tea', every: '10m' })
    await app.run('start', { until_idle: true })
    assert.equal(clock.now(), NOON)
    assert.deepEqual(await cycles(), [])
  })
})
