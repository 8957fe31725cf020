/** Moves the records of the home to another store. */

import { z } from 'zod'
import { defineCommand } from './lib/command.ts'

const PHASES = {
  copying: { text: 'Copying all records …', zh: '正在复制所有记录……' },
  comparing: { text: 'Comparing each record with its copy …', zh: '正在逐条核对记录……' },
} as const

export const storeMove = defineCommand({
  name: 'store move',
  summary: 'move all records of the home to PostgreSQL or back to a file, compare each, then switch to them',
  example: `store move '\${DATABASE_URL}'`,
  runsIn: 'closed_home',
  needs: ['moveStore'],
  positional: ['to'],
  input: z.object({
    to: z
      .string()
      .min(1)
      .describe(
        `sqlite, postgres://…, or a variable in quotes: '\${DATABASE_URL}', which keeps the password out of files`,
      ),
    check: z.boolean().default(false).describe('copy and compare, then take everything back'),
  }),
  output: z.object({
    action: z.enum(['moved', 'check', 'none']).describe('none: the home uses this store already'),
    from: z.string(),
    to: z.string().describe('the address without user and password'),
    records: z.number(),
    tables: z
      .array(z.object({ table: z.string(), rows: z.number(), sha256: z.string() }))
      .describe('what was compared, record by record'),
    kept: z.string().nullable().describe('the database with the records from before; not used any more'),
    notes: z.array(z.string()),
  }),
  async run({ moveStore }, { to, check }, tell) {
    const { tables, notes, ...move } = await moveStore(to, check, (phase) => tell({ kind: 'note', ...PHASES[phase] }))
    const records = tables.reduce((sum, { rows }) => sum + rows, 0)
    return { ...move, records, tables: tables.map((table) => ({ ...table })), notes: [...notes] }
  },
})
