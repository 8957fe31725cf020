/** Models that plugins add: checked when they are opened, and given up if they are silent for too long. */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { describeValue, ignoreRejections } from '../../domain/json.ts'
import { findPriceProblem } from '../../domain/limits.ts'
import type { Price } from '../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Model, ModelProvider } from '../../ports/model.ts'

interface AddedModelOptions {
  readonly clock: Clock
  /** Most milliseconds without text from the model; null: no limit. */
  readonly timeout: number | null
  /** The configured price; it takes precedence over the model's own. */
  readonly price: Price | undefined
}

/** Contract: throws `model_unknown` if the provider has no such model, and `plugin_*` if it cannot be opened. */
export function openAddedModel(provider: ModelProvider, model: string, options: AddedModelOptions): Model {
  const id = `${provider.name}/${model}`
  if (!provider.models.includes(model))
    throw new TirelessError('model_unknown', {
      what: 'unknown model',
      got: id,
      expected: provider.models.map((name) => `${provider.name}/${name}`).join(' or '),
    })
  const opened = openChecked(provider, model, id)
  return {
    id,
    price: options.price ?? opened.price ?? null,
    call: (request, callOptions) => callWithinIdleTime({ ...opened, id }, request, callOptions, options),
  }
}

function openChecked(provider: ModelProvider, model: string, id: string): Pick<Model, 'price' | 'call'> {
  const opened: unknown = callOpen(provider, model, id)
  const { call, price } = (typeof opened === 'object' && opened !== null ? opened : {}) as Partial<Model>
  if (typeof call !== 'function') {
    ignoreRejections(opened)
    throw new TirelessError('plugin_invalid', {
      what: `model provider ${provider.name} returned an invalid value from open("${model}")`,
      got: describeValue(opened),
      expected: 'an object with the function `call`, and perhaps a `price`',
    })
  }
  const problem = price === undefined || price === null ? undefined : findPriceProblem(price)
  if (problem)
    throw new TirelessError('plugin_invalid', {
      ...{ what: `invalid model ${id}`, where: `price.${problem.member}` },
      ...{ got: describeValue(problem.value), expected: problem.expected },
    })
  return { call: call.bind(opened), ...(price === undefined ? {} : { price }) }
}

function callOpen(provider: ModelProvider, model: string, id: string): unknown {
  try {
    return provider.open(model)
  } catch (thrown) {
    const got = asTirelessError(thrown).message
    throw new TirelessError(
      'plugin_failed',
      { what: `model provider ${provider.name} cannot open ${id}`, got },
      { cause: thrown },
    )
  }
}

/** An error without a code may come after the provider was paid, so it counts as `model_cut`, which keeps the money. */
async function callWithinIdleTime(
  model: Model,
  request: Parameters<Model['call']>[0],
  { signal, onText }: Parameters<Model['call']>[1],
  { clock, timeout }: AddedModelOptions,
): Promise<Awaited<ReturnType<Model['call']>>> {
  const ended = new AbortController()
  const silent = Promise.withResolvers<never>()
  silent.promise.catch(() => {})
  let lastText = clock.monotonic()
  const watch = async (idleMs: number): Promise<void> => {
    for (let left = idleMs; left > 0; left = lastText + idleMs - clock.monotonic()) {
      await clock.sleep(left, ended.signal)
      if (ended.signal.aborted) return
    }
    silent.reject(new TirelessError('model_timeout', `model ${model.id} was silent for ${idleMs} ms (models.timeout)`))
  }
  if (timeout !== null) void watch(timeout)
  const hear = (text: string): void => {
    lastText = clock.monotonic()
    onText?.(text)
  }
  try {
    const options = { signal: AbortSignal.any([signal, ended.signal]), onText: hear }
    return await Promise.race([callModel(model, request, options), silent.promise])
  } finally {
    ended.abort('ended')
  }
}

async function callModel(model: Model, ...given: Parameters<Model['call']>): ReturnType<Model['call']> {
  try {
    return await model.call(...given)
  } catch (thrown) {
    const { code, message } = asTirelessError(thrown)
    if (thrown instanceof TirelessError && (code.startsWith('model_') || code === 'aborted')) throw thrown
    throw new TirelessError('model_cut', `model ${model.id} failed in call(): ${message}`, { cause: thrown })
  }
}
