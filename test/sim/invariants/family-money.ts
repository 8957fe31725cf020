/**
 * Money of runs with sub-agents, counted from the journals and the provider's bill. What a run and its sub-agents have
 * spent together never exceeds the limit of the run (I11). What a sub-agent did not spend can be used by its parent
 * again: a run is refused an answer or a sub-agent only if too little is left by this count.
 */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import { isFreeOfCharge, MICROS_PER_USD } from '../../../src/domain/money.ts'
import { readAgentResult, readSpawned } from '../../../src/domain/sub-agent.ts'
import type { World } from '../world.ts'
import type { ChildRow } from './sub-agents.ts'

/** Amounts in millionths of a dollar. */
interface Account {
  /** For answers, and for requests of which nobody knows what they cost. */
  spent: number
  /** For the request without an answer. */
  reserved: number
  /** The highest reservation of a request. */
  highest: number
  /** Sub-agents whose results were not read, with what they may spend. */
  readonly open: Map<string, number>
  /** What sub-agents have cost whose results were read. */
  returned: number
  /** What the provider has charged. */
  charged: number
}

/** By how much the program expects its next request to be longer, at the price of the simulated model. */
const GROWTH = 16_000
/** Sums of dollars are not exact. */
const ROUNDING = 5

export class FamilyMoney {
  readonly #world: World
  readonly #children: ReadonlyMap<string, ChildRow>
  readonly #accounts = new Map<string, Account>()
  readonly #limits = new Map<string, number | undefined>()

  constructor(world: World, children: ReadonlyMap<string, ChildRow>) {
    this.#world = world
    this.#children = children
  }

  openOf(run: string): number {
    return this.#accounts.get(run)?.open.size ?? 0
  }

  onCharge(run: string, micros: number): void {
    for (let at: string | undefined = run; at !== undefined; at = this.#children.get(at)?.parent) {
      const account = this.#accountOf(at)
      account.charged += micros
      const limit = this.#limitOf(at)
      if (limit !== undefined && account.charged > limit + ROUNDING)
        this.#world.fail(
          'family budget',
          `${at} and its sub-agents were charged ${account.charged}, and its limit is ${limit}`,
        )
    }
  }

  onRecord(run: string, record: JournalRecord): void {
    if (record.kind === 'run_ended') this.#checkEnd(record)
    const account = this.#accountOf(run)
    if (record.kind === 'input_bound')
      for (const observation of record.input) this.#takeBack(account, readAgentResult(observation)?.run)
    if (record.kind === 'model_requested') {
      account.reserved = Math.round((record.reserved ?? 0) * MICROS_PER_USD)
      account.spent += account.reserved
      account.highest = Math.max(account.highest, account.reserved)
    }
    if (record.kind === 'model_answered') {
      account.spent += Math.round((record.usd ?? 0) * MICROS_PER_USD) - account.reserved
      account.reserved = 0
    }
    if (record.kind === 'failed') this.#onFailure(run, account, record)
    if (record.kind === 'call_settled') this.#onCall(run, account, record)
  }

  #onFailure(run: string, account: Account, { code, phase, message }: RecordOf<'failed'>): void {
    const [, needed] = /too low for another answer\b.* up to (\S+) USD for this answer/s.exec(message) ?? []
    // A run that is refused an answer has sent nothing: the open request is one that a crash left, and was charged.
    const isUncharged = needed === undefined && (isFreeOfCharge(code) || code.startsWith('budget_'))
    if (phase === 'DECIDE' && isUncharged) account.spent -= account.reserved
    if (phase === 'DECIDE') account.reserved = 0
    if (needed !== undefined) this.#checkRefused(run, Math.round(Number(needed) * MICROS_PER_USD), 'another answer')
  }

  #onCall(run: string, account: Account, { result }: RecordOf<'call_settled'>): void {
    if (result.content.includes('too low for a sub-agent')) {
      this.#world.counters.add('sub-agent not started')
      this.#checkRefused(run, account.highest + GROWTH, 'a sub-agent')
    }
    const spawned = result.status === 'ok' ? readSpawned(result.facts) : undefined
    if (spawned) account.open.set(spawned.run, Math.round((spawned.usd ?? 0) * MICROS_PER_USD))
  }

  /** A run ends for lack of money only if its limit is used up. */
  #checkEnd({ run_id, error }: RecordOf<'run_ended'>): void {
    if (error?.startsWith('the run spent ') && error.includes('; its limit is '))
      this.#checkRefused(run_id, 1, 'a step')
  }

  #checkRefused(run: string, needed: number, what: string): void {
    const limit = this.#limitOf(run)
    const committed = committedOf(this.#accountOf(run))
    if (limit !== undefined && committed + needed + ROUNDING < limit)
      this.#world.fail(
        'money comes back',
        `${run} has no money for ${what} (${needed}); it and its sub-agents used ${committed} of ${limit}`,
      )
  }

  #takeBack(account: Account, run: string | undefined): void {
    const reserved = run === undefined ? undefined : account.open.get(run)
    if (run === undefined || reserved === undefined) return
    this.#world.counters.add('result of a sub-agent read')
    account.open.delete(run)
    const cost = this.#costOf(run, reserved)
    if (cost < reserved) this.#world.counters.add('money of a sub-agent came back')
    account.returned += cost
  }

  /** Nobody knows what a run has cost that was set aside. */
  #costOf(run: string, reserved: number): number {
    return this.#children.get(run)?.status === 'dead' ? reserved : committedOf(this.#accountOf(run))
  }

  #accountOf(run: string): Account {
    const known = this.#accounts.get(run)
    if (known) return known
    const fresh: Account = { ...{ spent: 0, reserved: 0, highest: 0, returned: 0, charged: 0 }, open: new Map() }
    this.#accounts.set(run, fresh)
    return fresh
  }

  #limitOf(run: string): number | undefined {
    if (this.#limits.has(run)) return this.#limits.get(run)
    const usd = this.#world.db
      .prepare("SELECT json_extract(metadata, '$.budget.usd') AS usd FROM dispatches WHERE dispatch_id = ?")
      .get(run)?.usd
    const limit = typeof usd === 'number' ? Math.round(usd * MICROS_PER_USD) : this.#world.plan.runLimit
    this.#limits.set(run, limit)
    return limit
  }
}

type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

const committedOf = ({ spent, returned, open }: Account): number =>
  spent + returned + [...open.values()].reduce((sum, usd) => sum + usd, 0)
