import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Agent } from '../../domain/agent.ts'
import type { ScheduleEntry, ScheduleSpec } from '../../domain/schedule.ts'
import type { KernelSettings } from '../settings.ts'
import { dueAgents, isOnce, listSchedules, nextScheduleDue, tickPolicy } from './all-schedules.ts'
import { type SimulationInput, simulateSchedules } from './simulate.ts'

const NOON = Date.parse('2026-01-15T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const agentOf = (agent_id: string, schedule: ScheduleSpec | null = null, enabled = true): Agent => ({
  ...{ agent_id, schedule, enabled, prompt: `do ${agent_id}`, priority: 0, metadata: {} },
  ...{ cooldown: 0, watch: [], model: null, tools: null, workspace: null },
})

const settingsOf = (agents: readonly Agent[], more: Partial<KernelSettings> = {}): KernelSettings => ({
  ...{ id: 'default', enabled: true, schedule: '0 */2 * * *', timezone: 'UTC', jitter: 0, overrun: 'skip' },
  ...{ missed: 'skip', planner: { mode: 'static', model: null, max_dispatches: null, timeout: null } },
  ...{ max_concurrent: 3, max_cycle_history: 5, seed_state: '', user_id: null, channel: null, chat_id: null, agents },
  ...{ quiet_hours: null, digest: null, ping_url: null, stop_timeout: 30_000 },
  ...more,
})

const entryOf = (id: string, spec: ScheduleSpec, more: Partial<ScheduleEntry> = {}): ScheduleEntry => ({
  ...{ id, spec, timezone: 'UTC', agent_id: 'a', prompt: 'water the plants', paused: false },
  ...{ created_at: '2026-01-15T11:59:00.000Z', ...more },
})

const AGENTS = [agentOf('a'), agentOf('b'), agentOf('own', '30 14 * * *'), agentOf('off', null, false)]

describe('all schedules', () => {
  test('E1: the kernel’s schedule covers agents without their own; then agents’ schedules, then added ones', () => {
    const settings = settingsOf([...AGENTS, agentOf('away', '@daily', false)])
    const rows = listSchedules(settings, [entryOf('plants', '@hourly'), entryOf('later', '@hourly', { paused: true })])
    assert.deepEqual(
      rows.map((row) => ({
        schedule_id: row.schedule_id,
        origin: row.origin,
        dueAgents: dueAgents(row, settings.agents),
        paused: row.paused,
      })),
      [
        { schedule_id: 'kernel:default', origin: 'kernel', dueAgents: ['a', 'b'], paused: false },
        { schedule_id: 'agent:own', origin: 'agent', dueAgents: ['own'], paused: false },
        { schedule_id: 'agent:away', origin: 'agent', dueAgents: [], paused: true },
        { schedule_id: 'plants', origin: 'added', dueAgents: ['a'], paused: false },
        { schedule_id: 'later', origin: 'added', dueAgents: ['a'], paused: true },
      ],
    )
    assert.ok(
      listSchedules({ ...settings, enabled: false }, [entryOf('plants', '@hourly')]).every(({ paused }) => paused),
    )
  })

  test('E1: an added schedule without a prompt needs an agent that has one', () => {
    const withoutPrompt = { prompt: null, agent_id: 'gone' }
    const rows = listSchedules(settingsOf(AGENTS), [
      entryOf('x', '@hourly', withoutPrompt),
      entryOf('y', '@hourly', { agent_id: 'gone' }),
    ])
    assert.deepEqual(
      rows.slice(-2).map((row) => dueAgents(row, AGENTS)),
      [[], ['gone']],
    )
  })

  test('E1: an added interval is counted from its creation; an added line uses its own zone', () => {
    const [, , interval, tokyo] = listSchedules(settingsOf(AGENTS), [
      entryOf('interval', { every: HOUR }),
      entryOf('tokyo', '0 9 * * *', { timezone: 'Asia/Tokyo' }),
    ])
    assert.equal(interval?.schedule.next(NOON), NOON + 59 * MINUTE)
    assert.equal(tokyo?.schedule.next(NOON), NOON + 12 * HOUR)
  })

  test('E1: next is after the mark, and never for a paused schedule; a one-time schedule is not skipped', () => {
    const settings = settingsOf(AGENTS, { missed: 'skip', jitter: 5 })
    const [kernel, own] = listSchedules(settings, [])
    const [once] = listSchedules(settings, [entryOf('once', { at: '2026-01-16T09:00:00Z' })]).slice(-1)
    assert.ok(kernel && own && once)
    const mark = { schedule_id: 'kernel:default', until: NOON + 5 * HOUR, fired: null }
    assert.equal(nextScheduleDue(kernel, [], NOON), NOON + 2 * HOUR)
    assert.equal(nextScheduleDue(kernel, [mark], NOON), NOON + 6 * HOUR)
    assert.equal(nextScheduleDue(own, [mark], NOON), NOON + 2.5 * HOUR)
    assert.equal(nextScheduleDue({ ...kernel, paused: true }, [mark], NOON), undefined)
    assert.deepEqual(tickPolicy(kernel, settings), { id: 'kernel:default', jitter: 5, missed: 'skip', overrun: 'skip' })
    assert.equal(tickPolicy(once, settings).missed, 'once')
    assert.deepEqual({ kernel: isOnce(kernel), once: isOnce(once) }, { kernel: false, once: true })
  })
})

