/** Input sources: lists them. */

import { z } from 'zod'
import { defineCommand } from './lib/command.ts'

export const sourcesList = defineCommand({
  name: 'sources list',
  summary: 'list input sources with their listeners, state and number of events',
  example: 'sources list',
  runsIn: 'any_process',
  needs: ['sources'],
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        listeners: z.array(z.string()).describe('the residents that read it'),
        state: z.enum(['running', 'waiting', 'failed', 'ended', 'stopped']),
        why: z.string().nullable(),
        last_event_at: z.string().nullable(),
        published: z.number().describe('events since the kernel started'),
        duplicates: z.number(),
        refused: z.number(),
      }),
    ),
  }),
  run: async ({ sources }) => ({
    items: sources.list().map(({ listeners, ...rest }) => ({ ...rest, listeners: [...listeners] })),
  }),
})
