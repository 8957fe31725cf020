/**
 * Expectations: what a chat was asked and has not answered yet, and which of it a message answers (case 76).
 * Must not know: how the message came.
 * Invariant: an approval is given only if exactly one is meant.
 */

import type { Approval } from '../../domain/approval.ts'
import type { Dispatch } from '../../domain/dispatch.ts'
import { recordsOfRun } from '../../domain/journal-record.ts'
import { isFrontSession, isSameTarget, type ReplyTo, replyTargets } from '../../domain/reply-to.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'

export type Expectation =
  | { readonly kind: 'approval'; readonly approval: Approval; readonly until: number }
  | { readonly kind: 'question'; readonly session_id: string; readonly question: string; readonly until: number }

type ExpectationMatch =
  | { readonly kind: 'none' }
  | { readonly kind: 'approval'; readonly approval: Approval; readonly answer: 'allowed' | 'denied' }
  | { readonly kind: 'question'; readonly session_id: string }
  /** Several fit equally well: the person has to say which one is meant. */
  | { readonly kind: 'unclear'; readonly candidates: readonly Expectation[] }

const YES =
  /^(?:y|yes|ok|okay|allow|allowed|approve|approved|go ahead|do it|sure|是|是的|好|好的|可以|行|同意|允许|批准)$/
const NO = /^(?:n|no|deny|denied|refuse|don['’]?t|do not|stop|不|不行|不要|不可以|不同意|拒绝|否)$/

/** Contract: pure. A plain yes or no answers an approval before anything else; any text answers a question. */
export function matchExpectation(text: string, expected: readonly Expectation[]): ExpectationMatch {
  const said = text
    .trim()
    .toLowerCase()
    .replaceAll(/[.!。！]+$/g, '')
  const answer = YES.test(said) ? 'allowed' : NO.test(said) ? 'denied' : undefined
  const approvals = expected.filter((one) => one.kind === 'approval')
  if (answer !== undefined && approvals.length > 0) {
    const [only, second] = approvals
    return only && !second
      ? { kind: 'approval', approval: only.approval, answer }
      : { kind: 'unclear', candidates: approvals }
  }
  const questions = expected.filter((one) => one.kind === 'question').toSorted((a, b) => a.until - b.until)
  const [soonest, next] = questions
  if (!soonest) return { kind: 'none' }
  if (next?.until === soonest.until)
    return { kind: 'unclear', candidates: questions.filter(({ until }) => until === soonest.until) }
  return { kind: 'question', session_id: soonest.session_id }
}

/** At most this many parked runs and open approvals are looked at. */
const MAX_READ = 200

/** Contract: what was asked in the chat with this target, and is still open. */
export async function readExpectations(store: Store, chat: ReplyTo): Promise<readonly Expectation[]> {
  const waiting = await store.dispatches({ status: 'waiting', limit: MAX_READ })
  const approvals = await fallbackIfUnreadable(store.approvals({ status: 'open', limit: MAX_READ }), [])
  const asking = waiting.filter((dispatch) => waitsForPerson(dispatch))
  const expected = await Promise.all(
    asking.map(async (dispatch): Promise<readonly Expectation[]> => {
      const { session_id, wait } = dispatch
      const { targets, question } = await readTalk(store, dispatch)
      if (!targets.some((to) => isSameTarget(to, chat))) return []
      const own = approvals.filter((approval) => approval.session_id === session_id)
      if (own.length > 0)
        return own.map((approval) => ({ kind: 'approval', approval, until: Date.parse(approval.expires_at) }))
      return [{ kind: 'question', session_id, question: question ?? wait?.reason ?? '', until: wait?.until ?? 0 }]
    }),
  )
  return expected.flat()
}

const waitsForPerson = ({ session_id, wait }: Dispatch): boolean =>
  !isFrontSession(session_id) && wait?.kind === 'observation' && (wait.match === 'user_message' || wait.match === 'any')

/** Contract: where the answer of a run goes, and the last question that it asked. */
export async function readTalk(
  store: Pick<Store, 'journal'>,
  { session_id, dispatch_id, metadata, prompt }: Pick<Dispatch, 'session_id' | 'dispatch_id' | 'metadata' | 'prompt'>,
): Promise<{ readonly targets: readonly ReplyTo[]; readonly question: string | undefined; readonly said: string }> {
  const records = recordsOfRun(await fallbackIfUnreadable(store.journal(session_id), []), dispatch_id)
  const input = records.flatMap((record) => (record.kind === 'input_bound' ? record.input : []))
  const asked = records.findLast((record) => record.kind === 'call_intended' && record.call.tool === 'ask_user')
  const { question } = (asked?.kind === 'call_intended' ? asked.call.args : {}) as { readonly question?: string }
  const last = input.findLast(({ type }) => type === 'user_message')
  return {
    targets: replyTargets(input, { metadata, prompt }),
    question,
    said: last?.type === 'user_message' ? last.text : '',
  }
}
