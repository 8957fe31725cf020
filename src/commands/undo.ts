/** Takes back what runs did: files, STATE.md and facts; shows first what it will do. Finishes an undo that stopped. */

import { z } from 'zod'
import { clipText } from '../domain/clean-summary.ts'
import { TirelessError } from '../domain/error.ts'
import { OMISSIONS, readablePath, summarizeChanges } from '../domain/path-change.ts'
import { titleOfRun } from '../domain/title.ts'
import { KEPT_REASONS, type KeptByUndo, type Undo } from '../domain/undo.ts'
import { finishUndo, giveUpUndo, isElsewhere, performUndo, planFinish } from '../kernel/undo/perform.ts'
import { planUndo, type UndoPlan } from '../kernel/undo/plan.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { describeUndo } from './lib/describe-undo.ts'
import { findRemoved, isRemoval } from './lib/removed-workspace.ts'
import { type RunTitles, refuseConflicts, runsIn } from './lib/undo-conflicts.ts'
import { resolveUndoTarget } from './lib/undo-target.ts'
import { unfinishedUndoShape, unfinishedUndos } from './lib/unfinished-undos.ts'

const paths = z.array(z.string())

const undoShape = z.object({
  id: z.string().nullable().describe('of the undo, with which it can be taken back; null: nothing was changed'),
  target: z.string(),
  status: z.enum(['planned', 'done', 'nothing', 'given_up']),
  undoes: z.string().nullable().describe('the undo that is taken back'),
  finishes: z.string().nullable().describe('the half-done undo that is finished or given up'),
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
        why: z.enum(OMISSIONS),
      }),
    )
    .describe('paths that snapshots leave out, which stay as they are'),
  uncertain: z
    .array(z.object({ workspace: z.string(), path: z.string(), does: z.enum(['stays', 'goes_back']) }))
    .describe('paths that changed between a crash and the restart, by a run or by anybody else'),
  kept: z
    .array(
      z.object({
        workspace: z.string().nullable().describe('null: a document'),
        path: z.string(),
        why: z.enum([...KEPT_REASONS, 'content_lost']),
        error: z.string().nullable(),
      }),
    )
    .describe('paths and documents that stay as they are'),
  unfinished: z.array(unfinishedUndoShape).describe('other undos that are half done'),
})
export type UndoOutput = z.output<typeof undoShape>

/** A long title would hide what the refusal says. */
const MAX_TITLE = 60
const MAX_FACTS = 100_000

async function titlesOf({ store, redact }: Needs<'store' | 'redact'>, runs: readonly string[]): Promise<RunTitles> {
  const found = await Promise.all(runs.map((id) => store.dispatch(id)))
  const titled = found.flatMap((run) =>
    run ? [[run.dispatch_id, clipText(titleOfRun(run.prompt, run.metadata.behaviour), MAX_TITLE)] as const] : [],
  )
  return new Map(titled.map(([id, title]) => [id, redact(title)]))
}

const NEEDS = [
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
] as const
type UndoContext = Needs<(typeof NEEDS)[number]>

interface Wanted {
  readonly target: string
  readonly plan: boolean
  readonly yes: boolean
  readonly give_up: boolean
  readonly uncertain: boolean
}

