import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  advanceOneBeat,
  countEndedCycles,
  diligentScript,
  editState,
  listCyclesAfterFirst,
  listDispatches,
  MINUTE,
  openKernelApp,
  startKernel,
} from '../support/kernels.ts'
import { advanceUntilDone, waitUntil } from '../support/open-app.ts'

const HOUR = 60 * MINUTE

describe('the kernel loop', () => {
  test('E1, E5: 24 hours without changes: beats are recorded, no model is called; an edit resumes work', async (t) => {
    const kernel = { schedule: { every: '1h' }, planner: { mode: 'hybrid' } }
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }], kernel })
    const calls = home.model.requests.length
    assert.equal(calls, 2)
    for (let n = 0; n < 24; n++) await advanceOneBeat(home, HOUR)
    assert.equal(home.model.requests.length, calls)
    const cycles = await listCyclesAfterFirst(home.app)
    assert.equal(cycles.length, 24)
    assert.equal(new Set(cycles.map(({ due }) => due)).size, 24)
    editState(home.home, (text) => text.replace('## recent_actions', '## news\nsomething happened\n## recent_actions'))
    await advanceOneBeat(home, HOUR)
    assert.equal(home.model.requests.length, calls + 2)
    await home.stop()
  })

  test('status shows state, next beat and last cycle; a paused kernel skips beats until resume', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }] })
    const kernel = async () => (await home.app.run('status', {})).kernel
    assert.deepEqual(
      { state: (await kernel()).state, next_beat: (await kernel()).next_beat },
      { state: 'running', next_beat: '2030-03-10T12:10:00.000Z' },
    )
    await advanceOneBeat(home, 10 * MINUTE)
    assert.equal(((await kernel()).last_cycle as { status: string }).status, 'success')
    await home.app.run('pause', {})
    assert.equal((await kernel()).state, 'paused')
    await home.clock.advance(10 * MINUTE)
    await waitUntil(async () => (await kernel()).next_beat === '2030-03-10T12:30:00.000Z')
    assert.equal(await countEndedCycles(home.app), 1)
    await home.app.run('resume', {})
    await advanceOneBeat(home, 10 * MINUTE)
    assert.deepEqual(
      (await listCyclesAfterFirst(home.app)).map(({ due }) => due),
      ['2030-03-10T12:30:00.000Z', '2030-03-10T12:10:00.000Z'],
    )
    await home.stop()
  })

  test('E9: a kernel is healthy while paused and after resume', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }] })
    const health = async () => (await home.app.run('status', {})).health
    await home.app.run('pause', {})
    for (let beats = 0; beats < 5; beats += 1) {
      const next = home.clock.now() + 10 * MINUTE
      await home.clock.advance(10 * MINUTE)
      await waitUntil(async () => home.clock.now() >= next)
    }
    assert.deepEqual(await health(), { ok: true, reasons: [] })
    await home.app.run('resume', {})
    assert.deepEqual(await health(), { ok: true, reasons: [] })
    await home.stop()
  })

  test('E1: a hanging dispatch delays no beat; the cycle that sees its end counts it', async (t) => {
    let release = (): void => {}
    const hanging = new Promise<void>((resolve) => {
      release = resolve
    })
    const scripted = scriptedModel(diligentScript)
    const model = {
      ...scripted,
      async call(...given: Parameters<typeof scripted.call>) {
        if (JSON.stringify(given[0].messages).includes('work of slow')) await hanging
        return scripted.call(...given)
      },
    }
    const home = await startKernel(t, {
      agents: [{ agent_id: 'slow', timeout: '5h' }, { agent_id: 'quick' }],
      options: { model },
    })
    /** Polls while the clock advances: other agents wait up to 30 s for the first one. */
    const advanceUntil = async (condition: () => Promise<boolean>): Promise<void> => {
      while (!(await condition())) {
        await pause(20)
        await home.clock.advance(15_000)
      }
    }
    const quick = async () => (await listDispatches(home.app)).filter(({ status }) => status === 'done').length
    for (let n = 0; n < 3; n++) await advanceUntil(async () => (await quick()) > n)
    const busy = (await listCyclesAfterFirst(home.app)).flatMap(({ result }) => result?.agents ?? [])
    assert.ok(busy.filter(({ agent_id, status }) => agent_id === 'slow' && status === 'done').length === 0)
    release()
    const reported = async () => (await listCyclesAfterFirst(home.app)).flatMap(({ result }) => result?.agents ?? [])
    await advanceUntil(async () =>
      (await reported()).some(({ agent_id, status }) => agent_id === 'slow' && status === 'done'),
    )
    await home.stop()
  })

  test('case 128: two simultaneous cycle now commands share one cycle; the next has its own id', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }] })
    const [one, same] = (await Promise.all([home.app.run('cycle now', {}), home.app.run('cycle now', {})])) as {
      cycle_id: string
    }[]
    assert.equal(one?.cycle_id, same?.cycle_id)
    const next = await home.app.run('cycle now', {})
    assert.notEqual(next.cycle_id, one?.cycle_id)
    assert.equal(await countEndedCycles(home.app), 2)
    await home.stop()
  })

  test('stop ends the kernel; a second stop reports that none was running', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }] })
    await advanceOneBeat(home, 10 * MINUTE)
    assert.deepEqual(await home.app.run('stop', {}), { stopped: true, timeout: 30 })
    await home.stop()
    assert.deepEqual(await home.app.run('stop', {}), { stopped: false, timeout: 30 })
    assert.equal((await home.app.run('status', {})).kernel.state, 'stopped')
  })

  test('missed beats: the newest is caught up by default, or none, all or a number as configured', async (t) => {
    for (const [missed, cycles] of [
      [undefined, 1],
      ['skip', 0],
      ['all', 6],
      [{ all: 2 }, 2],
    ] as const) {
      const kernel = missed === undefined ? {} : { missed }
      const { app, clock } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], kernel })
      await app.run('start', { until_idle: true })
      assert.equal(await countEndedCycles(app), 0)
      await clock.advance(HOUR + 5 * MINUTE)
      await app.run('start', { until_idle: true })
      assert.deepEqual({ missed, endedCycleCount: await countEndedCycles(app) }, { missed, endedCycleCount: cycles })
    }
  })

  test('an added schedule dispatches its agent with its prompt, once per beat', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a', schedule: '0 0 1 1 *' }], config: {} })
    await home.app
      .run('schedule add', { agent: 'a', cron: '*/30 * * * *', prompt: 'look at the mail' })
      .catch(async (thrown) => {
        throw new Error(`schedule add: ${thrown.message}`)
      })
    await advanceOneBeat(home, 31 * MINUTE)
    const [dispatch] = await listDispatches(home.app)
    assert.equal(dispatch?.prompt.startsWith('look at the mail'), true)
    assert.equal((await listDispatches(home.app)).filter(({ prompt }) => prompt.startsWith('look')).length, 1)
    await home.stop()
  })

  test('a changed configuration applies without a restart; an invalid one is refused', async (t) => {
    const home = await startKernel(t, { agents: [{ agent_id: 'a' }] })
    const file = join(home.home, 'tireless.yaml')
    writeFileSync(
      file,
      'kernel: { timezone: UTC, schedule: { every: 1h }, agents: [{ agent_id: b, prompt: "work of b" }] }',
    )
    const next = async () => (await home.app.run('status', {})).kernel.next_beat
    await advanceUntilDone(
      home.clock,
      waitUntil(async () => (await next()) === '2030-03-10T13:00:00.000Z'),
    )
    await advanceOneBeat(home, 2 * HOUR)
    assert.equal((await listDispatches(home.app))[0]?.agent_id, 'b')
    writeFileSync(file, 'kernel: { shedule: 1 }')
    const reasons = async () => JSON.stringify(await home.app.run('status', {}))
    await advanceUntilDone(
      home.clock,
      waitUntil(async () => (await reasons()).includes('shedule is not a known key')),
    )
    const before = await countEndedCycles(home.app)
    await home.clock.advance(2 * HOUR)
    await waitUntil(async () => (await countEndedCycles(home.app)) > before)
    // Editors may truncate a file before they write it: an empty file does not mean all defaults.
    writeFileSync(file, '')
    await advanceUntilDone(
      home.clock,
      waitUntil(async () => (await reasons()).includes('the configuration file is empty')),
    )
    assert.deepEqual(
      home.app.context.agentDirectory.all().map(({ agent }) => agent.agent_id),
      ['b'],
    )
    await home.stop()
  })

  test('E14: health reports failed cycles and a kernel that never succeeded, until a success', async (t) => {
    let works = false
    const model = scriptedModel((request) => (works ? diligentScript(request) : { text: 'nothing' }))
    const agents = ['a', 'b', 'c', 'd', 'e'].map((agent_id) => ({ agent_id }))
    const home = await startKernel(t, { agents, kernel: { max_attempts: 1 }, model })
    const health = async () => (await home.app.run('status', {})).health
    assert.match((await health()).reasons.join(), /the last cycle failed: 5 of 5 dispatches \(a, b, c, d, e\)/)
    await advanceOneBeat(home, 10 * MINUTE)
    await advanceOneBeat(home, 10 * MINUTE)
    assert.match(
      (await health()).reasons.join(),
      /last 3 cycles failed.*no cycle has succeeded since the kernel was started/,
    )
    works = true
    await advanceOneBeat(home, 10 * MINUTE)
    assert.deepEqual(await health(), { ok: true, reasons: [] })
    await home.stop()
  })
})
