/**
 * Summary memory: the window, and a summary of all earlier turns, made of answers and the most informative lines of
 * results.
 */

import type { DeterministicMemory, PastTurn } from '../ports/memory.ts'
import { slidingWindow } from './sliding-window.ts'
import { mergeSummaries, renderSummary, summariseTurn, type TurnSummary } from './turn-summary.ts'

/** Maximum length of a summary in characters. */
const MAX_SUMMARY = 6000
/** Maximum number of turns with a summary of their own; earlier turns share one summary. */
const MAX_SINGLE_SUMMARIES = 5000

export function summaryMemory(n: number): DeterministicMemory {
  const turns = slidingWindow<PastTurn>(n)
  let evicted: readonly TurnSummary[] = []
  let all: TurnSummary | undefined
  let last: { readonly limit: number; readonly text: string } | undefined

  const summariseTurns = (gone: readonly PastTurn[]): number => {
    if (gone.length === 0) return 0
    const summaries = gone.map(summariseTurn)
    evicted = limitSummaries([...evicted, ...summaries])
    all = mergeAll(all ? [all, ...summaries] : summaries)
    last = undefined
    return gone.length
  }
  const summaryWithin = (limit: number): string => {
    if (last?.limit !== limit) last = { limit, text: renderOrEmpty(all, limit) }
    return last.text
  }
  return {
    reset() {
      turns.reset()
      evicted = []
      all = undefined
      last = undefined
    },
    append(turn) {
      summariseTurns(turns.add(turn))
    },
    retrieve: ({ maxChars: room = MAX_SUMMARY }) => ({
      from: turns.from(),
      summary: summaryWithin(Math.min(room, MAX_SUMMARY)),
      recalled: [],
    }),
    summarise: (from, upto) => {
      const summaries = [...evicted, ...turns.shown().map(summariseTurn)]
      return renderOrEmpty(
        mergeAll(summaries.filter(({ turn, lastTurn: end }) => from <= turn && end < upto)),
        MAX_SUMMARY,
      )
    },
    evict: () => summariseTurns(turns.evictHalf()),
  }
}

function limitSummaries(summaries: readonly TurnSummary[]): readonly TurnSummary[] {
  const oldest = mergeAll(summaries.slice(0, -MAX_SINGLE_SUMMARIES))
  return oldest ? [oldest, ...summaries.slice(-MAX_SINGLE_SUMMARIES)] : summaries
}

function renderOrEmpty(summary: TurnSummary | undefined, limit: number): string {
  return summary ? renderSummary(summary, limit) : ''
}

function mergeAll([first, ...rest]: readonly TurnSummary[]): TurnSummary | undefined {
  return first && rest.reduce(mergeSummaries, first)
}