export const undo = defineCommand({
  name: 'undo',
  summary: 'take back what a run, a session or a day did: files, STATE.md, facts; undo an undo to get it back',
  example: 'undo last',
  runsIn: 'any_process',
  needs: NEEDS,
  positional: ['target'],
  input: z.object({
    target: z
      .string()
      .trim()
      .min(1)
      .describe('a run, a session, a day (today, yesterday, 2026-11-15), or an undo')
      .meta({ idOf: 'dispatch' }),
    plan: z.boolean().default(false).describe('only show what would be undone; changes nothing'),
    yes: z.boolean().default(false).describe('do not ask').meta({ short: 'y' }),
    give_up: z.boolean().default(false).describe('end a half-done undo, and leave the rest as it is'),
    uncertain: z
      .boolean()
      .default(false)
      .describe('also take back what changed between a crash and the restart, whoever changed it'),
  }),
  output: undoShape,
  run: (context, wanted, tell) =>
    context.withoutClaims(async () => {
      const { target, uncertain } = wanted
      if (isRemoval(target)) return bringBack(context, wanted)
      const found = await resolveUndoTarget(context, target)
      const ask = (planned: UndoOutput, what: string, fix: string): never => {
        tell({ kind: 'note', text: describeUndo(planned, 'en'), zh: describeUndo(planned, 'zh') })
        throw new TirelessError('confirmation_needed', { what, fix })
      }
      if (found.kind === 'unfinished') return endUnfinished(context, found.undo, wanted, ask)
      if (wanted.give_up) throw notUnfinished(target)
      const plan = await planUndo(context, found.kind === 'runs' ? { ...found, withUncertain: uncertain } : found)
      refuseConflicts(plan.conflicts, target, await titlesOf(context, runsIn(plan.conflicts)))
      const planned = { ...outputOf(plan, context.redact), unfinished: await unfinishedUndos(context) }
      if (planned.status === 'nothing' || wanted.plan) return planned
      if (!wanted.yes) {
        const options = uncertain ? ' --uncertain' : ''
        ask(
          planned,
          `this takes back ${target}; nothing was changed yet`,
          `run tireless undo ${target}${options} --yes; it can be taken back`,
        )
      }
      const kept = await performUndo(context, plan.undo)
      await auditOwnerAction(context, 'undo', { id: plan.undo.id, target: plan.undo.target, runs: [...plan.undo.runs] })
      return {
        ...withoutKept(planned, plan.undo.workspaces, kept),
        ...({ status: 'done', id: plan.undo.id } as const),
      }
    }),
})

