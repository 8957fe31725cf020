/**
 * Money of a run: set aside in the commit that records the request, settled in the one that records the answer (I11). What a crash leaves
 * without an answer stays set aside.
 * Must not know: who else spends. The caps are checked where all of them meet, in the store.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { type Cap, costOf, isFreeOfCharge, MICROS, mostCost } from '../domain/money.ts'
import type { Answer } from '../domain/record.ts'
import type { Model, ModelRequest } from '../ports/model.ts'
import { commitOne, type Results, type Spender, type Store } from '../ports/store.ts'
import { askPluginLater } from './ask-plugin.ts'
import { answerPort } from './return-shapes.ts'
import { flush, type Run } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** What spending is held against. */
export interface Purse {
  /** As they are now: the configuration may change while a run goes on. */
  caps(): readonly Cap[]
  /** Contract: the day of that instant, as `2030-01-31`, where the owner is. */
  dayOf(now: number): string
}

/** US dollars that a request can cost; undefined: the model is not metered. Contract: throws `budget_*` where it must not be sent. */
export function mostOf(run: Run, bytes: number): number | undefined {
  const { engine, model, thread, wishes } = run
  if (engine.replaying) return engine.replaying.reserved()
  const caps = engine.purse.caps()
  const { usd: limit } = wishes.budget
  const most = boundOf(model, bytes, limit !== null || caps.some(({ unit }) => unit === 'usd'))
  if (most === undefined) return undefined
  const spent = Math.round(thread.spent.usd * MICROS)
  if (most > 0 && limit !== null && spent + most > Math.round(limit * MICROS))
    throw new TirelessError('budget_money', {
      what: 'the run has too little money left for another answer',
      got: `${dollars(spent)} spent, and up to ${dollars(most)} for this one`,
      expected: `at most ${limit} USD (budget.per_dispatch_usd, or what the task was given)`,
    })
  return most / MICROS
}

/** Millionths of a dollar. `limited`: whether anybody minds. */
function boundOf(model: Model, bytes: number, limited: boolean): number | undefined {
  if (model.price === null && limited) throw unpriced(model)
  return model.price ? mostCost(model.price, bytes) : undefined
}

/** Contract: the answer of the run's model, checked; what was recorded was checked then. */
export function askModel({ engine, model }: Run, call: () => Promise<Answer>): Promise<Answer> {
  return engine.replaying ? call() : askPluginLater(answerPort(model.id), call)
}

/** One call outside any run, with the money it takes. Contract: throws as the model does, or `budget_*` without having asked it. */
export async function paidCall(
  { store, purse }: { readonly store: Store; readonly purse: Purse },
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  spender: Spender,
  /** Of what is set aside. */
  id: string = spender.dispatch_id,
  /** How the model is waited for: it alone may be left behind, the books are kept in any case. */
  waited: (call: () => Promise<Answer>) => Promise<Answer> = (call) => call(),
): Promise<Answer> {
  const caps = purse.caps()
  const bytes = Buffer.byteLength(JSON.stringify(request))
  const usd =
    boundOf(
      model,
      bytes,
      caps.some(({ unit }) => unit === 'usd'),
    ) ?? 0
  const [{ refused }] = await commitOne(store, [{ op: 'reserve', id, usd, caps, ...spender }])
  if (refused) throw overCap(refused, usd)
  try {
    const answer = await waited(() => askPluginLater(answerPort(model.id), () => model.call(request, { signal })))
    const { usage } = answer
    await commitOne(store, [{ op: 'spent', id, usd: model.price ? costOf(model.price, usage) : 0, usage, ...spender }])
    return answer
  } catch (thrown) {
    if (isFreeOfCharge(asTirelessError(thrown).code)) await commitOne(store, [{ op: 'unspent', id }])
    throw thrown
  }
}

function unpriced({ id }: Model): TirelessError {
  return new TirelessError('budget_unpriced', {
    what: 'nobody has said what this model costs, and money is limited',
    got: id,
    expected: 'a price in US dollars per million tokens',
    fix: `add to tireless.yaml: models: { prices: { "${id}": { input: …, output: … } } }, with 0 and 0 where it is free`,
  })
}

/** Everything recorded so far, the money with it. Contract: throws `budget_*` where a cap would be passed; the request is on disk all the same. */
export async function reserve(run: Run, open: OpenTurn): Promise<void> {
  const { purse } = run.engine
  const caps = purse.caps()
  const { reserved } = open
  const metered = (reserved ?? 0) > 0 || caps.some(({ unit }) => unit !== 'usd')
  if (!metered) {
    await flush(run, [])
    return
  }
  const usd = Math.round((reserved ?? 0) * MICROS)
  const [{ refused }] = await flush(run, [{ op: 'reserve', id: idOf(run, open), usd, caps, ...spenderOf(run) }])
  if (refused) throw overCap(refused, usd)
}

type Refused = NonNullable<Results['reserve']['refused']>

function overCap({ cap: { name, unit, limit }, used, reserved }: Refused, wanted: number): TirelessError {
  if (unit !== 'usd')
    return new TirelessError(unit === 'calls' ? 'budget_calls' : 'budget_tokens', {
      what: `no ${unit} are left`,
      got: `${used} used`,
      expected: `at most ${limit} (budget.${name})`,
    })
  const busy = used - reserved + wanted <= limit
  return new TirelessError(busy ? 'budget_busy' : 'budget_money', {
    what: 'there is too little money left for another answer',
    got: `${dollars(used - reserved)} spent, ${dollars(reserved)} set aside, and up to ${dollars(wanted)} for this one`,
    expected: `at most ${dollars(limit)} (budget.${name})`,
    fix: `wait for the next ${name.includes('month') ? 'month' : 'day'}, or: budget set ${name} <USD>`,
  })
}

const dollars = (micros: number): string => `${micros / MICROS} USD`

/** What the answer did cost, in US dollars, booked with the next commit; undefined where the model is not metered. */
export function settle(run: Run, open: OpenTurn, { usage }: Answer): number | undefined {
  const { engine, model } = run
  const usd = engine.replaying ? engine.replaying.cost() : model.price ? costOf(model.price, usage) / MICROS : undefined
  const booked = Math.round((usd ?? 0) * MICROS)
  run.alongside.push({ op: 'spent', id: idOf(run, open), usd: booked, usage, ...spenderOf(run) })
  return usd
}

/** Where the provider refused before there was anything to pay for. */
export function giveBack(run: Run, open: OpenTurn, { code }: TirelessError): void {
  if (isFreeOfCharge(code)) run.alongside.push({ op: 'unspent', id: idOf(run, open) })
}

/** Of the request that was sent last. */
const idOf = ({ dispatch }: Run, { requestSeq }: OpenTurn): string => `${dispatch.dispatch_id}-${requestSeq}`

export function spenderOf({ engine, dispatch, model }: Run): Spender {
  const { kernel_id, agent_id, dispatch_id } = dispatch
  return { kernel_id, agent_id, dispatch_id, model: model.id, day: engine.purse.dayOf(engine.clock.now()) }
}
