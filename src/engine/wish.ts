/** A behaviour's own decision, checked like a model's: a wish names tools and arguments, and what it may not do comes back as a fault. */

import type { Call, Decision } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import { checkReturn, type Method } from './ask-plugin.ts'
import { emptyAnswer } from './decision-of.ts'
import { wishPort } from './return-shapes.ts'
import { checkArgs, type Toolbox } from './toolbox.ts'

/** Whose wish it is, and what it is checked against. */
export interface WishSource extends Method {
  readonly toolbox: Toolbox
  readonly turn: number
}

/** Contract: never throws, whatever it is given; of a branch each candidate is checked by itself. */
export function decisionOfWish(wish: unknown, source: WishSource): Decision {
  const candidates = candidatesOf(wish)
  if (!candidates) return plainDecision(wish, source)
  if (candidates.length === 0) return invalid('a branch without candidates')
  return { kind: 'branch', candidates: candidates.map((candidate) => candidateOf(candidate, source)) }
}

/** Contract: as `decisionOfWish`, for one of several: it is no branch itself. */
export function candidateOf(wish: unknown, source: WishSource): Decision {
  return candidatesOf(wish) ? invalid('a branch inside a branch') : plainDecision(wish, source)
}

function candidatesOf(wish: unknown): readonly unknown[] | undefined {
  try {
    const { kind, candidates } = wish as { readonly kind?: unknown; readonly candidates?: unknown }
    return kind === 'branch' && Array.isArray(candidates) ? candidates : undefined
  } catch {
    return undefined
  }
}

function plainDecision(wanted: unknown, { who, method, toolbox, turn }: WishSource): Decision {
  try {
    const wish = checkReturn(wishPort(who, method), wanted)
    if (wish.kind === 'final' && wish.answer.trim() === '') return emptyAnswer()
    if (wish.kind !== 'act') return wish
    if (wish.calls.length === 0) return invalid('a decision to act names no action; say what to do, or finish')
    const calls = wish.calls.map(({ tool, args = {}, id, timeoutMs }, index): Call => {
      const call = checkArgs(toolbox, { id: id ?? `own_t${turn}_${index}`, tool }, args)
      return timeoutMs === undefined ? call : { ...call, timeoutMs }
    })
    const faults = calls.flatMap(({ fault }) => fault ?? [])
    if (faults.length > 0) return { kind: 'invalid', feedback: faults.join('; '), calls }
    return { kind: 'act', calls, ...(wish.failFast === undefined ? {} : { failFast: wish.failFast }) }
  } catch (thrown) {
    return invalid(asTirelessError(thrown).message)
  }
}

export const invalid = (feedback: string): Decision => ({ kind: 'invalid', feedback, calls: [] })
