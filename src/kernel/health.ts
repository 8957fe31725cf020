/**
 * Health: from what cycles came to, not from whether the loop turns.
 * Must not know: who asks.
 */

import type { Cycle } from '../domain/cycle.ts'
import type { Note } from '../domain/note.ts'

/** So many cycles without a single success since the program began. */
const NEVER_SUCCEEDED = 3

export interface Pulse {
  /** Newest first. */
  readonly cycles: readonly Cycle[]
  readonly now: number
  /** Since when the kernel is at work in this process; null where it is not. */
  readonly since: number | null
  readonly paused: boolean
  /** From one beat to the next. */
  readonly beatMs: number
}

/** Contract: pure; empty where all is well. */
export function ailments({ cycles, now, since, paused, beatMs }: Pulse): readonly Note[] {
  const ended = cycles.filter(({ ended_at }) => ended_at !== null)
  const telling = ended.filter(({ result }) => result?.status === 'error' || (result?.agents.length ?? 0) > 0)
  const bad = telling.findIndex(({ result }) => result?.status !== 'failed' && result?.status !== 'error')
  const streak = bad < 0 ? telling.length : bad
  const [last] = telling
  const own = since === null ? [] : telling.filter(({ started_at }) => Date.parse(started_at) >= since)
  const succeeded = own.some(({ result }) => result?.status === 'success' || result?.status === 'partial_success')
  const latest = ended[0]?.started_at ?? (since === null ? undefined : new Date(since).toISOString())
  const silent =
    !paused && since !== null && latest !== undefined && now - Math.max(Date.parse(latest), since) > 2 * beatMs + 60_000
  return [
    ...(streak > 0 && last?.result
      ? [{ about: 'failing', text: `the last ${streak === 1 ? 'cycle' : `${streak} cycles`} failed: ${why(last)}` }]
      : []),
    ...(own.length >= NEVER_SUCCEEDED && !succeeded
      ? [{ about: 'never succeeded', text: 'no cycle has succeeded since the kernel was started' }]
      : []),
    ...(silent
      ? [
          {
            about: 'silent',
            text: `no cycle since ${latest}, though one is due every ${Math.round(beatMs / 1000)} s`,
          },
        ]
      : []),
  ]
}

function why({ result }: Cycle): string {
  if (!result) return 'it was never ended'
  return result.error ?? `${result.failed} of ${result.agents.length} dispatches (${result.failed_agents.join(', ')})`
}
