/** The operations of an env whose workspace must not be changed: reads work, writes are refused. */

import { TirelessError } from '../../domain/error.ts'
import type { FileOps, GitOps, OpsGroups } from '../../ports/env.ts'

/** Contract: the same operations; those that write throw `path_refused`. Commands are confined by their mount. */
export function refuseWrites({ file, git, ...rest }: Partial<OpsGroups>): Partial<OpsGroups> {
  return { ...rest, ...(file && { file: readOnlyFiles(file) }), ...(git && { git: readOnlyGit(git) }) }
}

const readOnlyFiles = (file: FileOps): FileOps => ({
  ...{ read: (path) => file.read(path), list: (path, depth, limit) => file.list(path, depth, limit) },
  changedSince: (ms) => file.changedSince(ms),
  writable: async () => false,
  write: async (path) => {
    throw readOnlyError(path)
  },
})

const readOnlyGit = (git: GitOps): GitOps => ({
  ...{ head: () => git.head(), status: () => git.status(), diff: () => git.diff(), log: (limit) => git.log(limit) },
  commit: async () => {
    throw readOnlyError('.git')
  },
})

const readOnlyError = (where: string): TirelessError =>
  new TirelessError('path_refused', {
    ...{ what: 'the workspace is read-only in this behaviour', where },
    fix: 'plan the change as a todo; it is made in DO',
  })
