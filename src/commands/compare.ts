/** Compares two runs of one task. */

import { z } from 'zod'
import { compareRuns } from '../trace/compare-runs.ts'
import { defineCommand } from './lib/command.ts'
import { runSetupSchema } from './lib/output-schemas.ts'
import { readRedactedRecords } from './trace.ts'

const runInput = z.string().describe('run id').meta({ idOf: 'dispatch' })

const sideShape = z.object({
  run_id: z.string(),
  steps: z.number(),
  cost_usd: z.number().nullable(),
  stop_reason: z.string().nullable(),
  answer: z.string().nullable(),
  setup: runSetupSchema.nullable(),
})

export const compare = defineCommand({
  name: 'compare',
  summary: 'compare two runs of one task: the first difference, and how each ended',
  example: 'compare 1a2b3c 4d5e6f',
  runsIn: 'any_process',
  needs: ['redact', 'store'],
  positional: ['a', 'b'],
  input: z.object({ a: runInput, b: runInput }),
  output: z.object({
    first_divergence: z
      .object({ step: z.number(), phase: z.string(), a: z.unknown(), b: z.unknown() })
      .nullable()
      .describe('null: no difference'),
    a: sideShape,
    b: sideShape,
  }),
  async run(context, { a, b }) {
    return compareRuns(await readRedactedRecords(context, a), await readRedactedRecords(context, b))
  },
})
