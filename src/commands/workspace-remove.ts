/** Removes the folder of a workspace: kept for some days and brought back by `undo`, or deleted at once. */

import { z } from 'zod'
import { formatBytes } from '../domain/byte-size.ts'
import { TirelessError } from '../domain/error.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { findWorkspaceHere } from './lib/workspaces.ts'
import { removedShape, showRemoved, workspaceName } from './workspace.ts'

export const workspaceRemove = defineCommand({
  name: 'workspace remove',
  summary: 'remove the folder of a workspace; undo brings it back for seven days',
  example: 'workspace remove writer',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'ids', 'store', 'withoutClaims', 'workspaceFolders'],
  positional: ['workspace'],
  input: z.object({
    workspace: workspaceName,
    now: z.boolean().default(false).describe('delete it at once, which frees the space and cannot be undone'),
    yes: z.boolean().default(false).describe('do not ask').meta({ short: 'y' }),
  }),
  output: removedShape.extend({
    id: z.string().nullable().describe('with which undo brings it back; null: it is deleted'),
    until: z.string().nullable().describe('when it is deleted; null: it is deleted already'),
  }),
  run: (context, { workspace: named, now, yes }) =>
    context.withoutClaims(async () => {
      const { clock, ids, workspaceFolders } = context
      const { workspace, in_use_by } = await findWorkspaceHere(context, named)
      if (!(await workspaceFolders.has(workspace))) throw notOfThisHome(workspace)
      const user = in_use_by ?? (await openRunIn(context, workspace))
      if (user !== undefined) throw inUse(workspace, user)
      const { files, bytes } = await workspaceFolders.size(workspace)
      if (now && !yes)
        throw new TirelessError('confirmation_needed', {
          what: `this deletes ${workspace} for good, ${files} files (${formatBytes(bytes)}); nothing was changed yet`,
          fix: `run tireless workspace remove ${named} --now --yes, or leave --now out to be able to undo it`,
        })
      const removal = { id: `removed-${ids.next()}`, workspace, files, bytes, removed_at: clock.borneOut() }
      if (!now) {
        const removed = await workspaceFolders.remove(removal)
        await auditOwnerAction(context, 'workspace remove', { id: removed.id, workspace, files, bytes })
        return showRemoved(removed)
      }
      await workspaceFolders.delete(workspace)
      await auditOwnerAction(context, 'workspace remove', { id: null, workspace, files, bytes })
      return { ...showRemoved({ ...removal, until: 0 }), id: null, until: null }
    }),
})

/** Contract: a run that has not ended, and will go on in the folder. */
async function openRunIn({ store }: Needs<'store'>, workspace: string): Promise<string | undefined> {
  for (const status of ['pending', 'waiting'] as const)
    for (const { dispatch_id, session_id } of await store.dispatches({ status, limit: MAX_OPEN }))
      if ((await store.session(session_id))?.workspace === workspace) return dispatch_id
  return undefined
}

const MAX_OPEN = 10_000

const notOfThisHome = (where: string): TirelessError =>
  new TirelessError('workspace_refused', {
    what: 'only folders in workspaces/ of this home are removed this way; nothing was changed',
    where,
    fix: 'remove the folder yourself',
  })

const inUse = (where: string, run: string): TirelessError =>
  new TirelessError('conflict', {
    what: 'a run works in this folder, or will go on in it; nothing was changed',
    where,
    got: run,
    fix: `wait until it ends, or run tireless queue cancel ${run}`,
  })
