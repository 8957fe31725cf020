/** The store of a replay: one session's journal in memory, and an inbox with the recorded input. */

import type { Dispatch } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import { unknownIdOf } from '../../domain/unknown-outcome.ts'
import { iso } from '../../ports/clock.ts'
import type { Op, Store } from '../../ports/store.ts'
import type { ReplayTape } from './replay-tape.ts'

export function createReplayStore(dispatch: Dispatch, tape: ReplayTape): Store {
  const { session_id, agent_id } = dispatch
  return {
    ...unavailableOperations(),
    async commit(batches) {
      const results = batches.map(({ ops }) => ({ ok: true as const, results: ops.map(resultOf) }))
      tape.markCommitted()
      return results
    },
    journal: async () => [...tape.past, ...tape.committedRecords()],
    session: async () => ({ session_id, agent_id, workspace: '/', status: 'active', created_at: iso(0) }),
    inbox: async () => tape.input(dispatch.dispatch_id),
    /** If a recorded call ran again, a person had resolved its first attempt as `not` executed. */
    unknowns: async () =>
      tape.repeatedCalls().map((intended) => ({
        id: unknownIdOf(session_id, { ...intended, attempt: intended.attempt - 1 }),
        session_id,
        dispatch_id: dispatch.dispatch_id,
        tool: intended.call.tool,
        args: intended.call.args,
        reach: intended.effect.reach,
        started_at: iso(0),
        output_so_far: '',
        status: 'resolved',
        resolution: 'not',
      })),
    commits: () => 0,
    close: async () => {},
    selections: async () => [],
    label: async () => undefined,
    skipped: () => [],
  }
}

/** Operations that a replayed run does not use: its sources answer instead. */
const UNAVAILABLE = [
  'journalEnd',
  'journalAfter',
  'labels',
  'grants',
  'audit',
  'prunable',
  'unreadable',
  'setAside',
  'spend',
  'spendSums',
  'recent',
  'dispatchesOf',
  'childrenOf',
  'cycles',
  'countCycles',
  'setting',
  'approval',
  'approvals',
  'dispatch',
  'dispatches',
  'dispatchWindow',
  'dispatchesIn',
  'counts',
  'sessions',
  'sessionWindow',
  'workspaces',
  'sessionsIn',
  'schedules',
  'marks',
  'facts',
  'countFacts',
  'recallFacts',
  'document',
  'documentVersion',
  'documentVersions',
  'projection',
  'todos',
  'allTodos',
  'todoWindow',
  'todo',
  'todoReceipt',
  'todoReceipts',
  'undo',
  'undos',
  'unfinishedUndos',
  'need',
  'openNeed',
  'needs',
  'outbox',
  'dueMessages',
  'nextMessageDue',
  'deliveries',
  'leader',
  'workers',
  'homes',
  'nextTimer',
  'nextExpiry',
  'verify',
  'backup',
] as const satisfies readonly (keyof Store)[]

type UnavailableOperations = Pick<Store, (typeof UNAVAILABLE)[number]>

function unavailableOperations(): UnavailableOperations {
  const refuse = (): never => {
    throw new TirelessError('internal', 'this operation is not available in a replay')
  }
  return Object.fromEntries(UNAVAILABLE.map((name) => [name, refuse])) as unknown as UnavailableOperations
}

function resultOf(op: Op): unknown {
  if (op.op === 'append') return { head: op.records.at(-1)?.seq ?? 0 }
  if (op.op === 'reserve') return { refused: null }
  return op.op === 'park' ? { parked: true } : null
}
