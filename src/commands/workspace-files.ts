/** The files of a workspace, folder by folder. */

import { z } from 'zod'
import { iso } from '../ports/clock.ts'
import { defineCommand } from './lib/command.ts'
import { offsetInput, totalShape } from './lib/list-window.ts'
import { findWorkspaceHere } from './lib/workspaces.ts'
import { workspaceName } from './workspace.ts'

export const workspaceFiles = defineCommand({
  name: 'workspace files',
  summary: 'list a folder of a workspace: its folders, then its files',
  example: 'workspace files writer reports',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'listWorkspaceFolder', 'store', 'workspaceFolders'],
  positional: ['workspace', 'path'],
  input: z.object({
    workspace: workspaceName,
    path: z.string().default('.').describe('a folder in it'),
    limit: z.int().positive().max(1000).default(200).describe('maximum number of entries'),
    offset: offsetInput,
  }),
  output: z.object({
    ...{ workspace: z.string(), name: z.string(), path: z.string() },
    session_id: z
      .string()
      .nullable()
      .describe('a session that works in it; its files are read as files of this session; null: none is left'),
    items: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['folder', 'file', 'link', 'other']).describe('links are not followed'),
        bytes: z.number(),
        modified_at: z.string(),
      }),
    ),
    total: totalShape,
  }),
  async run(context, { workspace: named, path, offset, limit }) {
    const { workspace, name, last_session_id } = await findWorkspaceHere(context, named)
    const page = await context.listWorkspaceFolder(workspace, path === '' ? '.' : path, { offset, limit })
    const items = page.entries.map(({ modified, ...entry }) => ({ ...entry, modified_at: iso(modified) }))
    return { workspace, name, path, session_id: last_session_id, items, total: page.total }
  },
})
