import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentResult, type CycleResult, statusOf, tallyOf } from '../domain/cycle.ts'
import type { DispatchStatus } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import type { FailureClass } from '../domain/stop.ts'
import { type News, newsOf, type Told } from './news.ts'

const HOUR = 3_600_000
const UNTOLD: Told = { target: 'somebody', matters: {} }

let made = 0

function agent(agent_id: string, status: DispatchStatus, failure_class: FailureClass | null = null): AgentResult {
  made += 1
  return {
    ...{ agent_id, dispatch_id: `d${made}`, session_id: 's', status, failure_class },
    ...{ summary: `words ${made}`, attempts: 1, recovered_from: null },
  }
}

const done = (id: string) => agent(id, 'done')
const failed = (id: string, why: FailureClass = 'provider') => agent(id, 'failed', why)
const waiting = (id: string) => agent(id, 'waiting')
const running = (id: string) => agent(id, 'running')

interface Happening {
  readonly agents?: readonly AgentResult[]
  readonly error?: string
  readonly notes?: readonly Note[]
  readonly alerts?: readonly Note[]
  /** After the one before. */
  readonly later?: number
}

const note = (about: string, text = about): Note => ({ about, text })

function resultOf({
  agents = [],
  error = null,
}: {
  agents?: readonly AgentResult[]
  error?: string | null
}): CycleResult {
  const tally = tallyOf(agents)
  return {
    ...{ cycle_id: 'c', status: statusOf(tally, error), dispatched: agents.length, ...tally },
    ...{ idle_reason: null, error, duration_ms: 0, agents },
  }
}

/** Of cycles, one after the other. */
function lived(happenings: readonly Happening[], from = UNTOLD): News[] {
  let told = from
  let now = 0
  return happenings.map(({ notes = [], alerts = [], later = 600_000, ...happening }) => {
    now += later
    const news = newsOf(told, { result: resultOf(happening), notes }, alerts, now)
    told = news.told
    return news
  })
}

const kinds = (happenings: readonly Happening[]): (string | null)[] => lived(happenings).map(({ kind }) => kind)

const failing = note('failing')

describe('what of a cycle is told at once', () => {
  const CASES: readonly (readonly [string, readonly Happening[], readonly (string | null)[]])[] = [
    ['E12: an idle success is not', [{}], [null]],
    ['E12: what was done is, every time', [{ agents: [done('a')] }, { agents: [done('a')] }], ['notice', 'notice']],
    ['E12: what is still at work is not: it is told when it is over', [{ agents: [running('a')] }], [null]],
    ['E12: a failure is, once', [{ agents: [failed('a')] }, { agents: [failed('a')] }, {}], ['notice', null, null]],
    [
      'E12: a failure of another kind is another matter; so is another agent’s',
      [
        { agents: [failed('a')] },
        { agents: [failed('a', 'timeout')] },
        { agents: [failed('a', 'timeout'), failed('b')] },
      ],
      ['notice', 'notice', 'notice'],
    ],
    [
      'E12: a failure after a success is news again',
      [{ agents: [failed('a')] }, { agents: [done('a')] }, { agents: [failed('a')] }],
      ['notice', 'notice', 'notice'],
    ],
    [
      'E12: cycles in which it does not appear do not end it',
      [{ agents: [failed('a')] }, {}, { agents: [done('b')] }, { agents: [failed('a')] }],
      ['notice', null, 'notice', null],
    ],
    [
      'E12: what waits for a person is another matter each time',
      [{ agents: [waiting('a')] }, { agents: [waiting('a')] }],
      ['notice', 'notice'],
    ],
    [
      'E12: an error of the cycle is, until it changes or is over; numbers alone are no change',
      [{ error: 'plan: 7 of 9' }, { error: 'plan: 8 of 9' }, { error: 'disk' }, {}, { error: 'disk' }],
      ['notice', null, 'notice', null, 'notice'],
    ],
    [
      'case 124, case 134: what is alarming is told once, as an alert, however long it lasts',
      [
        { agents: [failed('a')], alerts: [failing] },
        { agents: [failed('a')], alerts: [note('failing', 'the last 2 cycles failed')] },
        { alerts: [failing] },
      ],
      ['alert', null, null],
    ],
    [
      'case 124: another alarm is told',
      [
        { alerts: [failing] },
        { alerts: [failing, note('never succeeded')] },
        { alerts: [failing, note('never succeeded')] },
      ],
      ['alert', 'alert', null],
    ],
    [
      'E12: recovery is told, once',
      [{ alerts: [failing] }, {}, {}, { alerts: [failing] }],
      ['alert', 'notice', null, 'alert'],
    ],
    [
      'case 135: a note is told once, whatever its words, and again when it was not seen for a day and a half',
      [
        { notes: [note('motion', '3 times')] },
        { notes: [note('motion', '4 times')] },
        { later: 35 * HOUR, notes: [note('motion', '5 times')] },
        { later: 37 * HOUR, notes: [note('motion', '6 times')] },
      ],
      ['notice', null, null, 'notice'],
    ],
  ]
  for (const [name, happenings, expected] of CASES)
    test(name, () => {
      assert.deepEqual(kinds(happenings), expected)
    })

  test('E12: a message holds what is new: alarms, notes, that all is well again; a note on what is alarming is not said twice', () => {
    const [first, second, third] = lived([
      { alerts: [failing, note('provider x')], notes: [note('provider x', 'b stayed behind'), note('motion')] },
      { alerts: [failing, note('silent')], notes: [note('motion'), note('planner')] },
      { agents: [done('a')] },
    ])
    assert.deepEqual([first?.alerts, first?.notes], [[failing, note('provider x')], [note('motion')]])
    assert.deepEqual([second?.alerts, second?.notes], [[note('silent')], [note('planner')]])
    assert.deepEqual([first?.recovered, second?.recovered, third?.recovered], [false, false, true])
  })

  test('E12: that all is well again is told also after a long silence', () => {
    const [, after] = lived([{ alerts: [failing] }, { later: 100 * HOUR, agents: [done('a')] }])
    assert.equal(after?.recovered, true)
  })

  test('case 142: what is remembered is bounded by what was seen lately', () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ later: HOUR, notes: [note(`note ${i}`)] }))
    assert.ok(Object.keys(lived(many).at(-1)?.told.matters ?? {}).length <= 36)
  })
})
