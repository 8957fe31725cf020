/** What a task waits for, as a program sees it: also what its sub-agents wait for, if nothing else goes on. */

import type { App } from '../app.ts'
import type { Approval } from '../domain/approval.ts'
import { type Dispatch, isTerminal } from '../domain/dispatch.ts'
import { AGENT_RESULT } from '../domain/sub-agent.ts'
import type { Wait } from '../domain/wait.ts'

export interface TaskWait {
  /**
   * `approval`, `question`, `event`, `message`, `unknown` (a call whose outcome a person has to find out), `behaviour`
   * (one that this program lacks) and `paused` end by an answer from outside; `timer` and `agents` end by themselves.
   */
  readonly kind: 'approval' | 'question' | 'event' | 'message' | 'unknown' | 'behaviour' | 'paused' | 'timer' | 'agents'
  /** The question, the name of the event, or what else is waited for. */
  readonly reason: string
  /** When the task goes on without an answer, in epoch milliseconds; null: never. */
  readonly until: number | null
  /** The calls that wait for approval. */
  readonly approvals: readonly Approval[]
  /** The task that waits: this one, or one of its sub-agents. */
  readonly task_id: string
  readonly session_id: string
}

type Store = App['context']['store']
type ObservationWait = Extract<Wait, { kind: 'observation' }>

const MAX_APPROVALS = 100
/** A wait without a deadline of its own gets one a day later. One that ends sooner was meant as a timer. */
const TIMER_MS = 23 * 3_600_000

const ENDS_BY_ITSELF: readonly TaskWait['kind'][] = ['timer', 'agents']

/** Whether the task goes on without anybody else. */
export const endsByItself = ({ kind }: TaskWait): boolean => ENDS_BY_ITSELF.includes(kind)

/** Contract: what the task waits for; undefined if it works, is queued or has ended. */
export async function readTaskWait(store: Store, dispatch: Dispatch): Promise<TaskWait | undefined> {
  const { status, paused, wait, dispatch_id: task_id, session_id } = dispatch
  const base = { approvals: [], task_id, session_id }
  if (paused && !isTerminal(status) && status !== 'running')
    return { ...base, kind: 'paused', reason: 'paused; to resume it: tireless queue resume', until: null }
  if (status !== 'waiting' || wait === null) return undefined
  const { reason, until } = wait
  if (wait.kind === 'retry' && wait.behaviour !== undefined) return { ...base, kind: 'behaviour', reason, until }
  if (wait.kind === 'start' || wait.kind === 'retry') return { ...base, kind: 'timer', reason, until }
  if (wait.kind === 'unknown') return { ...base, kind: 'unknown', reason, until }
  const approvals = await readApprovals(store, dispatch)
  if (approvals.length > 0) return { ...base, kind: 'approval', reason, until, approvals }
  return (await readAgentsWait(store, dispatch, wait)) ?? { ...base, ...describeObservationWait(dispatch, wait) }
}

/** The open approvals of one task. */
async function readApprovals(store: Store, { session_id, dispatch_id }: Dispatch): Promise<readonly Approval[]> {
  const open = await store.approvals({ session_id, status: 'open', limit: MAX_APPROVALS })
  return open.filter(({ origin }) => origin.run_id === dispatch_id)
}

/** A task whose sub-agents all wait for an answer waits for the same. */
async function readAgentsWait(store: Store, dispatch: Dispatch, wait: ObservationWait): Promise<TaskWait | undefined> {
  if (wait.match !== 'any' && wait.match !== `event:${AGENT_RESULT}`) return undefined
  const { dispatch_id: task_id, session_id } = dispatch
  const open = (await store.childrenOf(task_id)).filter(({ status }) => !isTerminal(status))
  if (open.length === 0) return undefined
  const waits = await Promise.all(open.map((child) => readTaskWait(store, child)))
  const stuck = waits.filter((child) => child !== undefined && !endsByItself(child))
  if (stuck.length === open.length) return stuck[0]
  return { kind: 'agents', reason: wait.reason, until: wait.until, approvals: [], task_id, session_id }
}

function describeObservationWait(
  { updated_at }: Dispatch,
  { match, reason, until }: ObservationWait,
): Pick<TaskWait, 'kind' | 'reason' | 'until'> {
  if (match === 'user_message') return { kind: 'question', reason, until }
  if (match.startsWith('event:')) return { kind: 'event', reason: match.slice('event:'.length), until }
  const isTimer = match === 'any' && until < Date.parse(updated_at) + TIMER_MS
  return { kind: isTimer ? 'timer' : 'message', reason, until }
}

/** The open approvals of a task and its sub-agents. */
export async function readAllApprovals(store: Store, dispatch: Dispatch): Promise<readonly Approval[]> {
  const children = (await store.childrenOf(dispatch.dispatch_id)).filter(({ status }) => !isTerminal(status))
  const all = [readApprovals(store, dispatch), ...children.map((child) => readAllApprovals(store, child))]
  return (await Promise.all(all)).flat()
}
