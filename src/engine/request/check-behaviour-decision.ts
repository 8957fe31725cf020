/** Checks the decision that a behaviour proposes by the same rules as a model's answer. */

import type { Call, Decision } from '../../domain/decision.ts'
import { asTirelessError } from '../../domain/error.ts'
import { checkReturn, type PluginMethod } from '../plugins/ask-plugin.ts'
import { decisionPort } from '../plugins/return-shapes.ts'
import { emptyAnswerDecision } from './parse-decision.ts'
import { checkCallArgs, type Toolbox } from './toolbox.ts'

/** Which method proposed the decision in which turn, and the toolbox that its calls are checked against. */
interface DecisionSource extends PluginMethod {
  readonly toolbox: Toolbox
  readonly turn: number
}

/**
 * Contract: never throws; an unusable value becomes an invalid decision. The candidates of a branch are checked one by
 * one.
 */
export function checkProposedDecision(decision: unknown, source: DecisionSource): Decision {
  const candidates = candidatesOf(decision)
  if (!candidates) return checkSingle(decision, source)
  if (candidates.length === 0) return invalidDecision('the branch has no candidates')
  return { kind: 'branch', candidates: candidates.map((candidate) => checkCandidate(candidate, source)) }
}

/** Contract: like `checkProposedDecision`, for one candidate, which must not be a branch. */
export function checkCandidate(decision: unknown, source: DecisionSource): Decision {
  return candidatesOf(decision)
    ? invalidDecision('a branch must not contain another branch')
    : checkSingle(decision, source)
}

function candidatesOf(decision: unknown): readonly unknown[] | undefined {
  try {
    const { kind, candidates } = decision as { readonly kind?: unknown; readonly candidates?: unknown }
    return kind === 'branch' && Array.isArray(candidates) ? candidates : undefined
  } catch {
    return undefined
  }
}

function checkSingle(proposal: unknown, { who, method, toolbox, turn }: DecisionSource): Decision {
  try {
    const decision = checkReturn(decisionPort(who, method), proposal)
    if (decision.kind === 'final' && decision.answer.trim() === '') return emptyAnswerDecision()
    if (decision.kind !== 'act') return decision
    if (decision.calls.length === 0)
      return invalidDecision("a decision of kind 'act' needs at least one call; name a call, or finish")
    const calls = decision.calls.map(({ tool, args = {}, id, timeoutMs }, index): Call => {
      const call = checkCallArgs(toolbox, { id: id ?? `own_t${turn}_${index}`, tool }, args)
      return timeoutMs === undefined ? call : { ...call, timeoutMs }
    })
    const faults = calls.flatMap(({ fault }) => fault ?? [])
    if (faults.length > 0) return { kind: 'invalid', feedback: faults.join('; '), calls }
    return { kind: 'act', calls, ...(decision.failFast === undefined ? {} : { failFast: decision.failFast }) }
  } catch (thrown) {
    return invalidDecision(asTirelessError(thrown).message)
  }
}

export const invalidDecision = (feedback: string): Decision => ({ kind: 'invalid', feedback, calls: [] })
