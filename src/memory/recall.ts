/**
 * Recall: the summary, and of the turns before the window those that have most to do with what the present turn is about. They are chosen
 * with the first question asked after the window has moved, and stay until it moves again: a prompt that changed with every question
 * could never be cached.
 */

import type { Memory, PastTurn } from '../ports/memory.ts'
import { type Passage, passageOf, ranked } from './rank.ts'
import { summaryMemory } from './summary.ts'

const SNIPPETS = 3
/** Turns that can be recalled; those before are gone. */
const PASSAGES = 5000

export function recallMemory(n: number): Memory {
  const summary = summaryMemory(n)
  let shown: PastTurn[] = []
  let given: Passage[] = []
  let recalled: { readonly from: number; readonly snippets: readonly string[] } | undefined

  /** What the summary has given up can be recalled. */
  const follow = (): void => {
    const { from } = summary.retrieve({ text: '', room: 0 })
    const gone = shown.filter(({ turn }) => turn < from)
    if (gone.length === 0) return
    shown = shown.slice(gone.length)
    given = [...given, ...gone.map(passageOf)].slice(-PASSAGES)
  }
  return {
    ...summary,
    reset() {
      summary.reset()
      shown = []
      given = []
      recalled = undefined
    },
    append(turn) {
      summary.append(turn)
      shown.push(turn)
      follow()
    },
    retrieve(query) {
      const view = summary.retrieve(query)
      if (recalled?.from !== view.from) recalled = { from: view.from, snippets: ranked(given, query.text, SNIPPETS) }
      return { ...view, recalled: recalled.snippets }
    },
    evict() {
      const turns = summary.evict()
      follow()
      return turns
    },
  }
}