describe('simulation', () => {
  const inputOf = (
    settings: KernelSettings,
    entries: readonly ScheduleEntry[] = [],
    more: Partial<SimulationInput> = {},
  ): SimulationInput => ({
    ...{ rows: listSchedules(settings, entries), agents: settings.agents, from: NOON, days: 1, timezone: 'UTC' },
    ...{ max_concurrent: settings.max_concurrent, timeoutOf: () => 30 * MINUTE, costOf: () => null, ...more },
  })

  test('beats in order of time, for every schedule with a due agent', () => {
    const { beats, until, days } = simulateSchedules(
      inputOf(settingsOf(AGENTS), [entryOf('p', '*/30 13 * * *'), entryOf('no', '@hourly', { paused: true })]),
    )
    assert.deepEqual(
      beats
        .slice(0, 4)
        .map(({ at, schedule_id, agents }) => ({ at: (at - NOON) / MINUTE, schedule_id, agents: agents.join() })),
      [
        { at: 60, schedule_id: 'p', agents: 'a' },
        { at: 90, schedule_id: 'p', agents: 'a' },
        { at: 120, schedule_id: 'kernel:default', agents: 'a,b' },
        { at: 150, schedule_id: 'agent:own', agents: 'own' },
      ],
    )
    assert.equal(beats.length, 12 + 1 + 2)
    assert.equal(until, NOON + 24 * HOUR)
    assert.deepEqual(
      days.map(({ date, beats, dispatches }) => ({ date, beats, dispatches })),
      [
        { date: '2026-01-15', beats: 5 + 1 + 2, dispatches: 2 * 5 + 1 + 2 },
        { date: '2026-01-16', beats: 7, dispatches: 2 * 7 },
      ],
    )
  })

  test('days follow the zone, including days without a beat', () => {
    const settings = settingsOf([agentOf('a', '0 0 17 * *')])
    const { days } = simulateSchedules(inputOf(settings, [], { days: 3, timezone: 'Pacific/Kiritimati' }))
    assert.deepEqual(
      days.map(({ date, beats }) => `${date} ${beats}`),
      ['2026-01-16 0', '2026-01-17 1', '2026-01-18 0', '2026-01-19 0'],
    )
  })

  test('lowest and highest cost; agents with unknown cost are listed', () => {
    const costOf = (agent: string) => (agent === 'a' ? { usd_low: 0.25, usd_high: 1 } : null)
    const { usd_low, usd_high, days, unpriced } = simulateSchedules(inputOf(settingsOf(AGENTS), [], { costOf }))
    assert.deepEqual({ usd_low, usd_high, unpriced }, { usd_low: 3, usd_high: 12, unpriced: ['b', 'own'] })
    assert.deepEqual(
      days.map((day) => day.usd_high),
      [5, 7],
    )
  })

  test('conflicts: simultaneous beats, more than max_concurrent, beats closer than the timeout; one entry each', () => {
    const settings = settingsOf(AGENTS, { max_concurrent: 2 })
    const { conflicts } = simulateSchedules(inputOf(settings, [entryOf('p', '0,20 14 * * *')]))
    assert.deepEqual(conflicts, [
      { kind: 'together', schedules: ['kernel:default', 'p'], first: NOON + 2 * HOUR, times: 1 },
      {
        ...{ kind: 'crowded', schedules: ['kernel:default', 'p'], first: NOON + 2 * HOUR, times: 1 },
        ...{ due: 3, max_concurrent: 2 },
      },
      {
        ...{ kind: 'too_close', schedules: ['p'], first: NOON + 2 * HOUR + 20 * MINUTE, times: 1 },
        ...{ agent: 'a', interval_ms: 20 * MINUTE, timeout_ms: 30 * MINUTE },
      },
    ])
    const [frequent] = simulateSchedules(inputOf(settingsOf([agentOf('a')], { schedule: '*/10 * * * *' }))).conflicts
    assert.deepEqual({ kind: frequent?.kind, times: frequent?.times }, { kind: 'too_close', times: 143 })
    const endless = inputOf(settingsOf([agentOf('a')], { schedule: '*/10 * * * *' }), [], { timeoutOf: () => null })
    assert.deepEqual(simulateSchedules(endless).conflicts, [])
  })

  test('a simulation with too many beats stops and says where', () => {
    const { beats, until } = simulateSchedules(
      inputOf(settingsOf([agentOf('a')], { schedule: { every: 100 } }), [], { days: 366 }),
    )
    assert.equal(beats.length, 100_000)
    assert.equal(until, NOON + 100_001 * 100 - 1)
  })
})
