/**
 * Health: from what cycles came to, not from whether the loop turns.
 * Must not know: who asks.
 */

import { CUT_SHORT, type Cycle, type CycleResult } from '../domain/cycle.ts'
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
  // One that was cut short says something of the process that is gone, not of this one.
  const whole = ended.filter(({ result }) => result?.error !== CUT_SHORT)
  const telling = whole.filter(({ result }) => result?.status === 'error' || (result?.agents.length ?? 0) > 0)
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
      ? [
          {
            about: 'failing',
            text: `the last ${streak === 1 ? 'cycle' : `${streak} cycles`} failed: ${why(last.result)}`,
            zh: `最近 ${streak} 个周期失败：${whyZh(last.result)}`,
          },
        ]
      : []),
    ...(own.length >= NEVER_SUCCEEDED && !succeeded
      ? [
          {
            about: 'never succeeded',
            text: 'no cycle has succeeded since the kernel was started',
            zh: '内核启动以来没有一个周期成功',
          },
        ]
      : []),
    ...(silent
      ? [
          {
            about: 'silent',
            text: `no cycle since ${latest}, though one is due every ${Math.round(beatMs / 1000)} s`,
            zh: `自 ${latest} 起没有周期，而每 ${Math.round(beatMs / 1000)} 秒应有一个`,
          },
        ]
      : []),
  ]
}

const why = ({ error, failed, agents, failed_agents }: CycleResult): string =>
  error ?? `${failed} of ${agents.length} dispatches (${failed_agents.join(', ')})`

const whyZh = ({ error, failed, agents, failed_agents }: CycleResult): string =>
  error ?? `${agents.length} 个任务中 ${failed} 个失败（${failed_agents.join('、')}）`
