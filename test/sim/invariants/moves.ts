/** Behaviours: a run of the assistant moves, and ends, only as the table in docs/behaviours.md allows. */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { World } from '../world.ts'
import type { SessionState } from './session.ts'

/** What may follow each behaviour. From any of Plan, Do, Check, Adjust the owner can force `router`. */
const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  resolve_router: [],
  router: ['plan'],
  plan: ['do', 'router'],
  do: ['check', 'adjust', 'do', 'router'],
  check: ['adjust', 'do', 'check', 'router'],
  adjust: ['do', 'router'],
}

export class Moves {
  readonly #world: World
  /** How often a run chose another behaviour. */
  count = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: called with every record, after the session has taken it over. */
  onRecord(session: SessionState, record: JournalRecord): void {
    const following = FOLLOWING[session.behaviour]
    if (!following) return
    if (record.kind === 'step_committed' && record.next.kind === 'become') {
      this.count += 1
      this.#world.counters.add('behaviour changed')
      if (!following.includes(record.next.behaviour)) this.#fail(session, `is followed by ${record.next.behaviour}`)
    }
    if (record.kind === 'run_ended' && record.stop_reason === 'final') this.#checkFinal(session)
  }

  /** A run that fails may end anywhere. */
  #checkFinal(session: SessionState): void {
    const open = this.#world.todos.of(session.session_id).filter(({ status }) => status !== 'DONE')
    const { behaviour } = session
    if (behaviour === 'do' || behaviour === 'adjust') this.#fail(session, 'ends the run with success')
    if ((behaviour === 'plan' || behaviour === 'check') && open.length > 0)
      this.#fail(session, `ends the run with success, and ${open.map(({ code }) => code).join(', ')} is not DONE`)
  }

  #fail({ session_id, behaviour, turns }: SessionState, message: string): void {
    this.#world.fail('behaviours', `${session_id} turn ${turns}: ${behaviour} ${message}`)
  }
}
