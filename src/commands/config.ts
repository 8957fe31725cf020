/** Checks and explains the configuration. */

import { z } from 'zod'
import { defineCommand } from './lib/command.ts'

export const configCheck = defineCommand({
  name: 'config check',
  summary: 'check the configuration and show every problem',
  example: 'config check',
  runsIn: 'no_home',
  needs: ['checkConfig'],
  input: z.object({}),
  output: z.object({
    ok: z.literal(true),
    file: z.string().nullable(),
    unused: z
      .array(z.string())
      .describe('keys of the file that are not supported yet; start refuses those that are set'),
    unredacted: z.array(z.string()).describe('keys whose values are ordinary words, and so are not redacted'),
  }),
  async run(context) {
    const { file, unused, unredacted } = context.checkConfig()
    return { ok: true as const, file, unused: [...unused], unredacted: [...unredacted] }
  },
})

export const configExplain = defineCommand({
  name: 'config explain',
  summary: 'list every configuration value and its source; secrets show as (set)',
  example: 'config explain --key kernel',
  runsIn: 'no_home',
  isServed: true,
  needs: ['explainConfig'],
  input: z.object({ key: z.string().default('').describe('only keys with this prefix') }),
  output: z.object({
    file: z.string().nullable(),
    items: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
  }),
  async run(context, { key }) {
    const { file, items } = context.explainConfig()
    return { file, items: items.filter((item) => item.key.startsWith(key)) }
  },
})

export const configSchema = defineCommand({
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration',
  example: 'config schema',
  runsIn: 'no_home',
  needs: ['configSchema'],
  input: z.object({}),
  output: z.record(z.string(), z.unknown()),
  run: async (context) => ({ ...context.configSchema() }),
})
