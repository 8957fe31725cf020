/**
 * Opens the env of a workspace: `repository` for the top folder of a git work tree, `host` for any other folder. The
 * workspace itself, on a read-only mount, or a throw-away copy.
 */

import { realpath } from 'node:fs/promises'
import { assertNever, TirelessError } from '../../domain/error.ts'
import { type Env, type Envs, type OpsGroups, provideOps } from '../../ports/env.ts'
import type { CopyLimits } from './copies/copy-workspace.ts'
import { makeThrowAwayCopy } from './copies/throw-away-copy.ts'
import { type GitSandbox, gitWithoutSandbox } from './git.ts'
import { type HostEnvs, type HostOptions, hostEnvs } from './host/host.ts'
import { refuseWrites } from './read-only.ts'
import { checkWorkTree, createRepositoryEnvs } from './repository/repository.ts'
import { findCommonFolder, readOnlyBind } from './sandbox/git-mounts.ts'

interface EnvOptions extends HostOptions {
  /** How the runtime's own git is sandboxed; default: not at all. */
  readonly git?: GitSandbox
  /** The folder for throw-away copies; default: none can be made. */
  readonly copiesDir?: string
  readonly copyLimits?: CopyLimits
  /** Contract: the folder that is $HOME for commands in that workspace. Default: commands have the machine's. */
  readonly findCommandHome?: (root: string) => Promise<string>
}

export function createWorkspaceEnvs(options: EnvOptions): Envs {
  const opener = new EnvOpener(options)
  return {
    async open(workspace, kind, access = 'write') {
      switch (access) {
        case 'write':
          return opener.openOriginal(workspace, kind)
        case 'copy':
          return opener.openCopy(workspace, kind)
        case 'read_only':
          return opener.openReadOnly(workspace, kind)
        default:
          return assertNever(access)
      }
    },
  }
}

export const BUILTIN_ENV_KINDS: readonly string[] = ['host', 'repository']

class EnvOpener {
  readonly #options: EnvOptions
  readonly #kinds: ReadonlyMap<string, HostEnvs>

  constructor(options: EnvOptions) {
    this.#options = options
    const host = hostEnvs(options)
    const git = options.git ?? gitWithoutSandbox(options.env)
    this.#kinds = new Map([
      ['host', host],
      ['repository', createRepositoryEnvs(host, { clock: options.clock, git })],
    ])
  }

  async openOriginal(workspace: string, kind: string | undefined): Promise<Env> {
    const env = await (await this.#envsFor(workspace, kind)).open(workspace)
    return { ...env, openCopy: () => this.openCopy(workspace, kind) }
  }

  /** Without a sandbox, nothing keeps commands from writing to the workspace, so they get a copy. */
  async openReadOnly(workspace: string, kind: string | undefined): Promise<Env> {
    if (!this.#options.launcher) return withoutWrites(await this.openCopy(workspace, kind))
    const envs = await this.#envsFor(workspace, kind)
    const common = await findCommonFolder(await realpath(workspace).catch(() => workspace))
    const env = await envs.open(workspace, { readOnly: common === undefined ? [] : [readOnlyBind(common)] })
    return withoutWrites({ ...env, openCopy: () => this.openCopy(workspace, kind) })
  }

  async openCopy(workspace: string, kind: string | undefined): Promise<Env> {
    const { copiesDir, launcher, findCommandHome, copyLimits } = this.#options
    if (copiesDir === undefined)
      throw new TirelessError('workspace_refused', { what: 'this runtime has no folder for copies', where: workspace })
    // Opened first, so that a missing workspace is created, and an unusable one is refused, as for any other access.
    await (await this.#envsFor(workspace, kind)).open(workspace).then((env) => env.close())
    const root = await realpath(workspace)
    const home = launcher && (await findCommandHome?.(root))
    const links = launcher ? 'keep' : 'cut'
    const copy = await makeThrowAwayCopy({ folder: copiesDir, root, links, home, limits: copyLimits })
    try {
      const envs = await this.#envsFor(copy.root, kind)
      const view = { home: copy.home, ...(launcher && { seenAt: root }) }
      const env = await envs.open(copy.root, view)
      const close = async (): Promise<void> => {
        await env.close()
        await copy.remove()
      }
      const openCopy = (): Promise<Env> => this.openCopy(workspace, kind)
      return { ...env, ...(launcher && { root }), access: 'copy', digest: copy.digest, openCopy, close }
    } catch (thrown) {
      await copy.remove()
      throw thrown
    }
  }

  async #envsFor(workspace: string, kind: string | undefined): Promise<HostEnvs> {
    const chosen = kind ?? (await detectKind(workspace))
    const envs = this.#kinds.get(chosen)
    if (envs) return envs
    throw new TirelessError('not_found', {
      what: 'unknown env kind',
      got: chosen,
      expected: `one of ${[...this.#kinds.keys()].join(', ')}`,
    })
  }
}

function withoutWrites(env: Env): Env {
  const ops: Partial<OpsGroups> = Object.fromEntries(env.groups.map((group) => [group, env.getOps(group)]))
  return { ...env, ...provideOps(refuseWrites(ops)), access: 'read_only' }
}

/** A repository that git cannot read opens as a host env, so that an agent can still repair it. */
async function detectKind(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch(() => undefined)
  return root !== undefined && (await checkWorkTree(root)).ok ? 'repository' : 'host'
}
