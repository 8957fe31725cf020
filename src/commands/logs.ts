/** The log of the home, read. */

import { z } from 'zod'
import { command } from './command.ts'

export const logs = command({
  name: 'logs',
  summary: 'what happened, from the log of the home',
  // The log is a file: whoever follows it must not hold the home, or no `start` could begin beside it.
  runsIn: 'no_home',
  input: z.object({
    follow: z.boolean().default(false).describe('go on until interrupted').meta({ short: 'f' }),
    lines: z.int().nonnegative().default(50).describe('the last so many').meta({ short: 'n' }),
  }),
  output: z
    .object({ items: z.array(z.looseObject({ ts: z.string(), level: z.string(), event: z.string() })) })
    .nullable()
    .describe('null: all of it was told already'),
  async run({ log, signals }, { follow, lines }, tell) {
    if (!follow) return { items: [...(await log.last(lines))] }
    await log.follow(lines, signals.drain, (item) => tell({ kind: 'item', item }))
    return null
  },
})
