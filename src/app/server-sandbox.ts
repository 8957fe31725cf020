/**
 * The sandbox of an MCP server process, or of a source's command: a writable folder of its own, the system, and the
 * paths and hosts that the configuration lists. The home with its secrets, policy and database is hidden, and so is the
 * user's home folder.
 */

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { killNamespace } from '../adapters/envs/host/host-processes.ts'
import type { CommandLimits } from '../adapters/envs/host/resource-limits.ts'
import { isInSystem } from '../adapters/envs/sandbox/bubblewrap-command-line.ts'
import type { Sandbox } from '../adapters/envs/sandbox/sandbox.ts'
import {
  isBelowAny,
  mayBeVisible,
  serverPaths,
  visiblePathVariable,
} from '../adapters/envs/sandbox/server-visible-paths.ts'
import type { PrepareStart, StartOptions } from '../adapters/mcp/process-start.ts'
import { findProgram } from '../adapters/system/machine.ts'
import { formatHostPort, type HostPort } from '../domain/address.ts'
import { TirelessError } from '../domain/error.ts'
import type { HomePaths } from '../home.ts'
import type { Egress } from '../ports/egress.ts'
import type { OpenSocketProxy } from '../ports/env.ts'
import type { ProcessStart } from '../ports/process-start.ts'
import { limitServer } from './limit-server.ts'

interface ServerSandboxOptions {
  readonly home: HomePaths
  readonly egress: Egress
  /** The variables PATH, HOME and LANG of our environment. */
  readonly env: Readonly<Record<string, string>>
  /** Total limits of commands and servers. */
  readonly limits: CommandLimits
  /** Bubblewrap; undefined if the owner disabled the sandbox. */
  readonly sandbox: Sandbox | undefined
  /** The key of the configuration that has the processes. */
  readonly key: 'mcp_servers' | 'sources' | 'plugins'
  /** Contract: true if the destination matches one of the hosts; same syntax as `policy.allow_hosts`. */
  matchesHost(place: HostPort, hosts: readonly string[]): boolean
}

/** Folder that records writable paths of running servers, for the cleanup after a crash. */
export const startRecordsFolder = (home: HomePaths): string => join(home.sandbox, 'starts')

export function startServers(options: ServerSandboxOptions): PrepareStart {
  const { env, sandbox, limits, home, key } = options
  return async (name, server) => {
    refuseMissingProgram(server, env)
    if (!sandbox || server.sandbox === 'off')
      return limitServer(
        { argv: server.command ?? [], cwd: server.cwd, env: { ...env, ...server.env } },
        { limits, folders: [home.root] },
      )
    const trial = await sandbox.trial()
    if (!trial.holds)
      throw new TirelessError('tool_failed', {
        what: 'the server is disabled: no sandbox works here',
        got: trial.why,
        fix: `${trial.remedy}; or run it without a sandbox: ${
          key === 'plugins' ? 'trust: trusted' : `${key}.${name}.sandbox: off`
        }`,
      })
    return startConfined(name, server, sandbox, options)
  }
}

/** In the sandbox a missing program would only exit with 127, without a reason. */
function refuseMissingProgram(
  { command = [], cwd = '.', env: own }: StartOptions,
  env: Readonly<Record<string, string>>,
): void {
  const [program = ''] = command
  const exists = program.includes('/')
    ? existsSync(resolve(cwd, program))
    : findProgram(program, own.PATH ?? env.PATH ?? '') !== undefined
  if (exists) return
  throw new TirelessError('tool_failed', {
    what: `${program} cannot be started`,
    got: 'ENOENT: there is no such program',
    fix: 'put it on the PATH, or use its absolute path',
  })
}

