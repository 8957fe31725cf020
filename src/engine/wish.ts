/** A behaviour's own decision, checked like a model's: a wish names tools and arguments, and what it may not do comes back as a fault. */

import type { Call, Decision } from '../domain/decision.ts'
import { isInstant } from '../domain/limits.ts'
import type { Wish } from '../ports/behaviour.ts'
import { emptyAnswer } from './decision-of.ts'
import { checkArgs, type Toolbox } from './toolbox.ts'

export function decisionOfWish(wish: Wish, toolbox: Toolbox, turn: number, inside = false): Decision {
  switch (wish.kind) {
    case 'act': {
      if (wish.calls.length === 0) return invalid('a decision to act names no action; say what to do, or finish')
      const calls = wish.calls.map(({ tool, args = {}, id, timeoutMs }, index): Call => {
        const call = checkArgs(toolbox, { id: id ?? `own_t${turn}_${index}`, tool }, args)
        return timeoutMs === undefined ? call : { ...call, timeoutMs }
      })
      const faults = calls.flatMap(({ fault }) => fault ?? [])
      if (faults.length > 0) return { kind: 'invalid', feedback: faults.join('; '), calls }
      return { kind: 'act', calls, ...(wish.failFast === undefined ? {} : { failFast: wish.failFast }) }
    }
    case 'final':
      if (typeof wish.answer !== 'string' || wish.answer.trim() === '') return emptyAnswer()
      return wish
    case 'wait':
      if (wish.until !== undefined && !isInstant(wish.until))
        return invalid(
          `a wait until ${wish.until}, which is no instant; give whole epoch milliseconds in the years 1970 to 9999, or none`,
        )
      return wish
    case 'branch':
      if (inside) return invalid('a branch inside a branch')
      if (wish.candidates.length === 0) return invalid('a branch without candidates')
      return {
        kind: 'branch',
        candidates: wish.candidates.map((candidate) => decisionOfWish(candidate, toolbox, turn, true)),
      }
    default:
      return invalid(`this is no decision: ${JSON.stringify(wish)?.slice(0, 200)}`)
  }
}

export const invalid = (feedback: string): Decision => ({ kind: 'invalid', feedback, calls: [] })
