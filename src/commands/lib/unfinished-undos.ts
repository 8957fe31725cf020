/** Undos of this home that are half done, with their ways out. */

import { z } from 'zod'
import type { Undo } from '../../domain/undo.ts'
import { isElsewhere, isInProgress } from '../../kernel/undo/perform.ts'
import { describeUnfinished, finishOrGiveUp } from '../../kernel/undo/unfinished.ts'
import type { Needs } from './context.ts'

export const unfinishedUndoShape = z.object({
  id: z.string(),
  target: z.string(),
  since: z.string(),
  why: z.string().nullable().describe('why it stopped; null: a crash interrupted it, and the next start looks at it'),
  fix: z.string(),
})

type Context = Needs<'store' | 'homeId'>

async function ownUnfinished(context: Context): Promise<readonly Undo[]> {
  const all = await context.store.unfinishedUndos()
  return all.filter((undo) => !isElsewhere(undo, context) && !isInProgress(undo))
}

export async function unfinishedUndos(context: Context): Promise<z.output<typeof unfinishedUndoShape>[]> {
  return (await ownUnfinished(context)).map(({ id, target, created_at, stopped = null }) => {
    return { id, target, since: created_at, why: stopped, fix: finishOrGiveUp(id) }
  })
}

/** Contract: one line each. */
export async function unfinishedUndoNotes(context: Context): Promise<readonly string[]> {
  return (await ownUnfinished(context)).map(describeUnfinished)
}
