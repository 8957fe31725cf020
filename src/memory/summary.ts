/** Summary: the window, and a short extract of the turns before it. What is summarised is exactly what was given up. */

import type { Memory } from '../ports/memory.ts'
import { added, type Gist, gistOf, gistText } from './gist.ts'
import { slide } from './slide.ts'

const LIMIT = 2000
/** Turns of which each has a gist of its own; those before share one. */
const GISTS = 5000

export function summaryMemory(n: number): Memory {
  const turns = slide<Gist>(n)
  let given: readonly Gist[] = []
  let all: Gist | undefined
  let summary = ''

  const giveUp = (gone: readonly Gist[]): number => {
    if (gone.length === 0) return 0
    given = shortened([...given, ...gone])
    all = inOne(all ? [all, ...gone] : gone)
    summary = textOf(all)
    return gone.length
  }
  return {
    reset() {
      turns.reset()
      given = []
      all = undefined
      summary = ''
    },
    append(turn) {
      giveUp(turns.add(gistOf(turn)))
    },
    retrieve: () => ({ from: turns.from(), summary, recalled: [] }),
    summarise: (from, upto) =>
      textOf(inOne([...given, ...turns.shown()].filter(({ turn, last }) => from <= turn && last < upto))),
    evict: () => giveUp(turns.halve()),
  }
}

function shortened(gists: readonly Gist[]): readonly Gist[] {
  const eldest = inOne(gists.slice(0, -GISTS))
  return eldest ? [eldest, ...gists.slice(-GISTS)] : gists
}

function textOf(gist: Gist | undefined): string {
  return gist ? gistText(gist, LIMIT) : ''
}

function inOne([first, ...rest]: readonly Gist[]): Gist | undefined {
  return first && rest.reduce(added, first)
}
