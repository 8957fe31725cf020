/** The configuration, looked at. */

import { z } from 'zod'
import { command } from './command.ts'

export const configCheck = command({
  name: 'config check',
  summary: 'read the configuration and say what is wrong with it',
  place: 'anywhere',
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
