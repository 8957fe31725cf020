/** Lists the tools that agents can be given. */

import { z } from 'zod'
import { REACHES } from '../domain/effect.ts'
import { defineCommand } from './lib/command.ts'

export const toolsList = defineCommand({
  name: 'tools list',
  summary: 'list the tools that agents can be given, and how far each reaches',
  example: 'tools list',
  runsIn: 'any_process',
  needs: ['tools'],
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        description: z.string().describe('as the model reads it'),
        reach: z.enum(REACHES).nullable().describe('what it can affect; null: depends on the call'),
        offered: z.boolean().describe('an agent that lists no tools gets it'),
      }),
    ),
  }),
  run: async ({ tools }) => ({
    items: tools().map(({ name, description, reach, isOffered }) => ({ name, description, reach, offered: isOffered })),
  }),
})
