/** The open calls of a sandboxed plugin's process, and what the process may say about them. */

import { asTirelessError, ERROR_CODES, type ErrorCode, TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { FromPlugin, ToPlugin } from './protocol.ts'

export interface PluginCall extends Pick<Extract<ToPlugin, { type: 'call' }>, 'kind' | 'name' | 'method' | 'args'> {
  /** Time limit in milliseconds; may be infinite. */
  readonly withinMs: number
  readonly signal?: AbortSignal
  /** Error codes that the plugin may use; others become the first one. */
  readonly codes: readonly [ErrorCode, ...ErrorCode[]]
  /** Contract: called when the request is written. A call that fails before that has certainly not taken effect. */
  onSent?(): void
  onEvent?(event: 'say' | 'text' | 'slice', value: Json): void
  /** Contract: answers a question of the plugin. */
  onAsk?(method: 'publish' | 'mark' | 'saveMark', value: Json | undefined): Promise<Json>
}

type OfCall = Extract<FromPlugin, { readonly id: number }>

interface OpenCall {
  readonly call: PluginCall
  readonly result: PromiseWithResolvers<Json | undefined>
  send(message: ToPlugin): void
}

/** Most questions of one call that are open at a time. */
const MOST_ASKS = 16
/** Length limit of an error's text in characters, in both directions. */
const LONGEST_ERROR = 1000

export class PendingCalls {
  readonly #open = new Map<number, OpenCall>()
  readonly #asks = new Map<number, number>()
  #last = 0
  #idle = Promise.withResolvers<void>()

  get size(): number {
    return this.#open.size
  }

  has(id: number): boolean {
    return this.#open.has(id)
  }

  /** Contract: resolves when no call is open. */
  idle(): Promise<void> {
    return this.#idle.promise
  }

  /** `send`: sends to the process that has the call. */
  add(call: PluginCall, send: OpenCall['send']): { readonly id: number; readonly result: Promise<Json | undefined> } {
    if (this.#open.size === 0) this.#idle = Promise.withResolvers<void>()
    this.#last += 1
    const result = Promise.withResolvers<Json | undefined>()
    this.#open.set(this.#last, { call, result, send })
    return { id: this.#last, result: result.promise }
  }

  failAll(reason: string): void {
    for (const [id, { call, result }] of [...this.#open]) {
      this.#close(id)
      // Other codes of models mean that nothing has to be paid.
      result.reject(new TirelessError(call.kind === 'modelProviders' ? 'model_cut' : call.codes[0], reason))
    }
  }

  /** Contract: returns why the message breaks the protocol; undefined if it does not. */
  handle(message: OfCall): string | undefined {
    const open = this.#open.get(message.id)
    if (!open) return this.#refuseLate(message)
    switch (message.type) {
      case 'result':
        this.#close(message.id)
        open.result.resolve(message.value)
        return undefined
      case 'error':
        this.#close(message.id)
        open.result.reject(errorOf(message, open.call))
        return undefined
      case 'event':
        open.call.onEvent?.(message.event, message.value)
        return undefined
      default:
        return this.#answer(message, open)
    }
  }

  /** What a plugin still says about an ended call is dropped: its work may go on for a moment. */
  #refuseLate({ id, type }: OfCall): string | undefined {
    const isLate = id <= this.#last && (type === 'event' || type === 'ask')
    return isLate ? undefined : `it answered for a call that is not open: ${id}`
  }

  #answer(message: Extract<OfCall, { type: 'ask' }>, { call, send }: OpenCall): string | undefined {
    const { id, ask, method, value } = message
    const count = (this.#asks.get(id) ?? 0) + 1
    if (!call.onAsk || count > MOST_ASKS) return `it asked too much or for something else: ${method}`
    this.#asks.set(id, count)
    const done = (reply: { readonly value?: Json; readonly error?: string }): void => {
      this.#asks.set(id, (this.#asks.get(id) ?? 1) - 1)
      if (this.#open.has(id)) send({ type: 'reply', id: ask, ...reply })
    }
    void call.onAsk(method, value).then(
      (answer) => done({ value: answer }),
      (thrown) => done({ error: asTirelessError(thrown).message.slice(0, LONGEST_ERROR) }),
    )
    return undefined
  }

  #close(id: number): void {
    this.#open.delete(id)
    this.#asks.delete(id)
    if (this.#open.size === 0) this.#idle.resolve()
  }
}

function errorOf({ code, message, retryAfterMs }: Extract<OfCall, { type: 'error' }>, { codes }: PluginCall) {
  const own = Object.hasOwn(ERROR_CODES, code) && codes.includes(code as ErrorCode) ? (code as ErrorCode) : codes[0]
  return new TirelessError(own, message.slice(0, LONGEST_ERROR), { retryAfterMs })
}
