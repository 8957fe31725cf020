/**
 * The container: commands of agents run in an image of the owner's choice, each in a container of its own, by whichever engine there is. The same guards
 * over the workspace as in the sandbox, and tried in the same way before anything is run in it. A container is no process of
 * ours: it is ended by its name, also after a crash.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Launch, Launcher, ToLaunch } from '../host/launch.ts'
import type { ProcessTable } from '../host/process-table.ts'
import { guards, keptAside, unguarded } from '../sandbox/guard.ts'
import { homeFor, limits } from '../sandbox/launcher.ts'
import { INNER_HOME } from '../sandbox/layout.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { type Trial, trialOf } from '../sandbox/self-test.ts'
import { isMountable, runArgs } from './arguments.ts'
import { complaintOf, type Engine, type Environment, findEngine } from './engine.ts'
import { stricter } from './filter.ts'

export interface ContainerOptions {
  readonly image: string
  /** A folder of the home. */
  readonly folder: string
  readonly hidden: readonly string[]
  readonly env: Environment
  readonly clock: Clock
  readonly table?: ProcessTable
}

/** Seen from inside. */
const BASH_ENV = '/.tireless/bash-env'
const PLACE = '/.tireless/cwd'

/** Both outputs are one, because engines hand on two in no order; and where bash stands when it ends is a file. */
const FIRST = `unset BASH_ENV
exec 2>&1
trap 'pwd -P > ${PLACE}' EXIT
${limits('bash')}`

export function createContainers(options: ContainerOptions): Sandbox {
  const { image, folder } = options
  let known: Trial | undefined
  let asked: Promise<{ readonly trial: Trial; readonly launch?: Launcher }> | undefined
  let engine: ReturnType<typeof findEngine> | undefined

  async function find(): Promise<{ readonly trial: Trial; readonly launch?: Launcher }> {
    engine ??= findEngine(image, options.env)
    const found = await engine
    if ('why' in found) return { trial: { holds: false, ...found } }
    // What an earlier life of this home has left: whoever holds a home is alone in it.
    await removeAll(found, options.clock, `label=${labelOf(folder)}`)
    const launch = await launcherIn(found, options)
    const named = `a container of ${image} (${found.name} ${found.version})`
    const trial = await trialOf({
      ...{
        ...options,
        launcher: Object.assign(launch, { end: (call: string) => endIn(found, options.clock, call) }),
        named,
      },
      // Its own, and nothing but nodes that cannot be more than they are.
      harmless: ['/dev writable'],
      shared: ['user'],
      remedy: `try it by hand: ${found.name} run --rm --network none --entrypoint bash ${image} -c true; or leave out sandbox_image`,
    })
    return { trial, launch }
  }

  const tried = () => {
    asked ??= find().catch((thrown) => ({
      trial: { holds: false as const, why: complaintOf(thrown), remedy: 'see what it says' },
    }))
    return asked
  }

  async function launch(wanted: ToLaunch): Promise<Launch> {
    const { trial, launch: raw } = await tried()
    if (trial.holds && raw) return raw(wanted)
    throw new TirelessError('tool_failed', {
      what: 'no commands can be run: there is no container that holds',
      got: trial.holds ? '' : trial.why,
    })
  }

  async function end(call: string): Promise<boolean> {
    engine ??= findEngine(image, options.env)
    const found = await engine
    if (!('why' in found)) return endIn(found, options.clock, call)
    throw new TirelessError('tool_failed', {
      what: 'whether a container of the call still runs cannot be told',
      got: found.why,
      fix: found.remedy,
    })
  }

  return {
    launcher: Object.assign(launch, { end }),
    async trial() {
      known = (await tried()).trial
      return known
    },
    known: () => known,
  }
}

async function launcherIn(engine: Engine, { image, folder }: ContainerOptions): Promise<Launcher> {
  const guardOf = guards(keptAside(folder), isMountable)
  const first = join(folder, 'container-bash-env')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(first, FIRST, { mode: 0o600 })
  const filter = engine.filter === undefined ? undefined : await filterIn(folder, engine.filter)
  return async ({ root, cwd, folder: call, command, env, network, readOnly, input = false }) => {
    if (typeof network === 'function') throw withoutNetwork()
    const [guard, home] = readOnly
      ? [unguarded(readOnly), undefined]
      : await Promise.all([guardOf({ root, folder: call }), homeFor(folder, root)])
    const args = runArgs({
      ...{ engine: engine.name, image, name: nameOf(call), label: labelOf(folder), filter, cwd, command, input },
      environment: { ...inherited(env), HOME: home === undefined ? '/tmp' : INNER_HOME, BASH_ENV },
      binds: [
        { from: root, at: root, writable: home !== undefined },
        ...guard.binds,
        ...(home === undefined ? [] : [{ from: home, at: INNER_HOME, writable: true }]),
        { from: first, at: BASH_ENV, writable: false },
        { from: join(call, 'cwd'), at: PLACE, writable: true },
      ],
    })
    return {
      // Without the marks of the call: what watches over a container is the engine's, and is not to be killed with it.
      argv: ['env', '-u', 'TIRELESS_CALL', '-u', 'TIRELESS_CALL_SCOPE', engine.program, ...args],
      env: engine.env,
      cwd: '/',
      handles: [],
      notes: guard.swept,
      async [Symbol.asyncDispose]() {},
    }
  }
}

const withoutNetwork = (): TirelessError =>
  new TirelessError('tool_failed', {
    what: 'this needs a network, and commands in a container have none',
    fix: 'leave out sandbox_image: in bubblewrap there is a way to hosts that are allowed',
  })

/** Contract: undefined where it cannot be read; whoever tries the container finds out whether that matters. */
async function filterIn(folder: string, profile: string): Promise<string | undefined> {
  const file = join(folder, 'container-filter.json')
  const text = await readFile(profile, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  await writeFile(file, stricter(text), { mode: 0o600 })
  return file
}

const INHERITED = ['LANG', 'TERM', 'TZ']

/** The PATH is the image's own. */
const inherited = (env: Environment): Record<string, string> =>
  Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
const nameOf = (call: string): string => `tireless-${digest(call)}`
const labelOf = (folder: string): string => `tireless.home=${digest(folder)}`

/** At once, and not after the ten seconds that Podman would wait. */
const REMOVE = { docker: ['rm', '--force'], podman: ['rm', '--force', '--time', '0'] } as const

const endIn = (engine: Engine, clock: Clock, call: string): Promise<boolean> =>
  removeAll(engine, clock, `name=^${nameOf(call)}$`)

/** Between two tries: an engine that is removing it already refuses to do so again. */
const AGAIN_MS = [50, 200, 1000, 4000]

/** Contract: when it returns, there is none any more that fits; says whether there was one. */
async function removeAll(engine: Engine, clock: Clock, filter: string): Promise<boolean> {
  const found = async () =>
    (await engine.ask('ps', '--all', '--quiet', '--filter', filter)).split('\n').filter((id) => id !== '')
  let left = await found()
  if (left.length === 0) return false
  for (const ms of AGAIN_MS) {
    const isDone = await engine.ask(...REMOVE[engine.name], ...left).then(
      () => true,
      () => false,
    )
    left = isDone ? [] : await found()
    if (left.length === 0) return true
    await clock.sleep(ms)
  }
  throw new TirelessError('tool_failed', {
    what: 'a container cannot be removed',
    where: left.join(', '),
    fix: `look at it: ${engine.name} ps --all`,
  })
}
