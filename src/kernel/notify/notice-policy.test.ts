import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentResult, type CycleResult, cycleStatusOf, tallyResults } from '../../domain/cycle.ts'
import type { DispatchStatus } from '../../domain/dispatch.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import type { FailureClass } from '../../domain/stop-reason.ts'
import { type CycleNews, type ReportedIssues, selectNews } from './notice-policy.ts'

const HOUR = 3_600_000
const NOTHING_REPORTED: ReportedIssues = { target: 'owner', matters: {} }

let count = 0

function agent(agent_id: string, status: DispatchStatus, failure_class: FailureClass | null = null): AgentResult {
  count += 1
  return {
    ...{ agent_id, dispatch_id: `d${count}`, session_id: 's', status, failure_class },
    ...{ summary: `summary ${count}`, attempts: 1, recovered_from: null },
  }
}

const done = (id: string) => agent(id, 'done')
const failed = (id: string, why: FailureClass = 'provider') => agent(id, 'failed', why)
const waiting = (id: string) => agent(id, 'waiting')
const running = (id: string) => agent(id, 'running')

interface CycleInput {
  readonly agents?: readonly AgentResult[]
  readonly error?: string
  readonly notes?: readonly OwnerNote[]
  readonly alerts?: readonly OwnerNote[]
  /** Milliseconds after the cycle before. */
  readonly later?: number
}

const note = (about: string, text = about): OwnerNote => ({ about, text })

function cycleResult({
  agents = [],
  error = null,
}: {
  agents?: readonly AgentResult[]
  error?: string | null
}): CycleResult {
  const tally = tallyResults(agents)
  return {
    ...{ cycle_id: 'c', status: cycleStatusOf(tally, error), dispatched: agents.length, ...tally },
    ...{ idle_reason: null, error, duration_ms: 0, agents },
  }
}

/** The news of consecutive cycles. */
function newsOfCycles(cycles: readonly CycleInput[], from = NOTHING_REPORTED): CycleNews[] {
  let told = from
  let now = 0
  return cycles.map(({ notes = [], alerts = [], later = 600_000, ...cycle }) => {
    now += later
    const news = selectNews(told, { result: cycleResult(cycle), notes }, alerts, now)
    told = news.told
    return news
  })
}

const kindsOf = (cycles: readonly CycleInput[]): (string | null)[] => newsOfCycles(cycles).map(({ kind }) => kind)

const failing = note('failing')

describe('what is reported after a cycle', () => {
  const CASES: readonly (readonly [string, readonly CycleInput[], readonly (string | null)[]])[] = [
    ['E12: an idle success is not reported', [{}], [null]],
    [
      'E12: completed work is reported every time',
      [{ agents: [done('a')] }, { agents: [done('a')] }],
      ['notice', 'notice'],
    ],
    ['E12: a running dispatch is not reported', [{ agents: [running('a')] }], [null]],
    [
      'E12: a repeated failure is reported once',
      [{ agents: [failed('a')] }, { agents: [failed('a')] }, {}],
      ['notice', null, null],
    ],
    [
      'E12: a failure of another class or agent is reported again',
      [
        { agents: [failed('a')] },
        { agents: [failed('a', 'timeout')] },
        { agents: [failed('a', 'timeout'), failed('b')] },
      ],
      ['notice', 'notice', 'notice'],
    ],
    [
      'E12: a failure after a success is reported again',
      [{ agents: [failed('a')] }, { agents: [done('a')] }, { agents: [failed('a')] }],
      ['notice', 'notice', 'notice'],
    ],
    [
      'E12: cycles without the agent do not end its issue',
      [{ agents: [failed('a')] }, {}, { agents: [done('b')] }, { agents: [failed('a')] }],
      ['notice', null, 'notice', null],
    ],
    [
      'E12: every dispatch that waits for a person is reported',
      [{ agents: [waiting('a')] }, { agents: [waiting('a')] }],
      ['notice', 'notice'],
    ],
    [
      'E12: an error of the cycle is reported until it changes or ends; numbers are ignored',
      [{ error: 'plan: 7 of 9' }, { error: 'plan: 8 of 9' }, { error: 'disk' }, {}, { error: 'disk' }],
      ['notice', null, 'notice', null, 'notice'],
    ],
    [
      'case 124, case 134: an alert is reported once, however long it lasts',
      [
        { agents: [failed('a')], alerts: [failing] },
        { agents: [failed('a')], alerts: [note('failing', 'the last 2 cycles failed')] },
        { alerts: [failing] },
      ],
      ['alert', null, null],
    ],
    [
      'case 124: a second alert is reported',
      [
        { alerts: [failing] },
        { alerts: [failing, note('never succeeded')] },
        { alerts: [failing, note('never succeeded')] },
      ],
      ['alert', 'alert', null],
    ],
    [
      'E12: a recovery is reported once',
      [{ alerts: [failing] }, {}, {}, { alerts: [failing] }],
      ['alert', 'notice', null, 'alert'],
    ],
    [
      'case 135: a note is reported once, whatever its text, and again after 36 hours of absence',
      [
        { notes: [note('motion', '3 times')] },
        { notes: [note('motion', '4 times')] },
        { later: 35 * HOUR, notes: [note('motion', '5 times')] },
        { later: 37 * HOUR, notes: [note('motion', '6 times')] },
      ],
      ['notice', null, null, 'notice'],
    ],
  ]
  for (const [name, cycles, expected] of CASES)
    test(name, () => {
      assert.deepEqual(kindsOf(cycles), expected)
    })

  test('E12: a message has the new alerts and notes and the recovery; a note that is also an alert is left out', () => {
    const [first, second, third] = newsOfCycles([
      { alerts: [failing, note('provider x')], notes: [note('provider x', 'b was not dispatched'), note('motion')] },
      { alerts: [failing, note('silent')], notes: [note('motion'), note('planner')] },
      { agents: [done('a')] },
    ])
    assert.deepEqual(
      { alerts: first?.alerts, notes: first?.notes },
      { alerts: [failing, note('provider x')], notes: [note('motion')] },
    )
    assert.deepEqual(
      { alerts: second?.alerts, notes: second?.notes },
      { alerts: [note('silent')], notes: [note('planner')] },
    )
    assert.deepEqual(
      { firstRecovered: first?.recovered, secondRecovered: second?.recovered, thirdRecovered: third?.recovered },
      { firstRecovered: false, secondRecovered: false, thirdRecovered: true },
    )
  })

  test('E12: a recovery is reported also after a long silence', () => {
    const [, after] = newsOfCycles([{ alerts: [failing] }, { later: 100 * HOUR, agents: [done('a')] }])
    assert.equal(after?.recovered, true)
  })

  test('case 142: the stored issues are limited to recent ones', () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ later: HOUR, notes: [note(`note ${i}`)] }))
    assert.ok(Object.keys(newsOfCycles(many).at(-1)?.told.matters ?? {}).length <= 36)
  })
})
