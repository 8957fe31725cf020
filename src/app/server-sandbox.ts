/**
 * The sandbox of a server that is a process: a folder of its own in the home to write to, the system, and whatever else the owner's configuration
 * names. The home, its secrets, policy and database, and the account's own folder are not there; the network is what `network` declares.
 */

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sandbox } from '../adapters/envs/sandbox/sandbox.ts'
import { canBeSeen, isHidden, pathsOfProgram, visiblePath } from '../adapters/envs/sandbox/server-view.ts'
import { programAt } from '../adapters/machine.ts'
import type { ServerOptions } from '../adapters/mcp/options.ts'
import type { ProcessStart, StartFor } from '../adapters/mcp/start.ts'
import { type Place, placeText } from '../domain/address.ts'
import { TirelessError } from '../domain/error.ts'
import type { HomePaths } from '../home.ts'
import type { Egress } from '../ports/egress.ts'
import type { OpenWayOut } from '../ports/env.ts'

export interface ServerSandboxOptions {
  readonly home: HomePaths
  readonly egress: Egress
  /** PATH, HOME and LANG. */
  readonly env: Readonly<Record<string, string>>
  /** Bubblewrap; undefined where the owner wants no sandbox at all. */
  readonly sandbox: Sandbox | undefined
  /** Whether a place is one of these, as `policy.allow_hosts` has them. */
  isAmong(place: Place, hosts: readonly string[]): boolean
}

/** Where they are noted that may be written to, for whoever sweeps after a crash. */
export const startsIn = (home: HomePaths): string => join(home.sandbox, 'starts')

export function startServers(options: ServerSandboxOptions): StartFor {
  const { env, sandbox } = options
  return async (name, server) => {
    refuseMissingProgram(server, env)
    if (!sandbox || server.sandbox === 'off')
      return { argv: server.command ?? [], cwd: server.cwd, env: { ...env, ...server.env } }
    const trial = await sandbox.trial()
    if (!trial.holds)
      throw new TirelessError('tool_failed', {
        what: 'it is off, because there is no sandbox that holds to run it in',
        got: trial.why,
        fix: `${trial.remedy}; or let it run as you: mcp_servers.${name}.sandbox: off`,
      })
    return confined(name, server, sandbox, options)
  }
}

/** In the sandbox it would end with 127, which says nothing. */
function refuseMissingProgram(
  { command = [], cwd = '.', env: own }: ServerOptions,
  env: Readonly<Record<string, string>>,
): void {
  const [program = ''] = command
  const isThere = program.includes('/')
    ? existsSync(resolve(cwd, program))
    : programAt(program, own.PATH ?? env.PATH ?? '') !== undefined
  if (isThere) return
  throw new TirelessError('tool_failed', {
    what: `${program} cannot be started`,
    got: 'ENOENT: there is no such program',
    fix: 'see that it is on the PATH, or name it by its whole path',
  })
}

async function confined(
  name: string,
  server: ServerOptions,
  sandbox: Sandbox,
  { home, egress, env, isAmong }: ServerSandboxOptions,
): Promise<ProcessStart> {
  const root = ownFolder(join(home.servers, name))
  const around = { path: env.PATH ?? '', account: env.HOME ?? '/root', hidden: [realpathSync(home.root)] }
  const cwd = server.cwd === undefined || isHidden(server.cwd, around.hidden) ? root : server.cwd
  const own = { ...around, cwd }
  const writable = server.folders.map((folder) => declared(folder, `mcp_servers.${name}.folders`, around))
  const reads = server.reads.map((path) => declared(path, `mcp_servers.${name}.reads`, around))
  const seen = [...pathsOfProgram(server.command ?? [], own), ...reads].filter((path) => !writable.includes(path))
  if (cwd !== root && ![...seen, ...writable].some((path) => isHidden(cwd, [path])))
    throw unseen(cwd, `mcp_servers.${name}.cwd`)
  mkdirSync(startsIn(home), { recursive: true, mode: 0o700 })
  const folder = mkdtempSync(join(startsIn(home), `${name}-`))
  const launch = await sandbox.launcher({
    ...{ root, cwd, folder, env, command: commandText(server.command ?? []) },
    network: wayFor(server.network, egress, isAmong),
    program: { seen, writable, environment: { ...AS_INNER_SHELL, PATH: visiblePath(around.path, seen) } },
  })
  return {
    ...{ argv: launch.argv, cwd: root, env: launch.env, handles: launch.handles.map(({ fd }) => fd) },
    script: exportsOf(server.env),
    async close() {
      await launch.notes()
      await launch[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function ownFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return realpathSync(path)
}

/** What the owner names counts, unless it is the home or holds a whole account. */
function declared(path: string, where: string, around: Parameters<typeof canBeSeen>[1]): string {
  let real: string
  try {
    real = realpathSync(path)
  } catch {
    throw new TirelessError('tool_failed', {
      what: 'it is not there',
      where,
      got: path,
      fix: 'make it, or take it out',
    })
  }
  const holdsHome = around.hidden.some((hidden) => isHidden(hidden, [real]))
  if (!canBeSeen(real, around) || holdsHome) throw unseen(path, where)
  return real
}

const unseen = (path: string, where: string): TirelessError =>
  new TirelessError('tool_failed', {
    ...{ what: 'that is not shown to a server in its sandbox', where, got: path },
    expected: 'a folder outside of this home that holds no whole account',
    fix: 'name a narrower one, or let the server run as you with sandbox: off',
  })

function wayFor(
  network: ServerOptions['network'],
  egress: Egress,
  isAmong: ServerSandboxOptions['isAmong'],
): OpenWayOut | undefined {
  if (network === 'none') return undefined
  const admits = network === 'all' ? () => true : (place: Place) => isAmong(place, network)
  return (socket) => egress.proxy((place) => placeText(place) !== '' && admits(place), socket)
}

/**
 * A bash whose standard input is a socket takes itself for one of a remote login: it would read ~/.bashrc and not set its limits. One inside another
 * shell does not. And Node heeds the variables of a proxy only where it is told to.
 */
const AS_INNER_SHELL = { SHLVL: '1', NODE_USE_ENV_PROXY: '1' }

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Bash has moved the descriptor of the script out of the way; any other shell has left it where it was. */
const READ_SCRIPT = `if [ -n "$BASH_VERSION" ]; then eval 'eval "$(cat <&199)"; exec 199>&-; trap - EXIT'; else eval "$(cat <&3)"; exec 3>&-; fi`

const commandText = (command: readonly string[]): string => `${READ_SCRIPT}\nexec ${command.map(quoted).join(' ')}`

const exportsOf = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
