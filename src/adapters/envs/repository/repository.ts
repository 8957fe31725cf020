/** The repository env: a git work tree on this machine. Files and commands as the host has them, and git beside them. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Envs, type Health, opsOf, supplying } from '../../../ports/env.ts'
import type { GitHost } from '../git.ts'
import { gitFolderOf, isGitFolder, type WorkTree, workTreeOf } from './git-folder.ts'
import { gitAt, gitOps } from './git-ops.ts'

export interface RepositoryOptions {
  readonly clock: Clock
  readonly git: GitHost
}

/** `host` supplies everything but git. */
export function repositoryEnvs(host: Envs, options: RepositoryOptions): Envs {
  return {
    async open(workspace) {
      const inner = await host.open(workspace)
      const { root } = inner
      const health = async (): Promise<Health> => {
        const below = await inner.health()
        return below.ok ? workTreeHealth(root) : below
      }
      const found = await workTreeHealth(root)
      if (!found.ok) {
        await inner.close()
        throw new TirelessError('workspace_refused', {
          what: found.reason,
          where: root,
          fix: 'git init there, or use the host env',
        })
      }
      const git = gitOps(async () => gitAt(await repositoryOf(root), options.git, options.clock))
      const ops = supplying({ file: opsOf(inner, 'file'), process: opsOf(inner, 'process'), git })
      return { root, ...ops, health, close: () => inner.close() }
    },
  }
}

/** Contract: never throws; runs no git. */
export async function workTreeHealth(root: string): Promise<Health> {
  try {
    const { common, gitFolder } = await repositoryOf(root)
    const isWhole = (await isGitFolder(common)) && existsSync(join(gitFolder, 'HEAD'))
    return isWhole ? { ok: true } : { ok: false, reason: 'git cannot read the repository: a part of it is missing' }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** Looked for each time: what is in the work tree may have changed since. */
async function repositoryOf(root: string): Promise<WorkTree> {
  const tree = (await gitFolderOf(root)) === undefined ? undefined : await workTreeOf(root)
  if (tree) return tree
  throw new TirelessError('tool_failed', { what: 'it is not the top folder of a git work tree', where: root })
}
