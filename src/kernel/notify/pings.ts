/**
 * Pings to the configured URL; a service there raises the alarm if they stay away.
 * Must not know: when a ping is due.
 * Invariant: I9 (a ping that fails or hangs delays nothing).
 */

import { asTirelessError } from '../../domain/error.ts'
import { startTimer } from '../../ports/deadline.ts'
import type { DeliveryDeps } from './deliverer.ts'

const TIMEOUT_MS = 10_000

export interface PingDeps extends Pick<DeliveryDeps, 'clock' | 'log'> {
  /** Contract: sends a GET request; rejects on failure. */
  ping(url: string, signal: AbortSignal): Promise<void>
}

export class Pings {
  readonly #deps: PingDeps
  /** The running pings, by the controller that aborts each. */
  readonly #running = new Map<AbortController, Promise<void>>()

  constructor(deps: PingDeps) {
    this.#deps = deps
  }

  /** Contract: never throws, does not wait for the reply. */
  send(url: string): void {
    const { clock, log, ping } = this.#deps
    const timeout = new AbortController()
    const stopTimer = startTimer(clock, TIMEOUT_MS, () => timeout.abort())
    const pinging = ping(url, timeout.signal)
      .catch((thrown) => log('warn', 'ping failed', { message: asTirelessError(thrown).message }))
      .finally(() => {
        stopTimer()
        this.#running.delete(timeout)
      })
    this.#running.set(timeout, pinging)
  }

  abort(): void {
    for (const timeout of this.#running.keys()) timeout.abort()
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }
}
