/** Prints the home's log. */

import { z } from 'zod'
import type { LogEntry } from './lib/closed-home.ts'
import { defineCommand } from './lib/command.ts'
import { typedAs } from './lib/output-schemas.ts'

export const logs = defineCommand({
  name: 'logs',
  summary: 'print the log of the home',
  example: 'logs --follow',
  // The log is a file. A follower must not hold the home, or `start` could not run at the same time.
  runsIn: 'no_home',
  needs: ['log', 'signals'],
  input: z.object({
    follow: z.boolean().default(false).describe('print new entries until interrupted').meta({ short: 'f' }),
    lines: z.int().nonnegative().default(50).describe('number of last entries to print').meta({ short: 'n' }),
  }),
  output: z
    .object({
      items: z.array(typedAs<LogEntry>(z.looseObject({ ts: z.string(), level: z.string(), event: z.string() }))),
    })
    .nullable()
    .describe('null: everything was printed already'),
  async run({ log, signals }, { follow, lines }, tell) {
    if (!follow) return { items: [...(await log.last(lines))] }
    await log.follow(lines, signals.drain, (item) => tell({ kind: 'item', item }))
    return null
  },
})
