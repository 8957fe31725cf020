/**
 * Model fallback: chooses the next model of a run's chain from the outcomes of all model calls in the process. The
 * rules are in domain/breaker.ts.
 * Must not know: what a model is, or how it is called.
 */

import {
  type BreakerState,
  breakerKeysOf,
  type CallOutcome,
  exclusionReason,
  isWorthFallback,
  nextBreakerState,
  pickModel,
  providerOf,
} from '../../domain/breaker.ts'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'
import type { Model } from '../../ports/model.ts'
import type { Run } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'

/** Circuit breaker states of all models. Not stored: a new process may have another configuration. */
export class Breaker {
  readonly #states = new Map<string, BreakerState>()
  readonly #listeners = new Set<(subject: string) => void>()
  readonly #onKeyRefused: (provider: string, model: string) => void

  /** `onKeyRefused` is called once each time a provider starts to refuse its key. */
  constructor(onKeyRefused: (provider: string, model: string) => void = () => {}) {
    this.#onKeyRefused = onKeyRefused
  }

  recordOutcome(outcome: CallOutcome): void {
    for (const subject of breakerKeysOf(outcome)) {
      const before = this.#states.get(subject)
      this.#states.set(subject, nextBreakerState(before, outcome))
      if (outcome.code === 'model_auth' && before?.code !== 'model_auth') this.#onKeyRefused(subject, outcome.model)
      for (const listener of [...this.#listeners]) listener(subject)
    }
  }

  exclusionCode(model: string, now: number): ErrorCode | null {
    return exclusionReason(this.#states, model, now)
  }

  /** Whether any call to the provider has ended, so that it is known whether the key works. */
  hasOutcome(provider: string): boolean {
    return this.#states.has(provider)
  }

  /** Contract: resolves when the next call to the provider ends, or when `signal` aborts. */
  waitForOutcome(provider: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const onOutcome = (subject: string | undefined): void => {
        if (subject !== undefined && subject !== provider) return
        this.#listeners.delete(onOutcome)
        signal.removeEventListener('abort', aborted)
        resolve()
      }
      const aborted = (): void => onOutcome(undefined)
      this.#listeners.add(onOutcome)
      signal.addEventListener('abort', aborted)
    })
  }

  /** Providers that currently refuse their key. */
  refusingProviders(): readonly string[] {
    return [...this.#states].filter(([, { code }]) => code === 'model_auth').map(([provider]) => provider)
  }
}

/** Contract: calls no model; throws `model_auth` if every provider refuses its key. */
export function chooseModel(run: Run, open: OpenTurn): Model {
  const id = run.engine.sources.requests.nextModelId(run, open.triedModels)
  const model = run.models.find((one) => one.id === id)
  if (model) return model
  throw new TirelessError('model_auth', {
    what: 'the provider refused the API key recently and is not called again yet',
    where: run.models.map((one) => providerOf(one.id)).join(', '),
    fix: 'set a valid key, then run: tireless models test',
  })
}

/**
 * Whether another model can be called: `now` if it is untried in this turn, `later` (after a backoff) if all were
 * tried.
 */
export function findFallback(run: Run, open: OpenTurn, code: ErrorCode): 'now' | 'later' | undefined {
  if (!isWorthFallback(code)) return undefined
  const tried = [...open.triedModels, run.model.id]
  const id = nextModelId(run, tried)
  if (id === undefined || id === run.model.id) return undefined
  return tried.includes(id) ? 'later' : 'now'
}

/** The next model of the chain whose breaker is closed; undefined if there is none. */
export function nextModelId({ engine, models: chain }: Run, tried: readonly string[]): string | undefined {
  const now = engine.clock.now()
  return pickModel(
    chain.map(({ id }) => id),
    tried,
    (id) => engine.breaker.exclusionCode(id, now),
  )
}
