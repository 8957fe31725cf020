/** Lists dispatches: a window of those that match a filter. */

import { z } from 'zod'
import { clipText } from '../domain/clean-summary.ts'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { parseInstant } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import { EXPECTED_INSTANT } from '../domain/limits.ts'
import { listDismissed } from '../past/dismissed-failures.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { dismissedShape } from './lib/dismissed-failures.ts'
import { findFrontTitles } from './lib/front-titles.ts'
import { findHolds, heldByShape } from './lib/held-by.ts'
import { dispatchSchema } from './lib/output-schemas.ts'
import { findUndone, undoneByShape, withTitle } from './lib/undone-runs.ts'

const MAX_WORDS = 8
const BRIEF_CHARACTERS = 300

export const queueList = defineCommand({
  name: 'queue list',
  summary: 'list dispatches, newest first',
  example: 'queue list --status failed',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'isQueueWorked', 'store'],
  input: z.object({
    status: z.enum(DISPATCH_STATUSES).optional().describe('only with this status'),
    open: z.boolean().default(false).describe('only those that have not ended'),
    agent: z.string().optional().describe('only of this agent').meta({ idOf: 'agent' }),
    search: z.string().optional().describe('only with all these words in id, prompt, result or error'),
    from: z.string().optional().describe('only created at this instant or later'),
    to: z.string().optional().describe('only created before this instant'),
    offset: z.int().nonnegative().default(0).describe('number of dispatches to leave out at the start'),
    limit: z.int().positive().default(100).describe('maximum number of dispatches'),
    brief: z.boolean().default(false).describe('shorten prompt, result and error'),
  }),
  output: z.object({
    items: z.array(
      dispatchSchema.extend({ undone_by: undoneByShape, held_by: heldByShape, dismissed: dismissedShape }),
    ),
    total: z.number().describe('how many match'),
  }),
  async run(context, { status, open, agent, search = '', from, to, offset, limit, brief }) {
    const words = search.split(/\s+/).filter((word) => word !== '')
    const created = { from: instantFrom(context, '--from', from), to: instantFrom(context, '--to', to) }
    const filter = { status, in_flight: open, agent_id: agent, created, words: words.slice(0, MAX_WORDS) }
    const { items, total } = await context.store.dispatchWindow({ ...filter, offset, limit })
    const [describe, heldBy] = [withTitle(await findUndone(context)), await findHolds(context, items)]
    const dismissed = new Set(await listDismissed(context.store))
    const frontTitle = await findFrontTitles(context, items)
    const shown = items.map((dispatch) => ({
      ...{ ...describe(dispatch), held_by: heldBy(dispatch) },
      dismissed: dismissed.has(dispatch.dispatch_id),
      ...(dispatch.prompt === '' && titled(frontTitle(dispatch.dispatch_id))),
    }))
    return { items: brief ? shown.map(shortenTexts) : shown, total }
  },
})

const titled = (title: string | undefined) => (title === undefined ? {} : { title })

function instantFrom({ clock }: Needs<'clock'>, option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const instant = parseInstant(text, clock.now())
  if (instant !== undefined) return instant
  throw new TirelessError('usage', { what: `${option} is not a time`, got: text, expected: EXPECTED_INSTANT })
}

interface Texts {
  readonly prompt: string
  readonly result: string | null
  readonly error: string | null
}

const shortenTexts = <D extends Texts>({ prompt, result, error, ...dispatch }: D) => ({
  ...dispatch,
  prompt: clipText(prompt, BRIEF_CHARACTERS),
  result: result && clipText(result, BRIEF_CHARACTERS),
  error: error && clipText(error, BRIEF_CHARACTERS),
})
