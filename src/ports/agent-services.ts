/**
 * The services of the agent domain: a language model (`ai`), facts (`memory`) and the queue (`runtime`); the fourth is
 * the bus. A plugin gets them with `host.get('ai')`, a program with `app.service('ai')`.
 */

import type { Dispatch } from '../domain/dispatch.ts'
import type { Event } from '../domain/event.ts'
import type { Fact } from '../domain/fact.ts'
import type { Usage } from '../domain/journal-record.ts'
import type { Label } from '../domain/label.ts'

export interface AiMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface AiOptions {
  readonly system?: string
  /** `provider/model`: this model or none. Default: the model of the agent, else the default model, then fallbacks. */
  readonly model?: string
  /** The agent for which the money is booked. Default: `ai`. */
  readonly agent?: string
  readonly signal?: AbortSignal
}

export interface AiAnswer {
  readonly text: string
  readonly model: string
  readonly usage: Usage
  /** null: the model has no price. */
  readonly usd: number | null
}

export interface Ai {
  /**
   * Contract: sends one request without tools. The money is reserved before and booked after it; throws `budget_*`
   * before a cap would be exceeded, `usage` for invalid arguments, and the error of the last model that was tried.
   */
  chat(messages: string | readonly AiMessage[], options?: AiOptions): Promise<AiAnswer>
}

export interface FactToRemember {
  /** The agent whose runs recall the fact. Default: the default agent. */
  readonly agent?: string
  /** A fact with the same key is replaced. */
  readonly key: string
  readonly text: string
  /** Default: untrusted. A run that recalls the fact gets at least as low a label (I12). */
  readonly label?: Label
  /** Epoch milliseconds; default: the fact stays. */
  readonly until?: number
}

/** Contract for every method: throws `usage` for invalid arguments. */
export interface FactMemory {
  /** Contract: resolves when the fact is on disk. */
  remember(fact: FactToRemember): Promise<{ readonly id: string; readonly replaced: boolean }>
  /** Contract: the facts of the agent that match the text best, best first; at most `limit` (default 8, most 100). */
  recall(query: { readonly agent?: string; readonly text: string; readonly limit?: number }): Promise<readonly Fact[]>
  /** Contract: whether there was a fact with this key. */
  forget(fact: { readonly agent?: string; readonly key: string }): Promise<boolean>
}

export interface TaskToEnqueue {
  readonly task: string
  readonly agent?: string
  readonly behaviour?: string
  readonly model?: string
  readonly env?: string
  readonly workspace?: string
  readonly priority?: number
  /** A task with a key that was used before is not added again. */
  readonly key?: string
  /** Earliest start: an ISO instant, or a duration such as `10m`. */
  readonly at?: string
  /** Who wrote the task. Only the owner's text is trusted. Default: `model`. */
  readonly by?: 'owner' | 'model'
}

/** Contract for every method: throws `usage` for invalid arguments, `not_found` for an unknown id. */
export interface Runtime {
  /** Contract: resolves when the task is on disk; a running kernel starts it. */
  enqueue(task: TaskToEnqueue): Promise<{
    readonly dispatch_id: string
    readonly session_id: string
    readonly duplicate: boolean
  }>
  /** Contract: sends a message as the owner, so never text of others: publish that on the bus, with its label. */
  send(message: {
    readonly text: string
    readonly session?: string
    readonly key?: string
  }): Promise<{ readonly duplicate: boolean }>
  status(dispatchId: string): Promise<Dispatch>
  /** Contract: resolves when the dispatch and its children have ended. */
  cancel(dispatchId: string, how?: 'immediate' | 'after_step'): Promise<void>
  /** Contract: called with each event of all runs; an error of the listener is ignored. Returns an unsubscriber. */
  on(listener: (event: Event) => void | Promise<void>): () => void
}
