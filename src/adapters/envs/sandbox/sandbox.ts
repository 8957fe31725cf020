/**
 * The sandbox: commands of agents run in bubblewrap. They see the system read-only, the workspace and a home of their own, and nothing
 * else: no home of the owner, no process, no network. Whether it holds on this machine is tried before anything is run in it.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { isProgram, type Launcher } from '../host/launch.ts'
import type { ProcessTable } from '../host/process-table.ts'
import { type Bubblewrap, launcherOf } from './launcher.ts'
import { type Trial, trialOf } from './self-test.ts'

export interface SandboxOptions {
  /** A folder of the home, for what sandboxes are made of. */
  readonly folder: string
  /** The home, and whatever else must not be seen. */
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly table?: ProcessTable
  /** Forwards connections where it is there, because it starts at once; default: the one of the system. */
  readonly perl?: string
}

export interface Sandbox {
  /** Contract: throws `tool_failed` where the sandbox does not hold. */
  readonly launcher: Launcher
  /** Contract: found out once; never throws. */
  trial(): Promise<Trial>
  /** What is known already. */
  known(): Trial | undefined
}

/** Contract: whether a sandbox would hold here; leaves nothing behind, never throws. */
export async function trySandbox(make: (folder: string) => Sandbox | undefined): Promise<Trial | 'off'> {
  const folder = await mkdtemp(join(tmpdir(), 'tireless-sandbox-'))
  try {
    return (await make(folder)?.trial()) ?? 'off'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** For the life of the process: the same bubblewrap on the same kernel. */
const trials = new Map<string, Promise<Trial>>()

export function createSandbox(options: SandboxOptions): Sandbox {
  let known: Trial | undefined
  let asked: Promise<Trial> | undefined
  let raw: Promise<Launcher> | undefined

  async function find(): Promise<Trial> {
    const found = await bubblewrap(options.env.PATH ?? '')
    if ('why' in found) return found
    raw = launcherOf({ ...options, ...found })
    const launcher = await raw
    const key = [found.program, found.version, release(), process.getuid?.()].join(' ')
    const trial = trials.get(key) ?? trialOf({ ...options, launcher, named: `bubblewrap ${found.version.join('.')}` })
    trials.set(key, trial)
    return trial
  }

  async function trial(): Promise<Trial> {
    asked ??= find().catch((thrown) => broken(String(thrown)))
    known = await asked
    return known
  }

  return {
    trial,
    known: () => known,
    async launcher(wanted) {
      const found = await trial()
      if (!found.holds || !raw)
        throw new TirelessError('tool_failed', {
          what: 'no commands can be run: there is no sandbox that holds',
          got: found.holds ? '' : found.why,
        })
      return (await raw)(wanted)
    },
  }
}

const broken = (why: string): Trial => ({ holds: false, why, remedy: 'see what it says' })

async function bubblewrap(path: string): Promise<Bubblewrap | Extract<Trial, { holds: false }>> {
  if (process.platform !== 'linux')
    return {
      holds: false,
      why: `there is none for ${process.platform}`,
      remedy: 'run it on Linux, in a container or a virtual machine',
    }
  const program = path
    .split(':')
    .map((folder) => join(folder, 'bwrap'))
    .find(isProgram)
  if (program === undefined)
    return {
      holds: false,
      why: 'bubblewrap is not installed',
      remedy: 'install the package bubblewrap (apt-get, dnf, apk, pacman or zypper)',
    }
  const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 })
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout) ?? []
  return { program, version: [Number(major), Number(minor)] }
}
