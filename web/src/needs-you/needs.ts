/** What needs the owner: approvals, unknown outcomes, questions, and failures, which can be put aside. */

import type { Approval, Dispatch, Unknown } from '../api-types.ts'
import type { PageView } from '../page-state.ts'

export type Need =
  | { readonly kind: 'approval'; readonly id: string; readonly approval: Approval }
  | { readonly kind: 'unknown'; readonly id: string; readonly unknown: Unknown }
  | { readonly kind: 'question'; readonly id: string; readonly dispatch: Dispatch }
  /** `count`: how often this agent failed at this task lately. */
  | { readonly kind: 'failure'; readonly id: string; readonly dispatch: Dispatch; readonly count: number }

/** Older failures are history, which the place Runs shows. */
const FAILURE_AGE_MS = 3 * 86_400_000

/** Contract: what is most urgent first. */
export function listNeeds(view: PageView, now: number): readonly Need[] {
  const asking = new Set(view.approvals.map(({ session_id }) => session_id))
  return [
    ...view.approvals.map((approval): Need => ({ kind: 'approval', id: approval.id, approval })),
    ...view.unknowns.map((unknown): Need => ({ kind: 'unknown', id: unknown.id, unknown })),
    ...view.waiting
      .filter((dispatch) => isQuestion(dispatch) && !asking.has(dispatch.session_id))
      .map((dispatch): Need => ({ kind: 'question', id: dispatch.dispatch_id, dispatch })),
    ...listFailures(view.failures, now),
  ]
}

const isQuestion = ({ wait }: Dispatch): boolean => wait?.kind === 'observation' && wait.match === 'user_message'

/** The failures of one agent at one task are one thing to look at. */
function listFailures(failures: readonly Dispatch[], now: number): readonly Need[] {
  const recent = failures.filter(
    ({ updated_at, dismissed }) => now - Date.parse(updated_at) < FAILURE_AGE_MS && !dismissed,
  )
  const groups = Map.groupBy(recent, ({ agent_id, title }) => `${agent_id}\n${title}`)
  return [...groups.values()].flatMap((group) => {
    const [newest] = group.toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at))
    return newest ? [{ kind: 'failure', id: newest.dispatch_id, dispatch: newest, count: group.length } as const] : []
  })
}

/** Contract: how many things need the owner; the status counts also what the lists do not contain. */
export function countNeeds(view: PageView): number {
  const { approvals = 0, questions = 0, unknowns = 0 } = view.status ?? {}
  return approvals + questions + unknowns + listFailures(view.failures, Date.now() + view.skew).length
}
