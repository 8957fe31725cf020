/**
 * The container sandbox: each agent command runs in its own container of the owner's image, with Docker or Podman. The
 * workspace is guarded, and the sandbox is tested before its first use, in the same way as with bubblewrap. A container
 * is not a child process of the runtime: it is removed by its name, also after a crash.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import { replaceFile } from '../../../files/whole-files.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { StoredPaths } from '../../../ports/stored-paths.ts'
import type { Launch, Launcher, LaunchRequest } from '../host/launcher.ts'
import type { ProcessTable } from '../host/process-table.ts'
import { INNER_HOME } from '../sandbox/bubblewrap-command-line.ts'
import { makeCommandHome, moveMounts, ulimitScript } from '../sandbox/launch-bubblewrap.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { runSelfTest, type SandboxTestResult } from '../sandbox/self-test.ts'
import { createGuards, quarantineFolder, withoutGuard } from '../sandbox/workspace-guard.ts'
import { containerRunArgs, isMountable } from './container-command-line.ts'
import {
  type ContainerEngine,
  type EngineEnvironment,
  findContainerEngine,
  lastErrorLine,
} from './find-container-engine.ts'
import { restrictProfile } from './seccomp-profile.ts'

interface ContainerOptions {
  readonly image: string
  /** The home's folder for sandbox files. */
  readonly folder: string
  readonly hidden: readonly string[]
  readonly env: EngineEnvironment
  readonly clock: Clock
  readonly table?: ProcessTable
  /** How the home names workspaces; default: by their absolute paths. */
  readonly paths?: StoredPaths
}

/** Paths inside the container. */
const BASH_ENV = '/.tireless/bash-env'
const CWD_FILE = '/.tireless/cwd'

/**
 * Bash runs this first. It merges stdout and stderr, because engines deliver the two in no fixed order, and at exit it
 * writes bash's working folder to CWD_FILE.
 */
const BASH_ENV_TEXT = `unset BASH_ENV
exec 2>&1
trap 'pwd -P > ${CWD_FILE}' EXIT
${ulimitScript('bash')}`

export function createContainers(options: ContainerOptions): Sandbox {
  const { image, folder } = options
  let result: SandboxTestResult | undefined
  let testing: Promise<{ readonly trial: SandboxTestResult; readonly launch?: Launcher }> | undefined
  let engine: ReturnType<typeof findContainerEngine> | undefined

  async function findAndTest(): Promise<{ readonly trial: SandboxTestResult; readonly launch?: Launcher }> {
    engine ??= findContainerEngine(image, options.env)
    const found = await engine
    if ('why' in found) return { trial: { holds: false, ...found } }
    // Removes containers that an earlier runtime process left; only one process holds the home at a time.
    await removeAll(found, options.clock, `label=${labelOf(folder)}`)
    const launch = await launcherIn(found, options)
    return { trial: await testContainers(found, launch, options), launch }
  }

  const testOnce = () => {
    testing ??= findAndTest().catch((thrown) => ({
      trial: { holds: false as const, why: lastErrorLine(thrown), remedy: 'fix the reported error' },
    }))
    return testing
  }

  async function launch(wanted: LaunchRequest): Promise<Launch> {
    const { trial, launch: raw } = await testOnce()
    if (trial.holds && raw) return raw(wanted)
    throw new TirelessError('tool_failed', {
      what: 'cannot run commands: the container sandbox does not work',
      got: trial.holds ? '' : trial.why,
    })
  }

  async function end(call: string): Promise<boolean> {
    engine ??= findContainerEngine(image, options.env)
    const found = await engine
    if (!('why' in found)) return removeContainerOf(found, options.clock, call)
    throw new TirelessError('tool_failed', {
      what: 'cannot tell whether a container of the call is still running',
      got: found.why,
      fix: found.remedy,
    })
  }

  return {
    launcher: Object.assign(launch, { end }),
    async trial() {
      result = (await testOnce()).trial
      return result
    },
    known: () => result,
  }
}

function testContainers(
  engine: ContainerEngine,
  launch: Launcher,
  options: ContainerOptions,
): Promise<SandboxTestResult> {
  const { image, clock } = options
  return runSelfTest({
    ...options,
    launcher: Object.assign(launch, { end: (call: string) => removeContainerOf(engine, clock, call) }),
    named: `a container of ${image} (${engine.name} ${engine.version})`,
    // A container may write to its own /dev, whose device nodes give no extra access.
    harmless: ['/dev writable'],
    shared: ['user'],
    remedy: `run ${engine.name} run --rm --network none --entrypoint bash ${image} -c true, or remove sandbox_image`,
  })
}

