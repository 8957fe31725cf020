/** Takes back what runs did: files, STATE.md and facts; shows first what it will do. */

import { z } from 'zod'
import { clipText } from '../domain/clean-summary.ts'
import { TirelessError } from '../domain/error.ts'
import { readablePath, summarizeChanges } from '../domain/path-change.ts'
import { titleOfRun } from '../domain/title.ts'
import { finishInterruptedUndo, performUndo, refuseWhileUndoingElsewhere } from '../kernel/undo/perform.ts'
import { planUndo, type UndoPlan } from '../kernel/undo/plan.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { describeUndo } from './lib/describe-undo.ts'
import { findRemoved, isRemoval } from './lib/removed-workspace.ts'
import { type RunTitles, refuseConflicts, runsIn } from './lib/undo-conflicts.ts'
import { resolveUndoTarget } from './lib/undo-target.ts'

const paths = z.array(z.string())

const undoShape = z.object({
  id: z.string().nullable().describe('of the undo, with which it can be taken back; null: nothing was changed'),
  target: z.string(),
  status: z.enum(['planned', 'done', 'nothing']),
  undoes: z.string().nullable().describe('the undo that is taken back'),
  runs: z.array(z.object({ run_id: z.string(), agent_id: z.string(), title: z.string() })),
  workspaces: z.array(
    z.object({
      workspace: z.string(),
      restored: paths,
      removed: paths,
      changed_back: paths,
      repositories: paths.describe('repositories whose commits and branches go back'),
    }),
  ),
  documents: z.array(z.object({ name: z.string(), versions: z.array(z.number()) })),
  facts: z.array(z.object({ agent_id: z.string(), key: z.string(), becomes: z.string() })),
  cancelled: z.array(z.string()).describe('dispatches that had not started'),
  not_undone: z.array(
    z.object({
      kind: z.enum(['message', 'reply', 'outside', 'forgotten', 'cancelled', 'no_snapshots']),
      run_id: z.string(),
      what: z.string(),
      at: z.string().nullable(),
    }),
  ),
  not_covered: z
    .array(
      z.object({
        workspace: z.string(),
        path: z.string(),
        why: z.enum(['dependencies', 'git_file', 'git_too_large']),
      }),
    )
    .describe('paths that snapshots leave out, which stay as they are'),
})
export type UndoOutput = z.output<typeof undoShape>

/** A long title would hide what the refusal says. */
const MAX_TITLE = 60

async function titlesOf({ store, redact }: Needs<'store' | 'redact'>, runs: readonly string[]): Promise<RunTitles> {
  const found = await Promise.all(runs.map((id) => store.dispatch(id)))
  const titled = found.flatMap((run) =>
    run ? [[run.dispatch_id, clipText(titleOfRun(run.prompt, run.metadata.behaviour), MAX_TITLE)] as const] : [],
  )
  return new Map(titled.map(([id, title]) => [id, redact(title)]))
}

export const undo = defineCommand({
  name: 'undo',
  summary: 'take back what a run, a session or a day did: files, STATE.md, facts; undo an undo to get it back',
  example: 'undo last',
  runsIn: 'any_process',
  needs: [
    'clock',
    'documents',
    'homeId',
    'ids',
    'past',
    'redact',
    'snapshots',
    'store',
    'withoutClaims',
    'workspaceFolders',
  ],
  positional: ['target'],
  input: z.object({
    target: z
      .string()
      .trim()
      .min(1)
      .describe('a run, a session, a day (today, yesterday, 2026-11-15), or an undo')
      .meta({ idOf: 'dispatch' }),
    plan: z.boolean().default(false).describe('only show what would be undone'),
    yes: z.boolean().default(false).describe('do not ask').meta({ short: 'y' }),
  }),
  output: undoShape,
  run: (context, { target, plan: isPlan, yes }, tell) =>
    context.withoutClaims(async () => {
      if (isRemoval(target)) return bringBack(context, target, { isPlan, yes })
      await finishInterruptedUndo(context)
      await refuseWhileUndoingElsewhere(context)
      const plan = await planUndo(context, await resolveUndoTarget(context, target))
      refuseConflicts(plan.conflicts, target, await titlesOf(context, runsIn(plan.conflicts)))
      const planned = outputOf(plan, context.redact)
      if (planned.status === 'nothing' || isPlan) return planned
      if (!yes) {
        tell({ kind: 'note', text: describeUndo(planned, 'en'), zh: describeUndo(planned, 'zh') })
        throw new TirelessError('confirmation_needed', {
          what: `this takes back ${target}; nothing was changed yet`,
          fix: `run tireless undo ${target} --yes; it can be taken back`,
        })
      }
      await performUndo(context, plan.undo)
      await auditOwnerAction(context, 'undo', { id: plan.undo.id, target: plan.undo.target, runs: [...plan.undo.runs] })
      const done: UndoOutput = { ...planned, status: 'done', id: plan.undo.id }
      return done
    }),
})

/** A removed workspace comes back as a whole; removing it again is the way to take that back. */
async function bringBack(
  context: Needs<'clock' | 'store' | 'workspaceFolders'>,
  target: string,
  { isPlan, yes }: { readonly isPlan: boolean; readonly yes: boolean },
): Promise<UndoOutput> {
  const removed = await findRemoved(context, target)
  const output: UndoOutput = {
    id: null,
    target,
    status: 'planned',
    undoes: null,
    runs: [],
    workspaces: [{ workspace: removed.workspace, restored: ['.'], removed: [], changed_back: [], repositories: [] }],
    documents: [],
    facts: [],
    cancelled: [],
    not_undone: [],
    not_covered: [],
  }
  if (isPlan) return output
  if (!yes)
    throw new TirelessError('confirmation_needed', {
      what: `this brings back ${removed.workspace} with ${removed.files} files; nothing was changed yet`,
      fix: `run tireless undo ${target} --yes`,
    })
  await context.workspaceFolders.bringBack(target)
  await auditOwnerAction(context, 'undo', { id: target, target: removed.workspace, runs: [] })
  return { ...output, status: 'done' }
}

function outputOf(
  { undo: planned, runs, facts, stays, omitted }: UndoPlan,
  redact: (text: string) => string,
): UndoOutput {
  const { target, undoes, workspaces, documents, cancelled } = planned
  const isEmpty = [workspaces, documents, facts, cancelled].every(({ length }) => length === 0)
  return {
    ...{ id: null, target, undoes, status: isEmpty ? 'nothing' : 'planned', cancelled: [...cancelled] },
    runs: runs.map(({ dispatch_id, agent_id, prompt, metadata }) => {
      return { run_id: dispatch_id, agent_id, title: titleOfRun(prompt, metadata.behaviour) }
    }),
    workspaces: workspaces.map(({ workspace, changes }) => {
      const { added, changed, removed, repositories } = summarizeChanges(changes)
      return {
        ...{ workspace, restored: [...added], removed: [...removed], changed_back: [...changed] },
        repositories: [...repositories],
      }
    }),
    documents: documents.map(({ name, versions }) => ({ name, versions: [...versions] })),
    facts: facts.map(({ fact, to }) => ({ agent_id: fact.agent_id, key: fact.key, becomes: to })),
    not_undone: stays.map((stay) => ({ ...stay, what: redact(stay.what) })),
    not_covered: omitted.map(({ workspace, path, why }) => ({ workspace, path: readablePath(path), why })),
  }
}
