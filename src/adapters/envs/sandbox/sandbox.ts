/**
 * The sandbox: agent commands run in bubblewrap. They see the system folders read-only, the workspace and their own
 * $HOME; they do not see the owner's files, other processes or the network. A self-test checks that the sandbox works
 * on this machine before the first command.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { StoredPaths } from '../../../ports/stored-paths.ts'
import { isExecutableFile, type Launcher } from '../host/launcher.ts'
import type { ProcessTable } from '../host/process-table.ts'
import { type Bubblewrap, createSandboxLauncher } from './launch-bubblewrap.ts'
import { runSelfTest, type SandboxTestResult } from './self-test.ts'

export interface SandboxOptions {
  /** The home's folder for sandbox files. */
  readonly folder: string
  /** The home, and other folders that commands must not see. */
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly table?: ProcessTable
  /** How the home names workspaces; default: by their absolute paths. */
  readonly paths?: StoredPaths
  /** The Perl that runs the forwarder; default: /usr/bin/perl. */
  readonly perl?: string
}

export interface Sandbox {
  /** Contract: runs the self-test before its first use; throws `tool_failed` if the self-test failed. */
  readonly launcher: Launcher
  /** Contract: runs the self-test once and remembers its result; never throws. */
  trial(): Promise<SandboxTestResult>
  /** The result of the self-test; undefined until the test has ended. */
  known(): SandboxTestResult | undefined
}

/** Contract: tests a sandbox in a temporary folder, which it removes; never throws. */
export async function trySandbox(make: (folder: string) => Sandbox | undefined): Promise<SandboxTestResult | 'off'> {
  const folder = await mkdtemp(join(tmpdir(), 'tireless-sandbox-'))
  try {
    return (await make(folder)?.trial()) ?? 'off'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Self-test results of this process. The key contains program, version, kernel and user. */
const trials = new Map<string, Promise<SandboxTestResult>>()

export function createSandbox(options: SandboxOptions): Sandbox {
  let result: SandboxTestResult | undefined
  let testing: Promise<SandboxTestResult> | undefined
  let raw: Promise<Launcher> | undefined

  async function findAndTest(): Promise<SandboxTestResult> {
    const found = await findBubblewrap(options.env.PATH ?? '')
    if ('why' in found) return found
    raw = createSandboxLauncher({ ...options, ...found })
    const launcher = await raw
    const key = [found.program, found.version, release(), process.getuid?.()].join(' ')
    const trial =
      trials.get(key) ?? runSelfTest({ ...options, launcher, named: `bubblewrap ${found.version.join('.')}` })
    trials.set(key, trial)
    return trial
  }

  async function trial(): Promise<SandboxTestResult> {
    testing ??= findAndTest().catch((thrown) => failedTrial(String(thrown)))
    result = await testing
    return result
  }

  return {
    trial,
    known: () => result,
    async launcher(wanted) {
      const found = await trial()
      if (!found.holds || !raw)
        throw new TirelessError('tool_failed', {
          what: 'cannot run commands: the sandbox does not work',
          got: found.holds ? '' : found.why,
        })
      return (await raw)(wanted)
    },
  }
}

const failedTrial = (why: string): SandboxTestResult => ({ holds: false, why, remedy: 'fix the reported error' })

async function findBubblewrap(path: string): Promise<Bubblewrap | Extract<SandboxTestResult, { holds: false }>> {
  if (process.platform !== 'linux')
    return {
      holds: false,
      why: `no sandbox is available for ${process.platform}`,
      remedy: 'run Tireless on Linux, in a container or a virtual machine',
    }
  const program = path
    .split(':')
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutableFile)
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
