/** Answers a question about what happened, from the records of the home. */

import { z } from 'zod'
import { TRUSTS } from '../domain/label.ts'
import { answerByRule } from '../past/answer-by-rule.ts'
import { QUESTION_KINDS } from '../past/question.ts'
import { iso } from '../ports/clock.ts'
import { defineCommand } from './lib/command.ts'

const askOutput = z.object({
  answer: z.string(),
  answered_by: z.enum(['rules', 'model']).describe('fixed rules, or a model that read the records'),
  kind: z.enum(QUESTION_KINDS).nullable().describe('what the question asks for; null: not understood'),
  from: z.string().nullable().describe('begin of the period that the question names'),
  to: z.string().nullable().describe('end of that period, not included'),
  label: z
    .object({ trust: z.enum(TRUSTS), private: z.boolean() })
    .describe('label of what the answer quotes: the results of runs may quote text from outside'),
})

export const ask = defineCommand({
  name: 'ask',
  summary: 'ask what was done, what it cost, what failed, what waits for you, or why; answered from the records',
  example: 'ask "what did you do yesterday?"',
  runsIn: 'any_process',
  needs: ['past', 'redact'],
  positional: ['question'],
  input: z.object({
    question: z.string().trim().min(1).max(2000).describe('the question, in English or Chinese'),
  }),
  output: askOutput,
  async run({ past, redact }, { question }) {
    const { text, kind, period, label } = await answerByRule(past, question)
    return {
      answer: redact(text),
      answered_by: 'rules' as const,
      kind: kind ?? null,
      label: { ...label },
      from: period ? iso(period.from) : null,
      to: period ? iso(period.to) : null,
    }
  },
})
