/**
 * Recall: the window, and of the turns before it those that have most to do with what the present turn is about. They are chosen
 * with the first question asked after the window has moved, and stay until it moves again: a prompt that changed with every question
 * could never be cached.
 */

import type { Memory, PastTurn } from '../ports/memory.ts'
import { type Passage, passageOf, ranked } from './rank.ts'
import { slide } from './slide.ts'

const SNIPPETS = 3
/** Turns that can be recalled; those before are gone. */
const PASSAGES = 5000

export function recallMemory(n: number): Memory {
  const turns = slide<PastTurn>(n)
  let given: Passage[] = []
  let recalled: readonly string[] | undefined

  const giveUp = (gone: readonly PastTurn[]): number => {
    if (gone.length === 0) return 0
    given = [...given, ...gone.map(passageOf)].slice(-PASSAGES)
    recalled = undefined
    return gone.length
  }
  return {
    reset() {
      turns.reset()
      given = []
      recalled = undefined
    },
    append(turn) {
      giveUp(turns.add(turn))
    },
    retrieve({ text }) {
      recalled ??= ranked(given, text, SNIPPETS)
      return { from: turns.from(), summary: '', recalled }
    },
    summarise: () => '',
    evict: () => giveUp(turns.halve()),
  }
}
