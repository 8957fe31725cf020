/**
 * Clock: injected time. Deadlines that are stored are wall times; timeouts within a process are monotonic. Beats,
 * timers and messages follow `now`; what deletes, expires or denies follows `borneOut` (`domain/borne-out.ts`).
 */

/** What a program gives to an app, which adds what the commits of its store bear out. */
export interface BasicClock {
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

export interface Clock extends BasicClock {
  /** Contract: `now`, unless the wall clock is in doubt; then the time that is borne out. Never later than `now`. */
  borneOut(): number
  /** Contract: the instant whose day counts for caps of a day: a jump of the clock opens one new day at most. */
  budgetNow(): number
}

/** Contract: a clock whose wall time is believed. */
export const believed = (clock: BasicClock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  borneOut: () => clock.now(),
  budgetNow: () => clock.now(),
})

export const iso = (ms: number): string => new Date(ms).toISOString()
