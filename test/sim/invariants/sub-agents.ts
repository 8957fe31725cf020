/**
 * Sub-agents. The result of a sub-agent reaches the session of its parent exactly once, in the commit that ends it. No
 * sub-agent is left active once its parent has ended. A parent that waits holds no slot: its sub-agents can work.
 */

import { type DispatchStatus, isTerminal } from '../../../src/domain/dispatch.ts'
import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import { AGENT_RESULT, readAgentResult } from '../../../src/domain/sub-agent.ts'
import { hasSubAgents } from '../sub-agent-plan.ts'
import type { World } from '../world.ts'
import { FamilyMoney } from './family-money.ts'
import type { SessionState } from './session.ts'

/** A sub-agent as the store has it. */
export interface ChildRow {
  readonly run: string
  readonly status: DispatchStatus
  readonly cancel: string | null
  readonly attempts: number
  readonly token: number
  readonly workspace: string
  readonly depth: number
  readonly parent: string
  readonly parent_status: DispatchStatus
  readonly parent_session: number
}

const CHILDREN = `SELECT d.dispatch_id AS run, d.status, d.cancel, d.attempts, d.token, s.workspace,
    json_extract(d.metadata, '$.spawned_by.depth') AS depth,
    p.dispatch_id AS parent, p.status AS parent_status, p.session AS parent_session
  FROM dispatches d JOIN sessions s ON s.n = d.session JOIN dispatches p ON p.n = d.parent
  WHERE json_type(d.metadata, '$.spawned_by') = 'object' ORDER BY d.n`

export class SubAgents {
  readonly #world: World
  readonly #money: FamilyMoney
  /** Also those whose parents retention has deleted. */
  readonly #children = new Map<string, ChildRow>()
  /** The token of a sub-agent when its parent ended: nothing may work under a later one. */
  readonly #tokenAtEnd = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
    this.#money = new FamilyMoney(world, this.#children)
  }

  isChild(run: string): boolean {
    return this.#children.has(run)
  }

  workspaceOf(run: string): string {
    return this.#children.get(run)?.workspace ?? ''
  }

  /** How far below a task the run is, and how many of its sub-agents have no result yet. */
  standing(run = ''): { readonly depth: number; readonly open: number } {
    return { depth: this.#children.get(run)?.depth ?? 0, open: this.#money.openOf(run) }
  }

  /** Contract: called with every record, after the session has taken it over. */
  onRecord(session: SessionState, record: JournalRecord): void {
    if (!hasSubAgents(this.#world.plan.seed)) return
    if (record.kind === 'step_committed' && record.next.kind === 'continue' && record.next.agents)
      this.#world.counters.add('end refused: sub-agents are open')
    this.#money.onRecord(session.run ?? '', record)
  }

  /** Contract: called when the provider charges a run. */
  onCharge(run: string | undefined, micros: number): void {
    if (run === undefined || !hasSubAgents(this.#world.plan.seed)) return
    this.#money.onCharge(run, micros)
    const before = this.#tokenAtEnd.get(run)
    const child = this.#children.get(run)
    if (before !== undefined && child && child.token > before && child.status === 'running')
      this.#world.fail(
        'sub-agent active',
        `${run} was claimed after its parent ${child.parent} ended, and calls a model`,
      )
  }

  /** Contract: called with every applied group of commits. */
  onCommit(): void {
    const { plan, db } = this.#world
    if (!hasSubAgents(plan.seed)) return
    const rows = db.prepare(CHILDREN).all() as unknown as ChildRow[]
    if (rows.length === 0) return
    const results = this.#countResults()
    for (const row of rows) {
      this.#countBranches(this.#children.get(row.run), row)
      this.#children.set(row.run, row)
      this.#checkResult(row, results.get(`${row.parent_session} ${row.run}`) ?? 0)
      if (isTerminal(row.parent_status)) this.#checkInactive(row)
    }
  }

  /** Contract: called when nothing can be delivered, and a process has a free slot. */
  checkNoSlotHeld(): void {
    for (const { run, status, parent, parent_status } of this.#children.values())
      if (status === 'pending' && parent_status === 'waiting')
        this.#world.fail(
          'waiting parent',
          `${run} is not started, because ${parent} holds a slot while it waits for it`,
        )
  }

  #countResults(): ReadonlyMap<string, number> {
    const results = new Map<string, number>()
    for (const { session, observation } of this.#world.mirror.inbox.values()) {
      if (observation.type !== 'system_event' || observation.name !== AGENT_RESULT) continue
      const key = `${session} ${readAgentResult(observation)?.run}`
      results.set(key, (results.get(key) ?? 0) + 1)
    }
    return results
  }

  #checkResult({ run, status, parent }: ChildRow, delivered: number): void {
    const due = isTerminal(status) ? 1 : 0
    if (delivered !== due)
      this.#world.fail('result once', `${run} is ${status}, and ${parent} got its result ${delivered} times`)
  }

  #checkInactive({ run, status, cancel, token, parent, parent_status }: ChildRow): void {
    if (isTerminal(status)) return
    if (!this.#tokenAtEnd.has(run)) this.#tokenAtEnd.set(run, token)
    if (cancel === null || status === 'waiting')
      this.#world.fail('sub-agent active', `${run} is ${status} and not cancelled; ${parent} is ${parent_status}`)
  }

  #countBranches(was: ChildRow | undefined, { status, parent_status }: ChildRow): void {
    const { counters } = this.#world
    if (!was) counters.add('sub-agent started')
    if (was?.status === status) return
    if (status === 'running' && parent_status === 'waiting') counters.add('sub-agent works while its parent waits')
    if (!isTerminal(status)) return
    counters.add(`sub-agent ended: ${status as 'done' | 'failed' | 'cancelled' | 'dead'}`)
    if (isTerminal(parent_status)) counters.add('result of a sub-agent came late')
  }
}

/** A parent that has ended need not read the results of its sub-agents. */
export const isAgentResult = (id: string): boolean => id.startsWith('agent-result-')
