/** The repository env: a git work tree on this machine. Adds git to the files and commands of the host env. */

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

/** `host` provides everything except git. */
export function repositoryEnvs(host: Envs, options: RepositoryOptions): Envs {
  return {
    async open(workspace) {
      const hostEnv = await host.open(workspace)
      const { root } = hostEnv
      const health = async (): Promise<Health> => {
        const innerHealth = await hostEnv.health()
        return innerHealth.ok ? workTreeHealth(root) : innerHealth
      }
      const found = await workTreeHealth(root)
      if (!found.ok) {
        await hostEnv.close()
        throw new TirelessError('workspace_refused', {
          what: found.reason,
          where: root,
          fix: 'run git init there, or use the host env',
        })
      }
      const git = gitOps(async () => gitAt(await findRepository(root), options.git, options.clock))
      const ops = supplying({ file: opsOf(hostEnv, 'file'), process: opsOf(hostEnv, 'process'), git })
      return { root, ...ops, health, close: () => hostEnv.close() }
    },
  }
}

/** Contract: never throws; runs no git. */
export async function workTreeHealth(root: string): Promise<Health> {
  try {
    const { common, gitFolder } = await findRepository(root)
    const isComplete = (await isGitFolder(common)) && existsSync(join(gitFolder, 'HEAD'))
    return isComplete
      ? { ok: true }
      : { ok: false, reason: 'the git repository is incomplete: HEAD, objects or refs is missing' }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** Looked up on every call, because an agent may have changed the work tree. */
async function findRepository(root: string): Promise<WorkTree> {
  const tree = (await gitFolderOf(root)) === undefined ? undefined : await workTreeOf(root)
  if (tree) return tree
  throw new TirelessError('tool_failed', { what: 'not the top folder of a git work tree', where: root })
}
