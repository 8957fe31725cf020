/** Builds what commands can do about the installation: the service of this home, and upgrades of the program. */

import { existsSync, readFileSync } from 'node:fs'
import {
  findInstallation,
  type Installation,
  type InstalledPackage,
  programWords,
  readSelection,
} from '../adapters/installation/installation.ts'
import { availableVersion, isNewer, packageSource } from '../adapters/installation/npm-package.ts'
import { runProgram } from '../adapters/installation/run-program.ts'
import { createService, type Service } from '../adapters/installation/service.ts'
import {
  defaultBackupFolder,
  type UpgradeOptions,
  undoUpgrade,
  upgradeProgram,
} from '../adapters/installation/upgrade.ts'
import { openLogReader } from '../adapters/log/log.ts'
import { PROVIDERS } from '../adapters/models/providers.ts'
import { describeDatabase } from '../adapters/stores/sqlite/connection.ts'
import { SCHEMA_VERSION } from '../adapters/stores/sqlite/schema.ts'
import type { InstallationControl, ServiceControl, ServiceReport } from '../commands/lib/installation.ts'
import { defaultHome, environment, type LoadedConfig, userFolder } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { PeopleText } from '../domain/language.ts'
import type { StopSignals } from '../engine/advance.ts'
import { type HomePaths, holderPid } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'

interface InstallationOptions {
  readonly paths: HomePaths
  readConfig(): LoadedConfig
  readonly clock: Clock
  readonly signals: StopSignals
}

export function createInstallationControl(options: InstallationOptions): InstallationControl {
  const env = environment()
  // Found on demand: most commands do not ask for it.
  const installed = (): Installation => findInstallation()
  const service = (): Service => serviceOf(options)
  return {
    service: serviceControl(options, service),
    describe() {
      const { version, kind, root } = installed()
      return { version, kind, program: root }
    },
    async check(from) {
      const { version, root, versions } = requirePackage(installed())
      const previous = readSelection(versions)?.previous?.version ?? null
      const known = { installed: version, previous, folder: root }
      try {
        const available = await availableVersion(packageSource(from), runProgram, {
          ...{ env, signal: options.signals.drain },
        })
        return { ...known, available, newer: isNewer(available, version), problem: null }
      } catch (thrown) {
        return { ...known, available: null, newer: false, problem: asTirelessError(thrown).message }
      }
    },
    upgrade(from, backups, tell) {
      const at = upgradeOptions(options, requirePackage(installed()), service(), tell)
      return upgradeProgram(at, packageSource(from), backups ?? defaultBackupFolder(options.paths.named))
    },
    undo: async (tell) => undoUpgrade(upgradeOptions(options, requirePackage(installed()), service(), tell)),
  }
}

function requirePackage(installation: Installation): InstalledPackage {
  if (installation.kind === 'package') return installation
  throw new TirelessError('usage', {
    what: 'this is a checkout, not an installed package',
    ...{
      got: `${installation.version} in ${installation.root}`,
      fix: 'run git pull there; `npm start` installs what it then needs',
    },
  })
}

function upgradeOptions(
  { paths, readConfig, clock, signals }: InstallationOptions,
  installation: InstalledPackage,
  service: Service,
  tell: (text: PeopleText) => void,
): UpgradeOptions {
  return {
    ...{ installation, service, tell, run: runProgram, env: environment(), node: process.execPath },
    ...{ home: paths.named, signal: signals.drain, schema: SCHEMA_VERSION },
    configFile: ownConfigFile(paths, readConfig),
    homeSchema: () => describeDatabase(paths.database).schema,
    isOnPostgres: isOnPostgres(readConfig),
    isRestoring: () => existsSync(paths.restoreNote),
    holder: () => liveHolder(paths),
    stamp: () => iso(clock.now()).replaceAll(':', '-'),
  }
}

function isOnPostgres(readConfig: () => LoadedConfig): boolean {
  try {
    return readConfig().config.store !== 'sqlite'
  } catch {
    return false
  }
}

/** The file of `--config`; undefined: the home's own file applies, or the file is invalid, which is reported later. */
function ownConfigFile({ config }: HomePaths, readConfig: () => LoadedConfig): string | undefined {
  try {
    const { file } = readConfig()
    return file === null || file === config ? undefined : file
  } catch {
    return undefined
  }
}

/** A killed holder leaves its note behind, so the process is asked for. */
function liveHolder(paths: HomePaths): number | undefined {
  const pid = holderPid(paths)
  try {
    if (pid !== undefined) process.kill(pid, 0)
    return pid
  } catch {
    return undefined
  }
}

function serviceOf({ paths, readConfig }: InstallationOptions): Service {
  const env = environment()
  return createService({
    ...{ platform: process.platform, env, user: userFolder(), uid: process.getuid?.() ?? 0, run: runProgram },
    ...{ home: paths.named, defaultHome: defaultHome({ HOME: env.HOME }) },
    define(environmentFile) {
      const { config, file } = readConfig()
      return {
        ...{ home: paths.named, program: programWords(findInstallation(), process.execPath), environmentFile },
        configFile: file === null || file === paths.config ? undefined : file,
        path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
        drainMs: config.kernel.stop_timeout,
      }
    },
  })
}

