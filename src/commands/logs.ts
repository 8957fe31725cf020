/** Prints the home's log. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { LogEntry } from './lib/closed-home.ts'
import { defineCommand } from './lib/command.ts'
import { typedAs } from './lib/output-schemas.ts'

export const logs = defineCommand({
  name: 'logs',
  summary: 'print or search the log of the home',
  example: 'logs --follow',
  // The log is a file. A follower must not hold the home, or `start` could not run at the same time.
  runsIn: 'no_home',
  isServed: true,
  needs: ['log', 'signals'],
  input: z.object({
    follow: z
      .boolean()
      .default(false)
      .describe('print new entries until interrupted')
      .meta({ short: 'f', terminal: true }),
    text: z.string().min(1).optional().describe('only entries that contain this text'),
    level: z.enum(['info', 'warn', 'error']).optional().describe('only entries of this level or a worse one'),
    before: z.string().min(1).optional().describe('only entries older than the one with this id'),
    after: z.string().min(1).optional().describe('only entries newer than the one with this id'),
    lines: z.int().nonnegative().default(50).describe('number of last entries to print').meta({ short: 'n' }),
  }),
  output: z
    .object({
      items: z.array(typedAs<LogEntry>(z.looseObject({ ts: z.string(), level: z.string(), event: z.string() }))),
      more: z.boolean().optional().describe('of a search: whether there may be older ones'),
    })
    .nullable()
    .describe('null: everything was printed already'),
  async run({ log, signals }, { follow, lines, ...query }, tell) {
    const isSearch = Object.values(query).some((value) => value !== undefined)
    if (!follow && !isSearch) return { items: [...(await log.last(lines))] }
    if (!follow) {
      const { items, more } = await log.search({ ...query, limit: lines })
      return { items: [...items], more }
    }
    if (isSearch)
      throw new TirelessError('usage', {
        what: '--follow cannot be combined with a search',
        fix: 'leave one of them out',
      })
    await log.follow(lines, signals.drain, (item) => tell({ kind: 'item', item }))
    return null
  },
})
