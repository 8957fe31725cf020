/**
 * The runtime's own git; no other file starts one. A tree that an agent can write may hold anything that git obeys: nested repositories,
 * filters, a `.git` that leads elsewhere. So git runs in the sandbox of the agent's own commands, without a network, with everything
 * read-only but what is named. Where there is no sandbox, a second line is left, which holds in the sandbox as well: no configuration
 * but the repository's, no `GIT_*` of whoever started us, and nothing run that the configuration of the repository names.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Launcher } from './host/launch.ts'
import type { WorkTree } from './repository/git-folder.ts'
import type { Bind } from './sandbox/layout.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface GitOutput {
  readonly ok: boolean
  /** What it said, or its complaint. */
  readonly output: string
  /** Output beyond the cap was dropped. */
  readonly cut: boolean
}

export type Git = (args: readonly string[], input?: string) => Promise<GitOutput>

/** How our git is confined on this machine. */
export interface GitHost {
  readonly env: Environment
  /** Contract: starts commands in a sandbox; undefined where there is none that holds, or the owner wants none. */
  confined(): Promise<Launcher | undefined>
}

/** Where the owner wants no sandbox. */
export const unconfined = (env: Environment): GitHost => ({ env, confined: async () => undefined })

export interface GitPlace extends WorkTree {
  /** Below the top; default: the top. */
  readonly cwd?: string
  /** What it may write, and what of that it may not. Default: nothing. */
  readonly writable?: readonly Bind[]
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
const BOUNDED = { timeout: 60_000, killSignal: 'SIGKILL' } as const

/** Contract: always that repository, whatever the work tree says of where it is. `vars` are set on top. */
export function gitIn(place: GitPlace, host: GitHost, vars: Environment = {}): Git {
  const own = {
    ...{ GIT_DIR: place.gitFolder, GIT_WORK_TREE: place.top, GIT_CEILING_DIRECTORIES: dirname(place.top) },
    ...vars,
  }
  const run: Run = async (args, settings, input) => {
    const clean = { ...cleanEnvironment(host.env), ...own, ...overriding(settings) }
    const argv = ['-C', place.cwd ?? place.top, '--no-pager', ...args]
    const launcher = await host.confined()
    if (launcher) return runConfined(launcher, { place, argv, vars: clean, input })
    return outputOf(() => spawn('git', argv, { ...BOUNDED, env: clean, stdio: 'pipe' }), input)
  }
  return async (args, input) => {
    const settings: readonly Setting[] = [...QUIET, ['safe.directory', place.top]]
    const named = await run(['config', '--null', '--name-only', '--get-regexp', FILTERS], settings)
    const filters = named.ok ? named.output.split('\0').filter((key) => key !== '') : []
    return run(args, [...settings, ...filters.map((key): Setting => [key, ''])], input)
  }
}

/** For a bare repository of the home, which no agent can reach: there is nothing in there to be confined. */
export function bareGitIn(folder: string, env: Environment, vars: Environment = {}): Git {
  const clean = { ...cleanEnvironment(env), ...vars, ...overriding([...QUIET, ['safe.directory', folder]]) }
  return (args, input) =>
    outputOf(
      () => spawn('git', ['-C', folder, '--no-pager', ...args], { ...BOUNDED, env: clean, stdio: 'pipe' }),
      input,
    )
}

type Run = (args: readonly string[], settings: readonly Setting[], input?: string) => Promise<GitOutput>

const cleanEnvironment = ({ PATH, HOME }: Environment): Environment => ({
  ...{ PATH, HOME, LC_ALL: 'C' },
  ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' },
  ...{ GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
  // A partial clone would fetch what it lacks, by whatever command its remote names.
  ...{ GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' },
})

type Setting = readonly [key: string, value: string]

const QUIET: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['core.attributesFile', '/dev/null'],
  ['credential.helper', ''],
  ['diff.ignoreSubmodules', 'dirty'],
  ['submodule.recurse', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
]

/** There is no switch for all of them; an empty command is none, and an empty `required` is false. */
const FILTERS = String.raw`^filter\..*\.(clean|smudge|process|required)$`

/** By variables, because the name of a filter may hold what `-c` would take for its end. */
function overriding(settings: readonly Setting[]): Environment {
  const entries = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...entries])
}

interface ConfinedRun {
  readonly place: GitPlace
  readonly argv: readonly string[]
  readonly vars: Environment
  readonly input: string | undefined
}

async function runConfined(launcher: Launcher, { place, argv, vars, input }: ConfinedRun): Promise<GitOutput> {
  const folder = await mkdtemp(join(tmpdir(), 'tireless-git-'))
  try {
    await using cwd = await open(join(folder, 'cwd'), 'wx+', 0o600)
    await using launch = await launcher({
      ...{ command: scriptFor(argv, vars), root: place.top, cwd: place.cwd ?? place.top, folder },
      ...{ env: {}, network: undefined, readOnly: bindsOf(place), input: input !== undefined },
    })
    const [program = '', ...args] = launch.argv
    const stdio = ['pipe' as const, 'pipe' as const, 'pipe' as const, cwd.fd, ...launch.handles.map(({ fd }) => fd)]
    const start = () => spawn(program, args, { ...BOUNDED, cwd: launch.cwd ?? '/', env: launch.env, stdio })
    return await outputOf(start, input).finally(() => launcher.end?.(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function bindsOf({ top, common, writable = [] }: GitPlace): readonly Bind[] {
  const isElsewhere = common !== join(top, '.git')
  return [...(isElsewhere ? [{ from: common, at: common, writable: false }] : []), ...writable]
}

/** Its complaints are kept apart, because in a container both outputs are one. */
function scriptFor(argv: readonly string[], vars: Environment): string {
  const exports = Object.entries(vars).flatMap(([name, value]) =>
    value === undefined || name === 'PATH' || name === 'HOME' ? [] : [`export ${name}=${quoted(value)}`],
  )
  const complaints = '/tmp/complaints'
  return [
    ...exports,
    `git ${argv.map(quoted).join(' ')} 2> ${complaints}; code=$?`,
    `[ $code = 0 ] || cat ${complaints}; exit $code`,
  ].join('\n')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Contract: never rejects; kills what says too much. */
function outputOf(start: () => ChildProcess, input: string | undefined): Promise<GitOutput> {
  return new Promise<GitOutput>((resolve) => {
    const child = start()
    const said: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
    const text = (name: keyof typeof said): string => Buffer.concat(said[name]).toString('utf8')
    let bytes = 0
    let cut = false
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (chunk: Buffer) => {
        const room = MAX_OUTPUT_BYTES - bytes
        bytes += chunk.length
        if (room > 0) said[name].push(chunk.subarray(0, room))
        cut = bytes > MAX_OUTPUT_BYTES
        if (cut) child.kill('SIGKILL')
      })
    child.once('error', (error) => resolve({ ok: false, output: error.message, cut: false }))
    child.once('close', (code, signal) => {
      if (code === 0 || cut) return resolve({ ok: true, output: text('stdout'), cut })
      const complaint = text('stderr').trim() || text('stdout').trim()
      resolve({ ok: false, output: complaint || `git ended with ${signal ?? code}`, cut: false })
    })
    child.stdin?.on('error', () => {}).end(input)
  }).catch((thrown) => ({ ok: false, output: String(thrown), cut: false }))
}
