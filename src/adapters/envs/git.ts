/**
 * Runs git for the runtime; no other file starts git. A work tree that an agent can write may contain anything that git
 * obeys: nested repositories, filters, a `.git` that points elsewhere. So git runs in the sandbox of agent commands,
 * without a network; everything except `writable` is read-only. A second defence works with and without the sandbox:
 * git reads only the repository's configuration, inherits no `GIT_*` variable, and runs no program that the
 * configuration names.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Launcher } from './host/launcher.ts'
import type { WorkTree } from './repository/git-folder.ts'
import type { BindMount } from './sandbox/bubblewrap-command-line.ts'

type GitEnvironment = Readonly<Record<string, string | undefined>>

export interface GitOutput {
  readonly ok: boolean
  /** Standard output; after a failure, the error text. */
  readonly output: string
  /** True if output beyond MAX_OUTPUT_BYTES was dropped. */
  readonly cut: boolean
}

export type Git = (args: readonly string[], input?: string) => Promise<GitOutput>

/** How the runtime's git is sandboxed on this machine. */
export interface GitSandbox {
  readonly env: GitEnvironment
  /** Contract: the launcher that starts git in a sandbox; undefined if no sandbox works, or the owner turned it off. */
  findLauncher(): Promise<Launcher | undefined>
}

/** Used if the configuration says `sandbox: off`. */
export const gitWithoutSandbox = (env: GitEnvironment): GitSandbox => ({ env, findLauncher: async () => undefined })

