/** Names the branches that a commit took. Must run before the mirror reads the changed rows. */

import type { Decision } from '../../src/domain/decision.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Batch, BatchOutcome, Op, OpResults } from '../../src/ports/store.ts'
import type { Branch } from './branch-counters.ts'
import type { StoreMirror } from './invariants/store-mirror.ts'

export function branchesOf(mirror: StoreMirror, batch: Batch, outcome: BatchOutcome | undefined): readonly Branch[] {
  if (outcome?.ok) return batch.ops.flatMap((op, i) => branchesOfOp(mirror, op, outcome.results[i]))
  const has = (wanted: Op['op']): boolean => batch.ops.some(({ op }) => op === wanted)
  if (has('resolve')) return ['resolution refused (already resolved)']
  if (has('answer')) return ['approval answer refused (already answered)']
  if (outcome?.code !== 'store_fenced') return []
  return [has('claim') ? 'claim of an ended epoch refused' : 'fenced write refused']
}

function branchesOfOp(mirror: StoreMirror, op: Op, result: unknown): readonly Branch[] {
  switch (op.op) {
    case 'recover': {
      const { recovered, dead } = result as OpResults['recover']
      return [
        ...recovered.map((): Branch => 'dispatch recovered as pending'),
        ...dead.map((): Branch => 'dispatch recovered as dead (poison)'),
      ]
    }
    case 'release':
      return ['dispatch released by a drain']
    case 'park':
      return branchesOfPark(op, (result as OpResults['park']).parked)
    case 'settle':
      return (result as OpResults['settle']).successor === null ? [] : ['successor after a run']
    case 'enqueue':
      return (result as OpResults['enqueue'])[0]?.duplicate ? ['task enqueued twice'] : []
    case 'publish':
      return branchesOfPublish(mirror, op, result as OpResults['publish'])
    case 'unknown':
      return [
        op.unknown.status === 'open' ? 'owner asked about an unknown outcome' : 'model told of an unknown outcome',
      ]
    case 'resolve': {
      const waits = [...mirror.dispatches.values()].map(({ wait }) => wait)
      const waiting = waits.some((wait) => wait?.kind === 'unknown' && wait.unknown_id === op.unknown_id)
      return [`owner resolved: ${op.as}`, ...(waiting ? (['woken by a resolution'] as const) : [])]
    }
    case 'promote':
      return [...mirror.dispatches.values()].flatMap(({ wait, due }) =>
        wait && wait.kind !== 'unknown' && due !== null && due <= op.now ? [WOKEN[wait.kind]] : [],
      )
    case 'reserve':
      return [(result as OpResults['reserve']).refused ? 'reservation refused' : 'money reserved']
    case 'unspent':
      return ['reservation released']
    case 'answer':
      return [`approval ${op.answer}`]
    case 'append':
      return op.records.flatMap(branchesOfRecord)
    default:
      return []
  }
}

const WOKEN = {
  retry: 'woken for a retry',
  start: 'woken to start',
  observation: 'woken by its deadline',
} as const satisfies Record<string, Branch>

function branchesOfPark({ wait }: Extract<Op, { op: 'park' }>, parked: boolean): readonly Branch[] {
  switch (wait.kind) {
    case 'retry':
      return ['parked for a retry']
    case 'observation':
      return [parked ? 'parked for an observation' : 'not parked: unread input']
    case 'unknown':
      return [parked ? 'parked for a resolution' : 'not parked: already resolved']
    default:
      return []
  }
}

function branchesOfPublish(
  mirror: StoreMirror,
  op: Extract<Op, { op: 'publish' }>,
  result: OpResults['publish'],
): readonly Branch[] {
  const { duplicate, dispatch_id } = result
  if (duplicate) return ['message sent twice']
  const resolution: readonly Branch[] = op.observation.id.startsWith('resolved-')
    ? ['resolution sent to a model that saw the unknown outcome']
    : []
  if (dispatch_id === op.successor_id) return [...resolution, 'successor for an idle session']
  const asleep = mirror.dispatches.get(dispatch_id ?? '')?.status === 'waiting'
  return asleep ? [...resolution, 'woken by an observation'] : resolution
}

function branchesOfRecord(record: JournalRecord): readonly Branch[] {
  switch (record.kind) {
    case 'input_bound':
      return record.input.some((one) => one.type === 'system_event' && one.name === 'inbox_overflow')
        ? ['input left for the next step']
        : []
    case 'decided':
      return branchesOfDecision(record.decision)
    case 'call_intended':
      return record.attempt > 1 ? ['second attempt after a resolution'] : []
    case 'call_settled':
      return branchesOfResult(record.result)
    case 'step_committed':
      if (record.next.kind === 'park')
        return record.next.feedback === undefined ? [] : ['parked before another attempt']
      return record.next.kind === 'continue' && record.next.retry ? ['critic asked for a retry'] : []
    case 'failed':
      if (record.code === 'budget_busy') return ['reservation waited for']
      return record.code.startsWith('decision_') ? ['unusable answer'] : []
    case 'run_ended':
      return [branchOfEnd(record)]
    default:
      return []
  }
}

function branchesOfDecision(decision: Decision): readonly Branch[] {
  const allowed = decision.kind === 'act' ? decision.calls.filter(({ approval }) => approval !== undefined) : []
  if (allowed.length === 0) return ['decision of the behaviour without the model']
  return allowed.flatMap(({ fault }) => (fault === undefined ? ['approved call run'] : []))
}

function branchesOfResult({
  status,
  content,
}: {
  readonly status: string
  readonly content: string
}): readonly Branch[] {
  if (status === 'interrupted') return ['call interrupted']
  if (status === 'parked') return ['call parked for approval']
  if (content.includes('"parked":true')) return ['call already awaits approval']
  if (content.includes('another call of this step needs approval')) return ['call held back beside a parked one']
  if (content === 'The run was interrupted before this call started.') return ['call not started: stopping']
  if (content.includes('The tool is no longer available')) return ['call refused: tool withdrawn']
  return content.includes('it broke') ? ['tool threw'] : []
}

function branchOfEnd({ stop_reason, failure_class, error }: Extract<JournalRecord, { kind: 'run_ended' }>): Branch {
  if (error?.includes('without a record in its journal')) return 'earlier run closed by a later one'
  if (stop_reason === 'final') return 'run ended: final'
  if (stop_reason === 'budget_steps') return 'run ended: budget'
  if (stop_reason === 'critic_stop') return 'run ended: critic'
  if (stop_reason === 'budget_money') return 'run ended: money'
  if (failure_class === 'provider') return 'run ended: provider'
  return failure_class === 'invalid_result' ? 'run ended: unusable answers' : 'run ended: error'
}
