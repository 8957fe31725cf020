/** The service of a home: a user unit of systemd or an agent of launchd, installed, asked and removed without root. */

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { replaceFile, writeNewFile } from '../../files/whole-files.ts'
import { lastWords, type ProgramResult, type RunProgram } from './run-program.ts'
import { launchdPlist, type ServiceDefinition, serviceName, systemdUnit } from './service-unit.ts'

interface ServiceOptions {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's own folder. */
  readonly user: string
  readonly uid: number
  readonly defaultHome: string
  /** Contract: reads the configuration, so that it may throw. */
  define(environmentFile: string): ServiceDefinition
  readonly home: string
  readonly run: RunProgram
}

interface ServiceState {
  readonly name: string
  readonly file: string
  readonly installed: boolean
  /** Null: the service manager does not answer. */
  readonly enabled: boolean | null
  readonly running: boolean | null
}

export interface Service {
  readonly name: string
  readonly file: string
  readonly environmentFile: string
  /** What to type so that it runs without a login; undefined: nothing is needed, or the system cannot do it. */
  lingerCommand(): string | undefined
  /** Contract: writes the definition, then lets the manager load and start it; a second call updates both. */
  install(): Promise<{
    readonly change: 'created' | 'updated' | 'unchanged'
    /** A copy of the definition that was replaced. */
    readonly kept: string | null
    readonly problem: string | undefined
  }>
  /**
   * Contract: stops the service and removes its definition; touches no home. `kept`: a copy of a definition that
   * `install` would not write.
   */
  uninstall(): Promise<{ readonly removed: boolean; readonly kept: string | null }>
  state(): Promise<ServiceState>
  /** Contract: stops or starts an installed service; throws `conflict` if the manager refuses. */
  stop(): Promise<void>
  start(): Promise<void>
  /** What to type to start it by hand. */
  readonly startCommand: string
}

interface Manager {
  readonly file: string
  readonly text: (environmentFile: string) => string
  readonly startCommand: string
  /** Each list is run in order; the first that fails is the problem. */
  beforeLoad(): readonly (readonly string[])[]
  load(isUpdate: boolean): readonly (readonly string[])[]
  unload(): readonly (readonly string[])[]
  forget(): readonly (readonly string[])[]
  readonly enabled: readonly string[]
  readonly running: readonly string[]
  readonly start: readonly string[]
  readonly stop: readonly string[]
  isRunning(result: ProgramResult): boolean
}

export function createService(options: ServiceOptions): Service {
  const { platform, env, user, home } = options
  const name = serviceName(home, options.defaultHome)
  const settings = env.XDG_CONFIG_HOME || join(user, '.config')
  const environmentFile = join(settings, 'tireless', `${name}.env`)
  const manager = platform === 'darwin' ? launchd(name, options) : systemd(name, settings, options)
  return {
    ...{ name, file: manager.file, environmentFile, startCommand: manager.startCommand },
    lingerCommand: () => (platform === 'darwin' || lingers(env.USER) ? undefined : 'loginctl enable-linger'),
    async install() {
      refuseOtherSystems(platform)
      const { change, kept } = writeDefinition(manager.file, manager.text(environmentFile))
      // Nothing to unload at first, which is no problem.
      await firstProblem(manager.beforeLoad(), options)
      return { change, kept, problem: await firstProblem(manager.load(change === 'updated'), options) }
    },
    async uninstall() {
      if (!existsSync(manager.file)) return { removed: false, kept: null }
      // A manager that does not run has nothing to stop.
      await firstProblem(manager.unload(), options)
      const isOurs = readFileSync(manager.file, 'utf8') === manager.text(environmentFile)
      const kept = isOurs ? null : keepDefinition(manager.file)
      rmSync(manager.file)
      await firstProblem(manager.forget(), options)
      return { removed: true, kept }
    },
    async state() {
      const installed = existsSync(manager.file)
      const [enabled, running] = await Promise.all([ask(manager.enabled, options), ask(manager.running, options)])
      const answers = running !== undefined && enabled !== undefined
      return {
        ...{ name, file: manager.file, installed },
        enabled: answers ? installed && enabled.exit === 0 : null,
        running: answers ? installed && manager.isRunning(running) : null,
      }
    },
    start: () => insist(manager.start, options),
    stop: () => insist(manager.stop, options),
  }
}