interface GitTarget extends WorkTree {
  /** The folder of the work tree in which git starts; default: the top folder. */
  readonly cwd?: string
  /** Mounts for the paths that git may write, and for read-only paths inside them. Default: none. */
  readonly writable?: readonly BindMount[]
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
const TIME_LIMIT = { timeout: 60_000, killSignal: 'SIGKILL' } as const

/** Contract: always uses `place.gitFolder`, whatever the work tree's `.git` says. `vars`: added to the environment. */
export function createGit(place: GitTarget, host: GitSandbox, vars: GitEnvironment = {}): Git {
  const locations = {
    ...{ GIT_DIR: place.gitFolder, GIT_WORK_TREE: place.top, GIT_CEILING_DIRECTORIES: dirname(place.top) },
    ...vars,
  }
  const run: Run = async (args, settings, input) => {
    const env = { ...cleanEnvironment(host.env), ...locations, ...settingsAsVariables(settings) }
    const argv = ['-C', place.cwd ?? place.top, '--no-pager', ...args]
    const launcher = await host.findLauncher()
    if (launcher) return runInSandbox(launcher, { place, argv, vars: env, input })
    return collectOutput(() => spawn('git', argv, { ...TIME_LIMIT, env, stdio: 'pipe' }), input)
  }
  return async (args, input) => {
    const settings: readonly Setting[] = [...SAFE_SETTINGS, ['safe.directory', place.top]]
    const listed = await run(['config', '--null', '--name-only', '--get-regexp', FILTER_KEYS], settings)
    const filters = listed.ok ? listed.output.split('\0').filter((key) => key !== '') : []
    return run(args, [...settings, ...filters.map((key): Setting => [key, ''])], input)
  }
}

/** Runs git on a bare repository of the home. Agents cannot reach that repository, so git needs no sandbox. */
export function createBareGit(folder: string, env: GitEnvironment, vars: GitEnvironment = {}): Git {
  const gitEnv = {
    ...cleanEnvironment(env),
    ...vars,
    ...settingsAsVariables([...SAFE_SETTINGS, ['safe.directory', folder]]),
  }
  return (args, input) =>
    collectOutput(
      () => spawn('git', ['-C', folder, '--no-pager', ...args], { ...TIME_LIMIT, env: gitEnv, stdio: 'pipe' }),
      input,
    )
}

type Run = (args: readonly string[], settings: readonly Setting[], input?: string) => Promise<GitOutput>

const cleanEnvironment = ({ PATH, HOME }: GitEnvironment): GitEnvironment => ({
  ...{ PATH, HOME, LC_ALL: 'C' },
  ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' },
  ...{ GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
  // Otherwise git would fetch the missing objects of a partial clone, with a command that its configuration names.
  ...{ GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' },
})

type Setting = readonly [key: string, value: string]

const SAFE_SETTINGS: readonly Setting[] = [
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

/**
 * Settings that are overwritten with an empty value to turn off all filters, because git has no switch for that. An
 * empty command disables a filter, and an empty `required` is false.
 */
const FILTER_KEYS = String.raw`^filter\..*\.(clean|smudge|process|required)$`

/** Passes settings to git by environment variables: in a `-c` option, a `=` in a filter's name would end the key. */
function settingsAsVariables(settings: readonly Setting[]): GitEnvironment {
  const entries = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...entries])
}

interface SandboxedRun {
  readonly place: GitTarget
  readonly argv: readonly string[]
  readonly vars: GitEnvironment
  readonly input: string | undefined
}

async function runInSandbox(launcher: Launcher, { place, argv, vars, input }: SandboxedRun): Promise<GitOutput> {
  const folder = await mkdtemp(join(tmpdir(), 'tireless-git-'))
  try {
    await using cwd = await open(join(folder, 'cwd'), 'wx+', 0o600)
    await using launch = await launcher({
      ...{ command: scriptFor(argv, vars), root: place.top, cwd: place.cwd ?? place.top, folder },
      ...{ env: {}, network: undefined, readOnly: bindsFor(place), input: input !== undefined },
    })
    const [program = '', ...args] = launch.argv
    const stdio = ['pipe' as const, 'pipe' as const, 'pipe' as const, cwd.fd, ...launch.handles.map(({ fd }) => fd)]
    const start = () => spawn(program, args, { ...TIME_LIMIT, cwd: launch.cwd ?? '/', env: launch.env, stdio })
    return await collectOutput(start, input).finally(() => launcher.end?.(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function bindsFor({ top, common, writable = [] }: GitTarget): readonly BindMount[] {
  const isOutside = common !== join(top, '.git')
  return [...(isOutside ? [{ from: common, at: common, writable: false }] : []), ...writable]
}

/**
 * A shell script that runs git. Git's errors go to a file, because a container merges stdout and stderr; the script
 * prints them only if git fails.
 */
function scriptFor(argv: readonly string[], vars: GitEnvironment): string {
  const exports = Object.entries(vars).flatMap(([name, value]) =>
    value === undefined || name === 'PATH' || name === 'HOME' ? [] : [`export ${name}=${quoteForShell(value)}`],
  )
  const errors = '/tmp/git-errors'
  return [
    ...exports,
    `git ${argv.map(quoteForShell).join(' ')} 2> ${errors}; code=$?`,
    `[ $code = 0 ] || cat ${errors}; exit $code`,
  ].join('\n')
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Contract: never rejects; kills the started process if it writes more than MAX_OUTPUT_BYTES. */
function collectOutput(start: () => ChildProcess, input: string | undefined): Promise<GitOutput> {
  return new Promise<GitOutput>((resolve) => {
    const child = start()
    const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
    const text = (name: keyof typeof chunks): string => Buffer.concat(chunks[name]).toString('utf8')
    let bytes = 0
    let cut = false
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (chunk: Buffer) => {
        const room = MAX_OUTPUT_BYTES - bytes
        bytes += chunk.length
        if (room > 0) chunks[name].push(chunk.subarray(0, room))
        cut = bytes > MAX_OUTPUT_BYTES
        if (cut) child.kill('SIGKILL')
      })
    child.once('error', (error) => resolve({ ok: false, output: error.message, cut: false }))
    child.once('close', (code, signal) => {
      if (code === 0 || cut) return resolve({ ok: true, output: text('stdout'), cut })
      const errorText = text('stderr').trim() || text('stdout').trim()
      resolve({ ok: false, output: errorText || `git exited with ${signal ?? code}`, cut: false })
    })
    child.stdin?.on('error', () => {}).end(input)
  }).catch((thrown) => ({ ok: false, output: String(thrown), cut: false }))
}
