/**
 * Budget reservations: money is reserved in the commit of the request and settled in the commit of the answer (I11). If
 * a crash loses the answer, the reservation stays.
 * Must not know: other spenders. The store checks the caps, because only the store sees the spending of all runs.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import { type Cap, costOf, isFreeOfCharge, MICROS_PER_USD, maxCost } from '../../domain/money.ts'
import type { Model, ModelRequest } from '../../ports/model.ts'
import type { Spender } from '../../ports/store/spending.ts'
import { commitOne, type OpResults, type Store } from '../../ports/store.ts'
import { askPluginAsync } from '../plugins/ask-plugin.ts'
import { answerPort } from '../plugins/return-shapes.ts'
import { flushRecords, type Run } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'
import { committedUsd } from '../session/usage.ts'
import { getPromptPrefix } from './prompt-prefix.ts'

export interface BudgetLimits {
  /** Read for every request, because the configuration can change during a run. */
  caps(): readonly Cap[]
  /** Contract: the date in the owner's time zone, such as `2030-01-31`. */
  dayOf(now: number): string
}

/**
 * Contract: the maximum cost in US dollars; undefined for an unmetered model. Throws `budget_*` if the cost could
 * exceed a limit.
 */
export function maxCostUsd(run: Run, bytes: number): number | undefined {
  const { engine, model, thread, overrides: wishes } = run
  const caps = engine.budgetLimits.caps()
  const { usd: limit } = wishes.budget
  const most = upperBound(model, bytes, limit !== null || caps.some(({ unit }) => unit === 'usd'))
  if (most === undefined) return undefined
  const spent = Math.round(committedUsd(thread) * MICROS_PER_USD)
  if (most > 0 && limit !== null && spent + most > Math.round(limit * MICROS_PER_USD))
    throw new TirelessError('budget_money', {
      what: 'the budget of the run is too low for another answer',
      got: `${formatUsd(spent)} spent, and up to ${formatUsd(most)} for this answer`,
      expected: `at most ${limit} USD (budget.per_dispatch_usd, or the budget of the task)`,
    })
  return most / MICROS_PER_USD
}

/** By how much the next request may be longer than the last one, in bytes: the results that it shows. */
const REQUEST_GROWTH = 16_000

/**
 * Contract: what the run can give to a sub-agent in US dollars, so that it can still pay for one more answer of its
 * own; null if the run has no limit.
 */
export function usdLeftToDelegate(run: Run): number | null {
  const { model, thread, overrides: wishes } = run
  const { usd: limit } = wishes.budget
  if (limit === null) return null
  const bytes = Math.max(thread.requestBytes, getPromptPrefix(run).bytes) + REQUEST_GROWTH
  const answer = model.price ? maxCost(model.price, bytes) : 0
  const left = Math.round((limit - committedUsd(thread)) * MICROS_PER_USD) - answer
  return Math.max(0, left) / MICROS_PER_USD
}

/** Maximum cost in millionths of a dollar. `isLimited`: whether a money limit applies. */
function upperBound(model: Model, bytes: number, isLimited: boolean): number | undefined {
  if (model.price === null && isLimited) throw unpricedError(model)
  return model.price ? maxCost(model.price, bytes) : undefined
}

/** Contract: returns a checked copy of the model's answer. */
export function checkAnswer(model: Model, call: () => Promise<ModelAnswer>): Promise<ModelAnswer> {
  return askPluginAsync(answerPort(model.id), call)
}

/** Undefined for an unmetered model. */
export const costUsd = ({ price }: Model, { usage }: ModelAnswer): number | undefined =>
  price ? costOf(price, usage) / MICROS_PER_USD : undefined

interface SpendingDeps {
  readonly store: Store
  readonly budgetLimits: BudgetLimits
}

interface BudgetedCall {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
  readonly spender: Spender
  /** Id of the reservation; by default that of the dispatch. */
  readonly id?: string
  /** Wraps the model call and may abandon it. The reservation of an abandoned call stays. */
  readonly withGrace?: (call: () => Promise<ModelAnswer>) => Promise<ModelAnswer>
}

/**
 * Calls a model outside a step, with a reservation. Contract: throws `budget_*` before the call, or the error of the
 * call.
 */
export async function callWithinBudget(
  { store, budgetLimits: purse }: SpendingDeps,
  { model, request, signal, spender, id = spender.dispatch_id, withGrace = (call) => call() }: BudgetedCall,
): Promise<ModelAnswer> {
  const caps = purse.caps()
  const bytes = Buffer.byteLength(JSON.stringify(request))
  const usd =
    upperBound(
      model,
      bytes,
      caps.some(({ unit }) => unit === 'usd'),
    ) ?? 0
  const [{ refused }] = await commitOne(store, [{ op: 'reserve', id, usd, caps, ...spender }])
  if (refused) throw overCapError(refused, usd)
  try {
    const answer = await withGrace(() => checkAnswer(model, () => model.call(request, { signal })))
    const { usage } = answer
    await commitOne(store, [{ op: 'spent', id, usd: model.price ? costOf(model.price, usage) : 0, usage, ...spender }])
    return answer
  } catch (thrown) {
    if (isFreeOfCharge(asTirelessError(thrown).code)) await commitOne(store, [{ op: 'unspent', id }])
    throw thrown
  }
}

