/** The paths in rows: which columns have some, and how they are replaced. */

import { workspaceKey } from '../../../domain/label.ts'

type ChangePath = (path: string) => string

/** Columns with paths of the home, by table. */
export const PATH_COLUMNS = { sessions: 'workspace', labels: 'of', undos: 'body', outbox: 'files' } as const

/** Contract: pure; the value of a column with all paths replaced; the same text if none changes or it is unreadable. */
export function changePaths(table: keyof typeof PATH_COLUMNS, value: string, change: ChangePath): string {
  switch (table) {
    case 'sessions':
      return change(value)
    case 'labels':
      return changeKey(value, change)
    case 'undos':
      return changeJson(value, (body: StoredUndo) => ({
        ...body,
        workspaces: body.workspaces.map((one) => ({ ...one, workspace: change(one.workspace) })),
      }))
    case 'outbox':
      return changeJson(value, (files: readonly StoredFile[]) =>
        files.map(({ root, ...file }) => ({
          ...file,
          path: change(file.path),
          ...(root !== undefined && { root: change(root) }),
        })),
      )
  }
}

interface StoredUndo {
  readonly workspaces: readonly { readonly workspace: string }[]
}

interface StoredFile {
  readonly path: string
  readonly root?: string
}

/** The key of a workspace's label contains its path; other keys do not. */
function changeKey(key: string, change: ChangePath): string {
  const prefix = workspaceKey('')
  return key.startsWith(prefix) ? workspaceKey(change(key.slice(prefix.length))) : key
}

function changeJson<T>(text: string, change: (value: T) => T): string {
  try {
    const before = JSON.parse(text) as T
    const [old, changed] = [JSON.stringify(before), JSON.stringify(change(before))]
    return old === changed ? text : changed
  } catch {
    return text
  }
}
