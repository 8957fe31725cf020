/**
 * Summary: the window, and an extract of the turns before it: what was said, and of the results what tells most. What is summarised is
 * exactly what was given up.
 */

import type { Memory, PastTurn } from '../ports/memory.ts'
import { added, type Gist, gistOf, gistText } from './gist.ts'
import { slide } from './slide.ts'

/** Characters. */
const LIMIT = 6000
/** Turns of which each has a gist of its own; those before share one. */
const GISTS = 5000

export function summaryMemory(n: number): Memory {
  const turns = slide<PastTurn>(n)
  let given: readonly Gist[] = []
  let all: Gist | undefined
  let last: { readonly limit: number; readonly text: string } | undefined

  const giveUp = (gone: readonly PastTurn[]): number => {
    if (gone.length === 0) return 0
    const gists = gone.map(gistOf)
    given = shortened([...given, ...gists])
    all = inOne(all ? [all, ...gists] : gists)
    last = undefined
    return gone.length
  }
  const summaryWithin = (limit: number): string => {
    if (last?.limit !== limit) last = { limit, text: textOf(all, limit) }
    return last.text
  }
  return {
    reset() {
      turns.reset()
      given = []
      all = undefined
      last = undefined
    },
    append(turn) {
      giveUp(turns.add(turn))
    },
    retrieve: ({ room = LIMIT }) => ({
      from: turns.from(),
      summary: summaryWithin(Math.min(room, LIMIT)),
      recalled: [],
    }),
    summarise: (from, upto) => {
      const gists = [...given, ...turns.shown().map(gistOf)]
      return textOf(inOne(gists.filter(({ turn, last: end }) => from <= turn && end < upto)), LIMIT)
    },
    evict: () => giveUp(turns.halve()),
  }
}

function shortened(gists: readonly Gist[]): readonly Gist[] {
  const eldest = inOne(gists.slice(0, -GISTS))
  return eldest ? [eldest, ...gists.slice(-GISTS)] : gists
}

function textOf(gist: Gist | undefined, limit: number): string {
  return gist ? gistText(gist, limit) : ''
}

function inOne([first, ...rest]: readonly Gist[]): Gist | undefined {
  return first && rest.reduce(added, first)
}