/** A removed workspace comes back as a whole; removing it again is the way to take that back. */
async function bringBack(context: UndoContext, { target, plan: isPlan, yes }: Wanted): Promise<UndoOutput> {
  const removed = await findRemoved(context, target)
  const output: UndoOutput = {
    id: null,
    target,
    status: 'planned',
    undoes: null,
    finishes: null,
    runs: [],
    workspaces: [{ workspace: removed.workspace, restored: ['.'], removed: [], changed_back: [], repositories: [] }],
    documents: [],
    facts: [],
    cancelled: [],
    not_undone: [],
    not_covered: [],
    uncertain: [],
    kept: [],
    unfinished: [],
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

/** Finishes an undo that stopped in the middle, or gives it up. */
async function endUnfinished(
  context: UndoContext,
  undone: Undo,
  { plan: isPlan, yes, give_up }: Wanted,
  ask: (planned: UndoOutput, what: string, fix: string) => never,
): Promise<UndoOutput> {
  const { id, target, runs } = undone
  if (isElsewhere(undone, context)) {
    const [seen] = await context.store.homes([undone.home ?? ''], context.clock.now())
    throw new TirelessError('conflict', {
      what: 'this undo is half done in another home, which has the files',
      got: `${id} in the home on ${seen?.host || 'another machine'}`,
      fix: 'start Tireless there, which finishes it if a crash interrupted it; else finish it there, or give it up',
    })
  }
  const { workspaces, kept, missing } = await planFinish(context, undone)
  const found = await Promise.all(runs.map((run) => context.store.dispatch(run)))
  const planned: UndoOutput = {
    ...{ id: null, target, status: 'planned', undoes: undone.undoes, finishes: id, cancelled: [...undone.cancelled] },
    runs: describeRuns(
      found.filter((run) => run !== undefined),
      context.redact,
    ),
    workspaces: describeChanges(workspaces),
    documents: undone.documents.map(({ name, versions }) => ({ name, versions: [...versions] })),
    facts: await factsOf(context, undone),
    not_undone: [],
    not_covered: [],
    uncertain: [],
    kept: [
      ...kept.map(describeKept),
      ...missing.map((workspace) => {
        return { workspace, path: '.', why: 'failed' as const, error: 'the folder is gone, or cannot be read' }
      }),
    ],
    unfinished: (await unfinishedUndos(context)).filter((other) => other.id !== id),
  }
  if (isPlan) return planned
  if (give_up) {
    const left = await giveUpUndo(context, undone)
    await auditOwnerAction(context, 'undo', { id, target, runs: [...runs], how: 'given_up' })
    return { ...planned, ...{ id, status: 'given_up', workspaces: [] }, kept: left.map(describeKept) }
  }
  if (!yes)
    ask(
      planned,
      `this finishes the half-done undo of ${target}; nothing was changed yet`,
      `run tireless undo ${id} --yes; or give it up: tireless undo ${id} --give-up`,
    )
  const left = await finishUndo(context, undone)
  await auditOwnerAction(context, 'undo', { id, target, runs: [...runs], how: 'finished' })
  return { ...withoutKept(planned, workspaces, left), ...{ status: 'done', id } }
}

async function factsOf({ store, clock }: UndoContext, { facts }: Undo): Promise<UndoOutput['facts']> {
  if (facts.length === 0) return []
  const all = await store.facts({ over: true, now: clock.now(), limit: MAX_FACTS })
  return facts.flatMap(({ id, to }) => {
    const fact = all.find((one) => one.id === id)
    return fact ? [{ agent_id: fact.agent_id, key: fact.key, becomes: to }] : []
  })
}

const notUnfinished = (target: string): TirelessError =>
  new TirelessError('conflict', {
    what: 'only an undo that is half done can be given up, so nothing was changed',
    got: target,
    fix: 'see tireless status for undos that are half done',
  })

const describeKept = ({ workspace, name, why, error }: KeptByUndo): UndoOutput['kept'][number] => ({
  ...{ workspace, path: readablePath(name), why, error },
})

/** Contract: what was done, once it is known what was kept. */
function withoutKept(
  planned: UndoOutput,
  workspaces: Parameters<typeof describeChanges>[0],
  kept: readonly KeptByUndo[],
): UndoOutput {
  if (kept.length === 0) return { ...planned, kept: planned.kept.filter(({ why }) => why === 'content_lost') }
  const isKept = new Set(kept.map(({ workspace, name }) => `${workspace}\n${name}`))
  return {
    ...planned,
    workspaces: describeChanges(
      workspaces.map(({ workspace, changes }) => {
        return { workspace, changes: changes.filter(({ path }) => !isKept.has(`${workspace}\n${path}`)) }
      }),
    ),
    kept: [...planned.kept.filter(({ why }) => why === 'content_lost'), ...kept.map(describeKept)],
  }
}

const describeChanges = (workspaces: UndoPlan['undo']['workspaces']): UndoOutput['workspaces'] =>
  workspaces
    .filter(({ changes }) => changes.length > 0)
    .map(({ workspace, changes }) => {
      const { added, changed, removed, repositories } = summarizeChanges(changes)
      return {
        ...{ workspace, restored: [...added], removed: [...removed], changed_back: [...changed] },
        repositories: [...repositories],
      }
    })

const describeRuns = (runs: UndoPlan['runs'], redact: (text: string) => string): UndoOutput['runs'] =>
  runs.map(({ dispatch_id, agent_id, prompt, metadata }) => {
    return { run_id: dispatch_id, agent_id, title: redact(titleOfRun(prompt, metadata.behaviour)) }
  })

function outputOf(
  { undo: planned, runs, facts, stays, omitted, uncertain, lost }: UndoPlan,
  redact: (text: string) => string,
): Omit<UndoOutput, 'unfinished'> {
  const { target, undoes, workspaces, documents, cancelled } = planned
  const isEmpty = [workspaces, documents, facts, cancelled].every(({ length }) => length === 0)
  return {
    ...{ id: null, target, undoes, finishes: null, status: isEmpty ? 'nothing' : 'planned', cancelled: [...cancelled] },
    runs: describeRuns(runs, redact),
    workspaces: describeChanges(workspaces),
    documents: documents.map(({ name, versions }) => ({ name, versions: [...versions] })),
    facts: facts.map(({ fact, to }) => ({ agent_id: fact.agent_id, key: fact.key, becomes: to })),
    not_undone: stays.map((stay) => ({ ...stay, what: redact(stay.what) })),
    not_covered: omitted.map(({ workspace, path, why }) => ({ workspace, path: readablePath(path), why })),
    uncertain: uncertain.map(({ workspace, path, does }) => ({ workspace, path: readablePath(path), does })),
    kept: lost.map(({ workspace, path }) => {
      return { workspace, path: readablePath(path), why: 'content_lost' as const, error: null }
    }),
  }
}