interface Expense {
  /** Of the reservation. */
  readonly id: string
  /** The most that the work can cost, in US dollars. */
  readonly usd: number
  readonly spender: Spender
}

/**
 * Pays for work that is no model call. Contract: throws `budget_*` before the work; if the work throws, the reservation
 * stays. Books the cost that the work returns, in US dollars.
 */
export async function spendWithinBudget<T extends { readonly usd: number }>(
  { store, budgetLimits }: SpendingDeps,
  { id, usd, spender }: Expense,
  work: () => Promise<T>,
): Promise<T> {
  const most = Math.round(usd * MICROS_PER_USD)
  const [{ refused }] = await commitOne(store, [
    { op: 'reserve', id, usd: most, caps: budgetLimits.caps(), ...spender },
  ])
  if (refused) throw overCapError(refused, most)
  const done = await work()
  const booked = Math.round(done.usd * MICROS_PER_USD)
  await commitOne(store, [{ op: 'spent', id, usd: booked, usage: NO_TOKENS, ...spender }])
  return done
}

const NO_TOKENS: ModelAnswer['usage'] = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

function unpricedError({ id }: Model): TirelessError {
  return new TirelessError('budget_unpriced', {
    what: 'the model has no price, but a money limit is set',
    got: id,
    expected: 'a price in US dollars per million tokens',
    fix: `add to tireless.yaml: models: { prices: { "${id}": { input: …, output: … } } }; use 0 for a free model`,
  })
}

/**
 * Contract: commits all records with the reservation. Throws `budget_*` if a cap would be exceeded; the records are on
 * disk even then.
 */
export async function reserveMoney(run: Run, open: OpenTurn): Promise<void> {
  const { budgetLimits: purse } = run.engine
  const caps = purse.caps()
  const { reserved } = open
  const isMetered = (reserved ?? 0) > 0 || caps.some(({ unit }) => unit !== 'usd')
  if (!isMetered) {
    await flushRecords(run, [])
    return
  }
  const usd = Math.round((reserved ?? 0) * MICROS_PER_USD)
  const [{ refused }] = await flushRecords(run, [
    { op: 'reserve', id: reservationId(run, open), usd, caps, ...spenderOf(run) },
  ])
  if (refused) throw overCapError(refused, usd)
}

type RefusedReservation = NonNullable<OpResults['reserve']['refused']>

function overCapError(
  { cap: { name, unit, limit }, used, reserved }: RefusedReservation,
  requested: number,
): TirelessError {
  if (unit !== 'usd')
    return new TirelessError(unit === 'calls' ? 'budget_calls' : 'budget_tokens', {
      what: `the limit of ${unit} is reached`,
      got: `${used} used`,
      expected: `at most ${limit} (budget.${name})`,
    })
  const isOnlyReserved = used - reserved + requested <= limit
  return new TirelessError(isOnlyReserved ? 'budget_busy' : 'budget_money', {
    what: 'the budget is too low for another answer',
    got: `${formatUsd(used - reserved)} spent, ${formatUsd(reserved)} reserved, ${formatUsd(requested)} needed`,
    expected: `at most ${formatUsd(limit)} (budget.${name})`,
    fix: `wait for the next ${name.includes('month') ? 'month' : 'day'}, or run: tireless budget set ${name} <USD>`,
  })
}

const formatUsd = (micros: number): string => `${micros / MICROS_PER_USD} USD`

/** Returns the cost of the answer in US dollars and books it in the next commit; undefined for an unmetered model. */
export function settleCost(run: Run, open: OpenTurn, answer: ModelAnswer): number | undefined {
  const usd = run.engine.sources.requests.costUsd(run.model, answer)
  const { usage } = answer
  const micros = Math.round((usd ?? 0) * MICROS_PER_USD)
  run.pendingOps.push({ op: 'spent', id: reservationId(run, open), usd: micros, usage, ...spenderOf(run) })
  return usd
}

/** Cancels the reservation if the provider refused the request without charge. */
export function cancelReservation(run: Run, open: OpenTurn, { code }: TirelessError): void {
  if (isFreeOfCharge(code)) run.pendingOps.push({ op: 'unspent', id: reservationId(run, open) })
}

/** Id of the last request's reservation. */
const reservationId = ({ dispatch }: Run, { requestSeq }: OpenTurn): string => `${dispatch.dispatch_id}-${requestSeq}`

export function spenderOf({ engine, dispatch, model }: Run): Spender {
  const { kernel_id, agent_id, dispatch_id } = dispatch
  return { kernel_id, agent_id, dispatch_id, model: model.id, day: engine.budgetLimits.dayOf(engine.clock.budgetNow()) }
}
