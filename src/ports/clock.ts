/** Clock: injected time. Deadlines that are stored are wall times; timeouts within a process are monotonic. */
export interface Clock {
  /** Contract: wall time in epoch milliseconds; may jump in either direction. */
  now(): number
  /** Contract: milliseconds since an arbitrary origin; never decreases. */
  monotonic(): number
  /**
   * Contract: resolves after `ms` of monotonic time or when `signal` aborts; never rejects. Unlike a timer of Node, it
   * can sleep for more than 24.8 days.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const iso = (ms: number): string => new Date(ms).toISOString()
