/** The repository env: a git work tree on this machine. Files and commands as the host has them, and git beside them. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Envs, type Health, opsOf, supplying } from '../../../ports/env.ts'
import type { Environment, Git } from '../git.ts'
import { gitFolderOf } from './git-folder.ts'
import { gitAt, gitOps } from './git-ops.ts'

export interface RepositoryOptions {
  readonly clock: Clock
  readonly env: Environment
}

/** `host` supplies everything but git. */
export function repositoryEnvs(host: Envs, options: RepositoryOptions): Envs {
  return {
    async open(workspace) {
      const inner = await host.open(workspace)
      const { root } = inner
      const health = async (): Promise<Health> => {
        const below = await inner.health()
        return below.ok ? workTreeHealth(root, options) : below
      }
      const found = await workTreeHealth(root, options)
      if (!found.ok) {
        await inner.close()
        throw new TirelessError('workspace_refused', {
          what: found.reason,
          where: root,
          fix: 'git init there, or use the host env',
        })
      }
      const git = gitOps(() => repositoryOf(root, options))
      const ops = supplying({ file: opsOf(inner, 'file'), process: opsOf(inner, 'process'), git })
      return { root, ...ops, health, close: () => inner.close() }
    },
  }
}

/** Contract: never throws. */
export async function workTreeHealth(root: string, options: RepositoryOptions): Promise<Health> {
  try {
    const git = await repositoryOf(root, options)
    const { ok, output } = await git(['rev-parse', '--is-inside-work-tree'])
    return ok ? { ok } : { ok, reason: `git cannot read the repository: ${output}` }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** Looked for each time: what is in the work tree may have changed since. */
async function repositoryOf(root: string, { env, clock }: RepositoryOptions): Promise<Git> {
  const folder = await gitFolderOf(root)
  if (folder !== undefined) return gitAt(root, folder, env, clock)
  throw new TirelessError('tool_failed', { what: 'it is not the top folder of a git work tree', where: root })
}
