/**
 * The behaviour that answers a question about the past: it only reads the records. An answer that was given without
 * looking, or that names a run, a file or an amount which no result has, goes back to the model once.
 */

import { z } from 'zod'
import type { Verdict } from '../domain/decision.ts'
import { PAST_TOOLS } from '../domain/past-tools.ts'
import { type Behaviour, type CompletedStep, defineBehaviour } from '../ports/behaviour.ts'
import { loadPrompt, loadPromptParts } from '../prompts/load-prompt.ts'
import { findUnknownNames, mergeNames, NO_NAMES, namesIn } from './cited-names.ts'

export const ANSWER_BEHAVIOUR = 'answer'

const state = z.object({
  known: z.object({ ids: z.array(z.string()), paths: z.array(z.string()), amounts: z.array(z.number()) }),
  /** Results that were read. */
  results: z.number(),
  /** Answers that had something wrong. */
  faults: z.number(),
})
type State = z.infer<typeof state>

/** Contract: what is wrong with an answer, as the model reads it; undefined if nothing is. */
function findFault(answer: string, { known, results }: State): string | undefined {
  if (results === 0) return loadPrompt('retries/answer.md#not_looked')
  const unknown = findUnknownNames(answer, known)
  return unknown.length === 0 ? undefined : loadPrompt('retries/answer.md#unknown', { names: unknown.join(', ') })
}

const answerOf = ({ decision }: CompletedStep): string | undefined =>
  decision.kind === 'final' ? decision.answer : undefined

function addStep(before: State, step: CompletedStep): State {
  const read = step.results.filter(({ status }) => status === 'ok').map(({ content }) => namesIn(content))
  const known = read.reduce(mergeNames, before.known)
  const after = { ...before, results: before.results + read.length, known: copyNames(known) }
  const answer = answerOf(step)
  const isFaulty = answer !== undefined && findFault(answer, after) !== undefined
  return { ...after, faults: after.faults + (isFaulty ? 1 : 0) }
}

const copyNames = ({ ids, paths, amounts }: typeof NO_NAMES): State['known'] => ({
  ...{ ids: [...ids], paths: [...paths], amounts: [...amounts] },
})

/** Once: a model that insists gives its answer, and people are told what is not in the records. */
function judge(now: State, step: CompletedStep): Verdict {
  const answer = answerOf(step)
  const fault = answer === undefined || now.faults !== 1 ? undefined : findFault(answer, now)
  return fault === undefined ? { kind: 'continue' } : { kind: 'retry', instruction: fault }
}

export const answerBehaviour: Behaviour = defineBehaviour<State>({
  name: ANSWER_BEHAVIOUR,
  tools: [...PAST_TOOLS, 'finish'],
  state: { version: 1, schema: state },
  critics: [{ name: 'cited_names', judge }],
  initState: () => ({ known: copyNames(NO_NAMES), results: 0, faults: 0 }),
  buildSystemPrompt: () => loadPromptParts('system/answer.md'),
  reduce: addStep,
})
