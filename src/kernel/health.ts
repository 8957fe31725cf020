/**
 * Health of the kernel, judged by the results of its cycles, not by whether its loop runs.
 * Must not know: what the problems are used for.
 */

import { type Cycle, type CycleResult, ENDED_DURING_CYCLE } from '../domain/cycle.ts'
import type { OwnerNote } from '../domain/owner-note.ts'

/** This many cycles of this process without a success are a problem. */
const MIN_CYCLES_WITHOUT_SUCCESS = 3

interface KernelActivity {
  /** The last cycles, newest first. */
  readonly cycles: readonly Cycle[]
  readonly now: number
  /** When the kernel started in this process; null if it has not. */
  readonly since: number | null
  readonly paused: boolean
  /** Milliseconds between beats. */
  readonly beatMs: number
}

/** Contract: pure; the problems of the kernel; empty if it is healthy. */
export function healthProblems({ cycles, now, since, paused, beatMs }: KernelActivity): readonly OwnerNote[] {
  const ended = cycles.filter(({ ended_at }) => ended_at !== null)
  // An interrupted cycle says something about the process that died, not about this process.
  const complete = ended.filter(({ result }) => result?.error !== ENDED_DURING_CYCLE)
  const relevant = complete.filter(({ result }) => result?.status === 'error' || (result?.agents.length ?? 0) > 0)
  const firstGood = relevant.findIndex(({ result }) => result?.status !== 'failed' && result?.status !== 'error')
  const streak = firstGood < 0 ? relevant.length : firstGood
  const [last] = relevant
  const ofThisProcess = since === null ? [] : relevant.filter(({ started_at }) => Date.parse(started_at) >= since)
  const succeeded = ofThisProcess.some(
    ({ result }) => result?.status === 'success' || result?.status === 'partial_success',
  )
  const latest = ended[0]?.started_at ?? (since === null ? undefined : new Date(since).toISOString())
  const isOverdue =
    !paused && since !== null && latest !== undefined && now - Math.max(Date.parse(latest), since) > 2 * beatMs + 60_000
  return [
    ...(streak > 0 && last?.result
      ? [
          {
            about: 'failing',
            text: `the last ${streak === 1 ? 'cycle' : `${streak} cycles`} failed: ${describeFailure(last.result)}`,
            zh: `最近 ${streak} 个周期失败：${describeFailureZh(last.result)}`,
          },
        ]
      : []),
    ...(ofThisProcess.length >= MIN_CYCLES_WITHOUT_SUCCESS && !succeeded
      ? [
          {
            about: 'never succeeded',
            text: 'no cycle has succeeded since the kernel was started',
            zh: '内核启动以来没有一个周期成功',
          },
        ]
      : []),
    ...(isOverdue
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

const describeFailure = ({ error, failed, agents, failed_agents }: CycleResult): string =>
  error ?? `${failed} of ${agents.length} dispatches (${failed_agents.join(', ')})`

const describeFailureZh = ({ error, failed, agents, failed_agents }: CycleResult): string =>
  error ?? `${agents.length} 个任务中 ${failed} 个失败（${failed_agents.join('、')}）`
