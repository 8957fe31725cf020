/** The envs there are, by kind. A folder that is the top of a git work tree is a repository; every other one is the host's. */

import { realpath } from 'node:fs/promises'
import { TirelessError } from '../../domain/error.ts'
import type { Envs } from '../../ports/env.ts'
import { type GitHost, unconfined } from './git.ts'
import { type HostOptions, hostEnvs } from './host/host.ts'
import { repositoryEnvs, workTreeHealth } from './repository/repository.ts'

export interface EnvOptions extends HostOptions {
  /** How our own git is confined; default: not at all. */
  readonly git?: GitHost
}

export function workspaceEnvs(options: EnvOptions): Envs {
  const host = hostEnvs(options)
  const kinds = new Map<string, Envs>([
    ['host', host],
    ['repository', repositoryEnvs(host, { clock: options.clock, git: options.git ?? unconfined(options.env) })],
  ])
  return {
    async open(workspace, kind) {
      const wanted = kind ?? (await kindOf(workspace))
      const envs = kinds.get(wanted)
      if (envs) return envs.open(workspace)
      throw new TirelessError('not_found', {
        what: 'there is no env of that kind',
        got: wanted,
        expected: `one of ${[...kinds.keys()].join(', ')}`,
      })
    },
  }
}

/** A repository that git will not read is the host's: whoever works there can still mend it. */
async function kindOf(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch(() => undefined)
  return root !== undefined && (await workTreeHealth(root)).ok ? 'repository' : 'host'
}
