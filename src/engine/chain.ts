/**
 * Chain: which of a run's models is asked next, and who may stand in for one that failed. The rule is domain/breaker.ts; here is what the
 * process has heard of each model so far, whichever run it was asked by.
 * Must not know: what a model is, or how it is asked.
 */

import {
  afterOutcome,
  type CallOutcome,
  leftOut,
  mayBeBetterElsewhere,
  providerOf,
  type Standing,
  subjectsOf,
  toAsk,
} from '../domain/breaker.ts'
import { type ErrorCode, TirelessError } from '../domain/error.ts'
import type { Model } from '../ports/model.ts'
import type { Run } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** The standings of all models. Forgotten with the process: a new one may have another configuration. */
export class Breaker {
  readonly #standings = new Map<string, Standing>()
  readonly #listeners = new Set<(subject: string) => void>()
  readonly #refused: (provider: string, model: string) => void

  /** `refused`: told once each time a provider begins to refuse its key. */
  constructor(refused: (provider: string, model: string) => void = () => {}) {
    this.#refused = refused
  }

  heard(outcome: CallOutcome): void {
    for (const subject of subjectsOf(outcome)) {
      const before = this.#standings.get(subject)
      this.#standings.set(subject, afterOutcome(before, outcome))
      if (outcome.code === 'model_auth' && before?.code !== 'model_auth') this.#refused(subject, outcome.model)
      for (const listener of [...this.#listeners]) listener(subject)
    }
  }

  leftOut(model: string, now: number): ErrorCode | null {
    return leftOut(this.#standings, model, now)
  }

  /** Whether anything was heard of a provider: that it takes its key, or that it does not. */
  knows(provider: string): boolean {
    return this.#standings.has(provider)
  }

  /** Contract: resolves when something is heard of that provider, or when `signal` aborts. */
  hearing(provider: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const heard = (subject: string | undefined): void => {
        if (subject !== undefined && subject !== provider) return
        this.#listeners.delete(heard)
        signal.removeEventListener('abort', aborted)
        resolve()
      }
      const aborted = (): void => heard(undefined)
      this.#listeners.add(heard)
      signal.addEventListener('abort', aborted)
    })
  }

  /** The providers that refuse their key. */
  refusing(): readonly string[] {
    return [...this.#standings].filter(([, { code }]) => code === 'model_auth').map(([provider]) => provider)
  }
}

/** Contract: throws `model_auth`, and nobody is asked, where every provider refuses its key. */
export function modelToAsk(run: Run, open: OpenTurn): Model {
  const { replaying } = run.engine
  const id = replaying ? replaying.asked() : idToAsk(run, open.tried)
  const model = run.chain.find((one) => one.id === id)
  if (model) return model
  throw new TirelessError('model_auth', {
    what: 'the provider refused the key a short while ago, and is not asked again yet',
    where: run.chain.map((one) => providerOf(one.id)).join(', '),
    fix: 'set the right key, then: models test',
  })
}

/** Who may stand in for the one that failed: `now`, where one has not been tried in this turn; `later`, where all have. */
export function standIn(run: Run, open: OpenTurn, code: ErrorCode): 'now' | 'later' | undefined {
  const { replaying } = run.engine
  if (replaying) return replaying.standIn()
  if (!mayBeBetterElsewhere(code)) return undefined
  const tried = [...open.tried, run.model.id]
  const id = idToAsk(run, tried)
  if (id === undefined || id === run.model.id) return undefined
  return tried.includes(id) ? 'later' : 'now'
}

function idToAsk({ engine, chain }: Run, tried: readonly string[]): string | undefined {
  const now = engine.clock.now()
  return toAsk(
    chain.map(({ id }) => id),
    tried,
    (id) => engine.breaker.leftOut(id, now),
  )
}
