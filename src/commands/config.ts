/** The configuration, looked at. */

import { z } from 'zod'
import { command } from './command.ts'

export const configCheck = command({
  name: 'config check',
  summary: 'read the configuration and say what is wrong with it',
  runsIn: 'no_home',
  input: z.object({}),
  output: z.object({
    ok: z.literal(true),
    file: z.string().nullable(),
    unused: z.array(z.string()).describe('keys that nothing uses yet'),
  }),
  async run(context) {
    const { file, unused } = context.checkConfig()
    return { ok: true as const, file, unused: [...unused] }
  },
})

export const configExplain = command({
  name: 'config explain',
  summary: 'every value of the configuration and where it comes from; secrets as (set)',
  runsIn: 'no_home',
  input: z.object({ key: z.string().default('').describe('only keys that begin with this') }),
  output: z.object({
    file: z.string().nullable(),
    items: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
  }),
  async run(context, { key }) {
    const { file, items } = context.explainConfig()
    return { file, items: items.filter((item) => item.key.startsWith(key)) }
  },
})

export const configSchema = command({
  name: 'config schema',
  summary: 'the JSON Schema of the configuration',
  runsIn: 'no_home',
  input: z.object({}),
  output: z.record(z.string(), z.unknown()),
  run: async (context) => ({ ...context.configSchema() }),
})
