/**
 * What needs the owner. `needs list` says what there is; calls, questions and failures have cards of their own, with
 * what other lists know of them.
 */

import type { Approval, Dispatch, ListedNeed, Unknown } from '../api-types.ts'
import type { PageView } from '../page-state.ts'

export type Need =
  | { readonly kind: 'approval'; readonly id: string; readonly approval: Approval }
  | { readonly kind: 'unknown'; readonly id: string; readonly unknown: Unknown }
  | { readonly kind: 'question'; readonly id: string; readonly dispatch: Dispatch }
  /** `count`: how often this agent failed at this task lately. */
  | { readonly kind: 'failure'; readonly id: string; readonly dispatch: Dispatch; readonly count: number }
  | { readonly kind: 'other'; readonly id: string; readonly listed: ListedNeed }

/** Contract: what is most urgent first. */
export function listNeeds(view: PageView): readonly Need[] {
  const asking = new Set(view.approvals.map(({ session_id }) => session_id))
  const others = listOthers(view)
  return [
    ...view.approvals.map((approval): Need => ({ kind: 'approval', id: approval.id, approval })),
    ...view.unknowns.map((unknown): Need => ({ kind: 'unknown', id: unknown.id, unknown })),
    ...view.waiting
      .filter((dispatch) => isQuestion(dispatch) && !asking.has(dispatch.session_id))
      .map((dispatch): Need => ({ kind: 'question', id: dispatch.dispatch_id, dispatch })),
    ...others,
  ]
}

const isQuestion = ({ wait }: Dispatch): boolean => wait?.kind === 'observation' && wait.match === 'user_message'

/** The rows of these are read by their own lists, which are drawn as soon as they come. */
const OWN_LISTS: ReadonlySet<string> = new Set(['approval', 'unknown', 'question'])

function listOthers(view: PageView): readonly Need[] {
  return view.needs
    .filter(({ kind }) => !OWN_LISTS.has(kind))
    .flatMap((listed): Need[] => {
      const { id, kind, run_id } = listed
      const dispatch = kind === 'failure' ? view.failures.find((failed) => failed.dispatch_id === run_id) : undefined
      if (!dispatch || id !== `failure-${run_id}`) return [{ kind: 'other', id, listed }]
      // It was put aside since the list was read.
      if (dispatch.dismissed) return []
      const same = view.failures.filter(
        ({ agent_id, title, dismissed }) => agent_id === dispatch.agent_id && title === dispatch.title && !dismissed,
      )
      return [{ kind: 'failure', id: dispatch.dispatch_id, dispatch, count: same.length }]
    })
}

/** Contract: how many things need the owner; the status counts also what the lists do not contain. */
export function countNeeds(view: PageView): number {
  const { approvals = 0, questions = 0, unknowns = 0 } = view.status ?? {}
  return approvals + questions + unknowns + listOthers(view).length
}
