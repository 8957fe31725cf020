/** Time, injected. Durable deadlines are wall instants; timeouts inside a process are monotonic. */
export interface Clock {
  /** Contract: wall time, epoch milliseconds; may jump either way. */
  now(): number
  /** Contract: milliseconds that never go back; the origin means nothing. */
  monotonic(): number
  /** Contract: resolves after `ms` of monotonic time, or at once when `signal` aborts; never rejects; any length (also beyond 24.8 days). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const iso = (ms: number): string => new Date(ms).toISOString()
