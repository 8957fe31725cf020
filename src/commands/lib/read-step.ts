/** One step of a run in full: its records, the request as the model got it, approvals and the reasons of the policy. */

import type { Approval } from '../../domain/approval.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { redactValue } from '../../domain/redact.ts'
import { callKeyOf } from '../../domain/unknown-outcome.ts'
import type { ModelMessage, ToolSpec } from '../../ports/model.ts'
import { recordsUntilRequest, type StepDetails, stepDetailsFrom } from '../../trace/step-details.ts'
import type { Needs } from './context.ts'
import { findRun } from './find-run.ts'

const MAX_APPROVALS = 1000
/** Audit entries that are searched for those of a step. */
const MAX_AUDIT = 2000

/** A request as it was sent. Images are left out. */
interface StepRequest {
  readonly model: string
  /** False: this program makes another request of the records than the one that was sent. */
  readonly is_exact: boolean
  readonly sections: readonly { readonly name: string; readonly text: string; readonly tokens: number }[]
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolSpec[]
}

/** What the policy said about a call of the step, by the call's index. */
interface Ruling {
  readonly index: number
  readonly ruling: string
  readonly reason: string
  readonly destinations: Json
}

export interface FullStep extends StepDetails {
  readonly approvals: readonly Approval[]
  readonly rulings: readonly Ruling[]
  /** Null if it was not asked for, or if no model was. */
  readonly request: StepRequest | null
}

interface WantedStep {
  readonly run: string
  readonly step: number
  readonly request: boolean
}

/** Contract: throws `not_found` for an unknown run and `usage` for a step that it does not have. */
export async function readStep(
  context: Needs<'redact' | 'replay' | 'store'>,
  { run, step, request }: WantedStep,
): Promise<FullStep> {
  const { dispatch, records } = await findRun(context, run)
  const { session_id } = dispatch
  const redacted = records.map((record) => redactValue(record, context.redact))
  const details = stepDetailsFrom(redacted, step)
  if (!details) throw new TirelessError('not_found', { what: 'the run has no such step', got: String(step) })
  const approvals = await context.store.approvals({ session_id, limit: MAX_APPROVALS })
  return {
    ...details,
    approvals: approvals.filter(({ origin }) => origin.run_id === run && origin.step === details.turn),
    rulings: await readRulings(context, session_id, details),
    request: request ? await readRequest(context, run, step) : null,
  }
}

/** A request is not stored. It is made again by replaying the run up to it, and compared with the recorded digest. */
async function readRequest(
  context: Needs<'redact' | 'replay' | 'store'>,
  run: string,
  step: number,
): Promise<StepRequest | null> {
  const { dispatch, past, records } = await findRun(context, run)
  const until = recordsUntilRequest(records, step)
  const wanted = until?.at(-1)
  if (!until || wanted?.kind !== 'model_requested') return null
  let last: StepRequest | undefined
  await context.replay(dispatch, past, until, ({ digest, model, sections, messages, tools }) => {
    last = { model, is_exact: digest === wanted.digest, sections, messages: messages.map(withoutImages), tools }
  })
  return last ? redactValue(last, context.redact) : null
}

function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role === 'assistant' || message.images === undefined) return message
  const { images, ...rest } = message
  return { ...rest, text: `${message.text}\n[${images.map(({ media_type }) => media_type).join(', ')}]` }
}

/** The audit log is in the order of time and has no index, so the place of the step is searched by halving. */
async function readRulings(
  { store }: Needs<'store'>,
  session_id: string,
  { turn, from, to }: StepDetails,
): Promise<readonly Ruling[]> {
  const { last } = await store.audit(1, { limit: 1 })
  let [low, high] = [1, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [link] = (await store.audit(middle, { limit: 1 })).links
    if (link && (JSON.parse(link.body) as { readonly ts: number }).ts < from) low = middle + 1
    else high = middle
  }
  const { links } = await store.audit(low, { limit: MAX_AUDIT })
  return links.flatMap(({ body }): Ruling[] => {
    const entry = JSON.parse(body) as Readonly<Record<string, Json>> & { readonly ts: number }
    if (entry.what !== 'call' || entry.session_id !== session_id || (to !== null && entry.ts > to)) return []
    const prefix = callKeyOf(session_id, { turn, index: 0 }).slice(0, -1)
    if (typeof entry.call !== 'string' || !entry.call.startsWith(prefix)) return []
    const index = Number(entry.call.slice(prefix.length))
    const destinations = entry.destinations ?? null
    return [{ index, ruling: String(entry.ruling), reason: String(entry.reason), destinations }]
  })
}
