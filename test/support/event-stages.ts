/** Events of given records, and the stages of each phase. */

import assert from 'node:assert/strict'
import type { Event } from '../../src/domain/event.ts'
import { eventsFromRecords } from '../../src/domain/event-fold.ts'
import type { FailingPhase, RecordBody, RetryRuling } from '../../src/domain/journal-record.ts'
import { buildJournal, RUN } from './journals.ts'

export const eventsFrom = (...bodies: readonly RecordBody[]): readonly Event[] =>
  eventsFromRecords(RUN, buildJournal(...bodies))

export const stageNames = (events: readonly Event[]): string[] => events.map(({ phase, stage }) => `${phase} ${stage}`)

export const findEvent = (events: readonly Event[], phase: string, stage: string): Event => {
  const event = events.find((each) => each.phase === phase && each.stage === stage)
  assert.ok(event, `${phase} ${stage} among ${stageNames(events).join(', ')}`)
  return event
}

export const failed = (turn: number, phase: FailingPhase, ruling: RetryRuling = { kind: 'feedback' }): RecordBody => ({
  kind: 'failed',
  turn,
  phase,
  code: 'internal',
  message: `${phase} broke`,
  ruling,
})

const OBSERVED = ['OBSERVE start', 'OBSERVE observation_ready']

const ASKED = ['DECIDE start', 'DECIDE model_input', 'DECIDE model_output']

export const DECIDED = [...OBSERVED, ...ASKED, 'DECIDE decision_ready']

export const ACTED = [...DECIDED, 'ACT start', 'ACT action_results']

export const REDUCED = ['REDUCE start', 'REDUCE state_reduced']

export const GOES_ON = ['CHECK_STOP start', 'CHECK_STOP continue']

export const STOPS = ['CHECK_STOP start', 'CHECK_STOP stop']