async function launcherIn(engine: ContainerEngine, { image, folder, paths }: ContainerOptions): Promise<Launcher> {
  const guardOf = createGuards(quarantineFolder(folder), isMountable)
  const bashEnvFile = join(folder, 'container-bash-env')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  replaceFile(bashEnvFile, BASH_ENV_TEXT, { mode: 0o600, isFlushed: false })
  const filter = engine.defaultProfile === undefined ? undefined : await writeProfile(folder, engine.defaultProfile)
  return async (wanted) => {
    const { root, folder: call, command, env, network, readOnly, input = false, seenAt = root } = wanted
    if (typeof network === 'function') throw networkUnavailable()
    const [guard, home] = readOnly
      ? [withoutGuard(readOnly), undefined]
      : await Promise.all([guardOf({ root, folder: call }), wanted.home ?? makeCommandHome(folder, root, paths)])
    const cwd = join(seenAt, relative(root, wanted.cwd))
    const args = containerRunArgs({
      ...{ engine: engine.name, image, name: nameOf(call), label: labelOf(folder), filter, cwd, command, input },
      environment: { ...inherited(env), HOME: home === undefined ? '/tmp' : INNER_HOME, BASH_ENV },
      binds: [
        { from: root, at: seenAt, writable: home !== undefined },
        ...moveMounts(root, seenAt, guard.binds),
        ...(home === undefined ? [] : [{ from: home, at: INNER_HOME, writable: true }]),
        { from: bashEnvFile, at: BASH_ENV, writable: false },
        { from: join(call, 'cwd'), at: CWD_FILE, writable: true },
      ],
    })
    return {
      // Unsets the variables that mark the call's processes; else the engine's container monitor would be killed too.
      argv: ['env', '-u', 'TIRELESS_CALL', '-u', 'TIRELESS_CALL_SCOPE', engine.program, ...args],
      env: engine.env,
      cwd: '/',
      handles: [],
      notes: guard.removeProtected,
      async [Symbol.asyncDispose]() {},
    }
  }
}

const networkUnavailable = (): TirelessError =>
  new TirelessError('tool_failed', {
    what: 'the command needs a network, and commands in a container have none',
    fix: 'remove sandbox_image: commands in bubblewrap can reach allowed hosts',
  })

/** Contract: undefined if `profile` cannot be read; the self-test then shows whether the sandbox holds without it. */
async function writeProfile(folder: string, profile: string): Promise<string | undefined> {
  const file = join(folder, 'container-filter.json')
  const text = await readFile(profile, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  replaceFile(file, restrictProfile(text), { mode: 0o600, isFlushed: false })
  return file
}

const INHERITED = ['LANG', 'TERM', 'TZ']

/** The variables that a container inherits. PATH is not among them: it comes from the image. */
const inherited = (env: EngineEnvironment): Record<string, string> =>
  Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
const nameOf = (call: string): string => `tireless-${digest(call)}`
const labelOf = (folder: string): string => `tireless.home=${digest(folder)}`

/** Without `--time 0`, Podman waits ten seconds before it kills the container. */
const REMOVE = { docker: ['rm', '--force'], podman: ['rm', '--force', '--time', '0'] } as const

const removeContainerOf = (engine: ContainerEngine, clock: Clock, call: string): Promise<boolean> =>
  removeAll(engine, clock, `name=^${nameOf(call)}$`)

/** Waits between attempts: an engine refuses to remove a container that it is already removing. */
const RETRY_MS = [50, 200, 1000, 4000]

/** Contract: removes every container that matches `filter`; returns whether there was any. Throws if one is left. */
async function removeAll(engine: ContainerEngine, clock: Clock, filter: string): Promise<boolean> {
  const found = async () =>
    (await engine.run('ps', '--all', '--quiet', '--filter', filter)).split('\n').filter((id) => id !== '')
  let left = await found()
  if (left.length === 0) return false
  for (const ms of RETRY_MS) {
    const isDone = await engine.run(...REMOVE[engine.name], ...left).then(
      () => true,
      () => false,
    )
    left = isDone ? [] : await found()
    if (left.length === 0) return true
    await clock.sleep(ms)
  }
  throw new TirelessError('tool_failed', {
    what: 'cannot remove a container',
    where: left.join(', '),
    fix: `run ${engine.name} ps --all to inspect it`,
  })
}
