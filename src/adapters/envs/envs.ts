/** Opens the env of a workspace: `repository` for the top folder of a git work tree, `host` for any other folder. */

import { realpath } from 'node:fs/promises'
import { TirelessError } from '../../domain/error.ts'
import type { Envs } from '../../ports/env.ts'
import { type GitSandbox, gitWithoutSandbox } from './git.ts'
import { type HostOptions, hostEnvs } from './host/host.ts'
import { checkWorkTree, createRepositoryEnvs } from './repository/repository.ts'

interface EnvOptions extends HostOptions {
  /** How the runtime's own git is sandboxed; default: not at all. */
  readonly git?: GitSandbox
}

export function createWorkspaceEnvs(options: EnvOptions): Envs {
  const host = hostEnvs(options)
  const kinds = new Map<string, Envs>([
    ['host', host],
    [
      'repository',
      createRepositoryEnvs(host, { clock: options.clock, git: options.git ?? gitWithoutSandbox(options.env) }),
    ],
  ])
  return {
    async open(workspace, kind) {
      const chosen = kind ?? (await detectKind(workspace))
      const envs = kinds.get(chosen)
      if (envs) return envs.open(workspace)
      throw new TirelessError('not_found', {
        what: 'unknown env kind',
        got: chosen,
        expected: `one of ${[...kinds.keys()].join(', ')}`,
      })
    },
  }
}

/** A repository that git cannot read opens as a host env, so that an agent can still repair it. */
async function detectKind(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch(() => undefined)
  return root !== undefined && (await checkWorkTree(root)).ok ? 'repository' : 'host'
}