function systemd(name: string, settings: string, { define }: ServiceOptions): Manager {
  const unit = `${name}.service`
  const ctl = (...args: string[]): string[] => ['systemctl', '--user', ...args]
  return {
    file: join(settings, 'systemd', 'user', unit),
    text: (environmentFile) => systemdUnit(define(environmentFile)),
    startCommand: `systemctl --user daemon-reload && systemctl --user enable --now ${name}`,
    beforeLoad: () => [],
    load: (isUpdate) => [
      ctl('daemon-reload'),
      ctl('enable', unit),
      // A restart lets running steps finish; `start` leaves a running service alone.
      ctl(isUpdate ? 'restart' : 'start', unit),
    ],
    unload: () => [ctl('disable', '--now', unit)],
    forget: () => [ctl('daemon-reload')],
    enabled: ctl('is-enabled', unit),
    running: ctl('is-active', unit),
    start: ctl('start', unit),
    stop: ctl('stop', unit),
    isRunning: ({ stdout }) => stdout.trim() === 'active',
  }
}

function launchd(name: string, { user, uid, define }: ServiceOptions): Manager {
  const label = `local.${name}`
  const target = `gui/${uid}/${label}`
  const file = join(user, 'Library', 'LaunchAgents', `${label}.plist`)
  const logFile = join(user, 'Library', 'Logs', `${label}.log`)
  return {
    file,
    text: (environmentFile) => launchdPlist(label, define(environmentFile), logFile),
    startCommand: `launchctl bootstrap gui/${uid} ${file}`,
    // launchd refuses to load a job twice.
    beforeLoad: () => [['launchctl', 'bootout', target]],
    load: () => [
      ['launchctl', 'enable', target],
      ['launchctl', 'bootstrap', `gui/${uid}`, file],
    ],
    unload: () => [['launchctl', 'bootout', target]],
    forget: () => [],
    enabled: ['launchctl', 'print', target],
    running: ['launchctl', 'print', target],
    start: ['launchctl', 'bootstrap', `gui/${uid}`, file],
    stop: ['launchctl', 'bootout', target],
    isRunning: ({ exit, stdout }) => exit === 0 && /^\s*state = running$/m.test(stdout),
  }
}

function refuseOtherSystems(platform: string): void {
  if (platform === 'linux' || platform === 'darwin') return
  throw new TirelessError('usage', {
    what: 'services are supported on Linux (systemd) and macOS (launchd)',
    got: platform,
    fix: 'let the system run `tireless start` at login',
  })
}

/** The owner may have changed the definition before. */
function writeDefinition(file: string, text: string) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (before === text) return { change: 'unchanged', kept: null } as const
  const kept = before === undefined ? null : keepDefinition(file)
  mkdirSync(dirname(file), { recursive: true })
  replaceFile(file, text, { mode: 0o644 })
  return { change: before === undefined ? 'created' : 'updated', kept } as const
}

/** Contract: a copy beside the file, under a name that no service manager reads; it replaces no other copy. */
function keepDefinition(file: string): string {
  const name = (nth: number): string => `${file}.before-${nth}`
  let nth = 1
  while (existsSync(name(nth))) nth += 1
  writeNewFile(name(nth), readFileSync(file))
  return name(nth)
}

/** Contract: undefined if the manager cannot be asked: there is no such program, or it cannot reach its service. */
async function ask(line: readonly string[], { run, env }: ServiceOptions): Promise<ProgramResult | undefined> {
  const [program = '', ...args] = line
  try {
    const result = await run(program, args, { env })
    return /Failed to connect to bus|No medium found|not been booted with systemd/.test(result.stderr)
      ? undefined
      : result
  } catch {
    return undefined
  }
}

async function firstProblem(
  lines: readonly (readonly string[])[],
  options: ServiceOptions,
): Promise<string | undefined> {
  for (const line of lines) {
    const result = await ask(line, options)
    if (!result) return `${line[0]} does not answer here`
    if (result.exit !== 0) return `${line.join(' ')}: ${lastWords(result)}`
  }
  return undefined
}

async function insist(line: readonly string[], options: ServiceOptions): Promise<void> {
  const problem = await firstProblem([line], options)
  if (problem !== undefined) throw new TirelessError('conflict', { what: 'the service did not follow', got: problem })
}

/** systemd notes here which users' services run without a login. */
const lingers = (name: string | undefined): boolean =>
  name !== undefined && name !== '' && existsSync(join('/var/lib/systemd/linger', name))