async function startConfined(
  name: string,
  server: StartOptions,
  sandbox: Sandbox,
  { home, egress, env, limits, matchesHost: isAmong, key }: ServerSandboxOptions,
): Promise<ProcessStart> {
  const root = createFolder(join(home.servers, key === 'mcp_servers' ? name : `${key}-${name}`))
  const view = { path: env.PATH ?? '', account: env.HOME ?? '/root', hidden: [realpathSync(home.root)] }
  const cwd = server.cwd === undefined || isBelowAny(server.cwd, view.hidden) ? root : server.cwd
  const programView = { ...view, cwd }
  const writable = server.folders.map((folder) => resolveDeclared(folder, `${key}.${name}.folders`, view))
  const reads = server.reads.map((path) => resolveDeclared(path, `${key}.${name}.reads`, view))
  const readable = [...serverPaths(server.command ?? [], programView), ...reads].filter(
    (path) => !writable.includes(path),
  )
  if (cwd !== root && !isInSystem(cwd) && ![...readable, ...writable].some((path) => isBelowAny(cwd, [path])))
    throw notVisible(cwd, `${key}.${name}.cwd`)
  mkdirSync(startRecordsFolder(home), { recursive: true, mode: 0o700 })
  const folder = mkdtempSync(join(startRecordsFolder(home), `${name}-`))
  const launch = await sandbox.launcher({
    ...{ root, cwd, folder, env, command: commandText(server.command ?? []) },
    network: networkFor(server.network, egress, isAmong),
    program: {
      seen: readable,
      writable,
      environment: { ...AS_INNER_SHELL, PATH: visiblePathVariable(view.path, readable) },
    },
  })
  const start: ProcessStart = {
    ...{ argv: launch.argv, cwd: root, env: launch.env, handles: launch.handles.map(({ fd }) => fd) },
    script: exportsOf(server.env),
    async close() {
      await launch.notes()
      await launch[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return limitServer(start, { limits, folders: [root, ...writable], kill: () => killNamespace(launch) })
}

function createFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return realpathSync(path)
}

/** Listed paths are allowed, except the home and whole user folders. */
function resolveDeclared(path: string, where: string, view: Parameters<typeof mayBeVisible>[1]): string {
  let real: string
  try {
    real = realpathSync(path)
  } catch {
    throw new TirelessError('tool_failed', {
      what: 'no such path',
      where,
      got: path,
      fix: 'create it, or remove it from the configuration',
    })
  }
  const holdsHome = view.hidden.some((hidden) => isBelowAny(hidden, [real]))
  if (!mayBeVisible(real, view) || holdsHome) throw notVisible(path, where)
  return real
}

const notVisible = (path: string, where: string): TirelessError =>
  new TirelessError('tool_failed', {
    ...{ what: 'a sandboxed server cannot see this path', where, got: path },
    expected: 'a folder outside this home that is not a whole user folder',
    fix: 'list a narrower folder, or run the server without a sandbox: sandbox: off',
  })

function networkFor(
  network: StartOptions['network'],
  egress: Egress,
  isAmong: ServerSandboxOptions['matchesHost'],
): OpenSocketProxy | undefined {
  if (network === 'none') return undefined
  const isAllowed = network === 'all' ? () => true : (place: HostPort) => isAmong(place, network)
  return (socket) => egress.proxy((place) => formatHostPort(place) !== '' && isAllowed(place), socket)
}

/**
 * A bash whose stdin is a socket acts as a remote login: it reads ~/.bashrc and sets no limits. SHLVL makes it an inner
 * shell. Node uses proxy variables only with NODE_USE_ENV_PROXY.
 */
const AS_INNER_SHELL = { SHLVL: '1', NODE_USE_ENV_PROXY: '1' }

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Shell code that runs the script from an open descriptor. Bash has moved the descriptor to 199; other shells leave it
 * at 3.
 */
const READ_SCRIPT = [
  `if [ -n "$BASH_VERSION" ]; then eval 'eval "$(cat <&199)"; exec 199>&-; trap - EXIT'`,
  `else eval "$(cat <&3)"; exec 3>&-; fi`,
].join('; ')

const commandText = (command: readonly string[]): string => `${READ_SCRIPT}\nexec ${command.map(quoted).join(' ')}`

const exportsOf = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
