/** The repository env: a git work tree on this machine. Adds git to the files and commands of the host env. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Health, provideOps, requireOps } from '../../../ports/env.ts'
import type { GitSandbox } from '../git.ts'
import type { HostEnvs } from '../host/host.ts'
import { findGitFolder, isGitFolder, locateWorkTree, type WorkTree } from './git-folder.ts'
import { createGitOps, openRepositoryGit } from './git-ops.ts'

interface RepositoryOptions {
  readonly clock: Clock
  readonly git: GitSandbox
}

/** `host`: opens the env that provides files and processes. */
export function createRepositoryEnvs(host: HostEnvs, options: RepositoryOptions): HostEnvs {
  return {
    async open(workspace, view) {
      const hostEnv = await host.open(workspace, view)
      const { root } = hostEnv
      const health = async (): Promise<Health> => {
        const innerHealth = await hostEnv.health()
        return innerHealth.ok ? checkWorkTree(root) : innerHealth
      }
      const found = await checkWorkTree(root)
      if (!found.ok) {
        await hostEnv.close()
        throw new TirelessError('workspace_refused', {
          what: found.reason,
          where: root,
          fix: 'run git init there, or use the host env',
        })
      }
      const git = createGitOps(async () => openRepositoryGit(await findRepository(root), options.git, options.clock))
      const ops = provideOps({ file: requireOps(hostEnv, 'file'), process: requireOps(hostEnv, 'process'), git })
      return { root, ...ops, health, close: () => hostEnv.close() }
    },
  }
}

/** Contract: never throws; runs no git. */
export async function checkWorkTree(root: string): Promise<Health> {
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

/** Locates the repository anew on every call, because an agent may have changed the work tree. */
async function findRepository(root: string): Promise<WorkTree> {
  const tree = (await findGitFolder(root)) === undefined ? undefined : await locateWorkTree(root)
  if (tree) return tree
  throw new TirelessError('tool_failed', { what: 'not the top folder of a git work tree', where: root })
}