function serviceControl(options: InstallationOptions, create: () => Service): ServiceControl {
  const report = async (service: Service, notes: readonly PeopleText[]): Promise<ServiceReport> => {
    const state = await service.state()
    const address = state.running === false ? null : await pageAddress(options)
    return { ...state, address, notes }
  }
  return {
    async install() {
      const service = create()
      const before = await service.state()
      const holder = before.running ? undefined : liveHolder(options.paths)
      const { change, kept, problem } = await service.install()
      const notes = [...keptNotes(kept), ...installNotes(service, problem, holder), ...keyNotes(service)]
      return { ...(await report(service, notes)), change }
    },
    async uninstall() {
      const service = create()
      const { removed, kept: copy } = await service.uninstall()
      const { root } = options.paths
      const kept = {
        text: `Your data stays in ${root}; delete that folder yourself if you want.`,
        zh: `您的数据仍在 ${root}；如需删除，请自行删除该目录。`,
      }
      return { ...(await report(service, [...keptNotes(copy), kept])), removed }
    },
    async status() {
      const service = create()
      const { installed, running } = await service.state()
      const managed = installed ? [] : [NOT_INSTALLED]
      const silent = running === null ? [silentNote(service)] : []
      return report(service, [...managed, ...(installed ? silent : [])])
    },
  }
}

const NOT_INSTALLED: PeopleText = {
  text: 'Not installed. To run at login: tireless service install',
  zh: '没有安装。要在登录时运行：tireless service install',
}

/** The definition may have been changed by its owner. */
const keptNotes = (copy: string | null): PeopleText[] =>
  copy === null ? [] : [{ text: `The definition as it was before: ${copy}`, zh: `之前的服务定义：${copy}` }]

const silentNote = ({ startCommand }: Service): PeopleText => ({
  text: `The service manager does not answer here. Later: ${startCommand}`,
  zh: `这里的服务管理器没有响应。以后再试：${startCommand}`,
})

function installNotes(service: Service, problem: string | undefined, holder: number | undefined): PeopleText[] {
  const linger = service.lingerCommand()
  return [
    ...(problem === undefined ? [] : [notStarted(problem, service)]),
    ...(holder === undefined ? [] : [homeIsHeld(holder, service)]),
    ...(linger === undefined ? [] : [lingerNote(linger)]),
  ]
}

const notStarted = (problem: string, { startCommand }: Service): PeopleText => ({
  text: `Not started: ${problem}. Once it can: ${startCommand}`,
  zh: `没有启动：${problem}。可以启动时：${startCommand}`,
})

const homeIsHeld = (pid: number, { startCommand }: Service): PeopleText => ({
  text: `Process ${pid} holds this home, so the service waits. Run tireless stop, then ${startCommand}`,
  zh: `进程 ${pid} 正在使用此目录，所以服务在等待。请运行 tireless stop，然后 ${startCommand}`,
})

const lingerNote = (command: string): PeopleText => ({
  text: `It runs while you are logged in. To run it without a login: ${command}`,
  zh: `它在您登录期间运行。要在未登录时也运行：${command}`,
})

/** The service does not see the variables of this shell; a model's key is the one that people miss. */
function keyNotes({ environmentFile }: Service): PeopleText[] {
  const env = environment()
  const known = existsSync(environmentFile) ? readFileSync(environmentFile, 'utf8') : ''
  const missing = Object.values(PROVIDERS)
    .flatMap(({ variable }) => (variable !== null && env[variable] ? [variable] : []))
    .filter((name) => !new RegExp(`^\\s*${name}=`, 'm').test(known))
  if (missing.length === 0) return []
  const names = missing.join(', ')
  return [
    {
      text: [
        `The service does not see ${names} of this shell. Write NAME=value lines into`,
        `${environmentFile} (chmod 600), or use tireless secrets set; then run tireless service install again.`,
      ].join(' '),
      zh: [
        `服务看不到此 shell 中的 ${names}。请把 NAME=value 行写入 ${environmentFile}（chmod 600），`,
        '或使用 tireless secrets set；然后再次运行 tireless service install。',
      ].join(''),
    },
  ]
}

/** How many of the last log entries are searched for the address. */
const LOG_ENTRIES = 5000

/** The address of a running kernel is in its log; undefined keys and other ports make the configured one a guess. */
async function pageAddress({ paths, readConfig, clock }: InstallationOptions): Promise<string | null> {
  if (liveHolder(paths) === undefined) return null
  const entries = await openLogReader(paths.logs, clock).last(LOG_ENTRIES)
  const url = entries.findLast(({ event }) => event === 'serving')?.url
  if (typeof url === 'string') return url
  try {
    const { host, port } = readConfig().config.server
    return port === 0 ? null : `http://${host}:${port}`
  } catch {
    return null
  }
}
