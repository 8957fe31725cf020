/**
 * Recall memory: the summary, and the earlier turns that best match the current turn. These turns are chosen by the
 * first query after the window has moved, and kept until it moves again: a prompt that changed with every query could
 * not be cached.
 */

import type { DeterministicMemory, PastTurn } from '../ports/memory.ts'
import { type Passage, passageFromTurn, rankPassages } from './bm25.ts'
import { summaryMemory } from './summary.ts'

const MAX_SNIPPETS = 3
/** Maximum number of earlier turns that can be recalled; older turns are dropped. */
const MAX_PASSAGES = 5000

export function recallMemory(n: number): DeterministicMemory {
  const summary = summaryMemory(n)
  let shown: PastTurn[] = []
  let passages: Passage[] = []
  let recalled: { readonly from: number; readonly snippets: readonly string[] } | undefined

  /** Turns that left the summary's window become searchable. */
  const indexEvictedTurns = (): void => {
    const { from } = summary.retrieve({ text: '', maxChars: 0 })
    const gone = shown.filter(({ turn }) => turn < from)
    if (gone.length === 0) return
    shown = shown.slice(gone.length)
    passages = [...passages, ...gone.map(passageFromTurn)].slice(-MAX_PASSAGES)
  }
  return {
    ...summary,
    reset() {
      summary.reset()
      shown = []
      passages = []
      recalled = undefined
    },
    append(turn) {
      summary.append(turn)
      shown.push(turn)
      indexEvictedTurns()
    },
    retrieve(query) {
      const view = summary.retrieve(query)
      if (recalled?.from !== view.from)
        recalled = { from: view.from, snippets: rankPassages(passages, query.text, MAX_SNIPPETS) }
      return { ...view, recalled: recalled.snippets }
    },
    evict() {
      const turns = summary.evict()
      indexEvictedTurns()
      return turns
    },
  }
}
