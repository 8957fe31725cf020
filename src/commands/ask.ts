/** Answers a question about what happened, from the records of the home. */

import { z } from 'zod'
import { ANSWER_BEHAVIOUR } from '../behaviours/answer.ts'
import { findUnknownNames, mergeNames, NO_NAMES, namesIn } from '../behaviours/cited-names.ts'
import { isTerminal } from '../domain/dispatch.ts'
import { labelOfJournal } from '../domain/journal-label.ts'
import { recordsOfRun } from '../domain/journal-record.ts'
import { TRUSTS } from '../domain/label.ts'
import { type Language, languageOf } from '../domain/language.ts'
import { answerByRule } from '../past/answer-by-rule.ts'
import { QUESTION_KINDS, readQuestion } from '../past/question.ts'
import { iso } from '../ports/clock.ts'
import { isOfflineModel } from '../ports/model.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { ignoreProgress, type Progress } from './lib/progress.ts'
import { enqueueTask } from './queue.ts'
import { FOLLOW_NEEDS, FOREGROUND_PRIORITY, watchDispatch } from './run.ts'

const askOutput = z.object({
  answer: z.string(),
  answered_by: z.enum(['rules', 'model']).describe('fixed rules, or a model that read the records'),
  kind: z.enum(QUESTION_KINDS).nullable().describe('what the question asks for; null: not understood by rule'),
  from: z.string().nullable().describe('begin of the period that the question names'),
  to: z.string().nullable().describe('end of that period, not included'),
  not_found: z.array(z.string()).describe('runs, files and amounts that the model names and no record shows'),
  dispatch_id: z.string().nullable().describe('the run in which the model answered'),
  label: z
    .object({ trust: z.enum(TRUSTS), private: z.boolean() })
    .describe('label of what the answer quotes: the results of runs may quote text from outside'),
})

type Answer = z.input<typeof askOutput>

const NEEDS = [
  ...FOLLOW_NEEDS,
  ...(['agents', 'ids', 'kernelId', 'models', 'past', 'prepareWorkspace', 'redact', 'tellRun'] as const),
] as const
type AskNeeds = Needs<(typeof NEEDS)[number]>

export const ask = defineCommand({
  name: 'ask',
  summary: 'ask what was done, what it cost, what failed, what waits for you, or why; answered from the records',
  example: 'ask "what did you do yesterday?"',
  runsIn: 'any_process',
  needs: NEEDS,
  positional: ['question'],
  input: z.object({
    question: z.string().trim().min(1).max(2000).describe('the question, in English or Chinese'),
    rules: z.boolean().default(false).describe('answer by fixed rules, without a model'),
  }),
  output: askOutput,
  async run(context, { question, rules }, tell) {
    const byRule = rules || isOfflineModel((await context.models.choice()).id)
    return (byRule ? undefined : await askModel(context, question, tell)) ?? (await askRules(context, question))
  },
})

async function askRules({ past, redact }: Needs<'past' | 'redact'>, question: string): Promise<Answer> {
  const { text, kind, period, label } = await answerByRule(past, question)
  return {
    ...{ answer: redact(text), answered_by: 'rules', kind: kind ?? null, not_found: [], dispatch_id: null },
    ...{ from: period ? iso(period.from) : null, to: period ? iso(period.to) : null, label: { ...label } },
  }
}

/** Steps of a run that answers: a few looks, one answer, one correction. */
const MAX_STEPS = 12

/** Contract: undefined if the model gave no answer from the records; then the rules answer. */
async function askModel(
  context: AskNeeds,
  question: string,
  tell: (progress: Progress) => void,
): Promise<Answer | undefined> {
  const { store, redact } = context
  const { dispatch_id, session_id } = await enqueueTask(context, {
    ...{ agent: 'default', prompt: question, priority: FOREGROUND_PRIORITY, source: 'ask' },
    metadata: { behaviour: ANSWER_BEHAVIOUR, budget: { steps: MAX_STEPS } },
  })
  await watchDispatch(context, dispatch_id, ignoreProgress)
  const dispatch = await store.dispatch(dispatch_id)
  const records = recordsOfRun(await store.journal(session_id), dispatch_id)
  const results = records.flatMap((record) =>
    record.kind === 'call_settled' && record.result.status === 'ok' ? [namesIn(record.result.content)] : [],
  )
  const answer = dispatch?.status === 'done' ? dispatch.result : null
  if (answer === null || results.length === 0) {
    if (dispatch && !isTerminal(dispatch.status)) await cancelRun(context, dispatch_id)
    const why = answer === null ? (dispatch?.error ?? 'it did not answer') : 'it did not look into the records'
    tell({ kind: 'note', text: `The model gave no answer (${why}). This is the answer by rule.` })
    return undefined
  }
  const not_found = [...findUnknownNames(answer, results.reduce(mergeNames, NO_NAMES))]
  const { kind, period } = readQuestion(question, context.past.now(), context.past.clock())
  const asked = period.kind === 'period' ? period.period : undefined
  return {
    ...{ answer: redact(withWarning(answer, not_found, languageOf(question))), answered_by: 'model' },
    ...{ kind: kind ?? null, from: asked ? iso(asked.from) : null, to: asked ? iso(asked.to) : null },
    ...{ not_found, dispatch_id, label: { ...labelOfJournal(records) } },
  }
}

/** No caller waits for the answer any more. */
async function cancelRun({ store, clock, tellRun }: AskNeeds, dispatch_id: string): Promise<void> {
  await commitOne(store, [{ op: 'cancel', dispatch_id, how: 'immediate', now: clock.now() }])
  tellRun(dispatch_id, 'immediate')
}

const WARNINGS: Readonly<Record<Language, (names: string) => string>> = {
  en: (names) => `Warning: the records that the model read do not show ${names}.`,
  zh: (names) => `注意：模型读到的记录里没有 ${names}。`,
}

/** Contract: pure; the answer of a model, with what no record shows. */
function withWarning(answer: string, not_found: readonly string[], language: Language): string {
  return not_found.length === 0 ? answer : `${answer.trimEnd()}\n\n${WARNINGS[language](not_found.join(', '))}`
}
