/**
 * The runtime's own git: no configuration but the repository's, no `GIT_*` of whoever started us, and nothing run that the
 * repository's configuration names. That configuration is in the agent's reach: whoever writes it must not get a program run by us.
 */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type Environment = Readonly<Record<string, string | undefined>>

export interface GitOutput {
  readonly ok: boolean
  /** What it said, or its complaint. */
  readonly output: string
  /** Output beyond the cap was dropped. */
  readonly cut: boolean
}

export type Git = (args: readonly string[], input?: string) => Promise<GitOutput>

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 60_000

/** `vars` are set on top, for whoever wants to name the repository himself. */
export function gitIn(folder: string, env: Environment, vars: Environment = {}): Git {
  const run = runner(folder, env, vars)
  return async (args, input) => {
    const config: readonly Setting[] = [...QUIET, ['safe.directory', folder]]
    const named = await run(['config', '--null', '--name-only', '--get-regexp', FILTERS], config)
    const filters = named.ok ? named.output.split('\0').filter((key) => key !== '') : []
    return run(args, [...config, ...filters.map((key): Setting => [key, ''])], input)
  }
}

/** For a repository without a work tree: there is nothing that a filter could be asked for. */
export function bareGitIn(folder: string, env: Environment, vars: Environment = {}): Git {
  const run = runner(folder, env, vars)
  return (args, input) => run(args, [...QUIET, ['safe.directory', folder]], input)
}

type Run = (args: readonly string[], config: readonly Setting[], input?: string) => Promise<GitOutput>

function runner(folder: string, { PATH, HOME }: Environment, vars: Environment): Run {
  const clean = {
    ...{ PATH, HOME, LC_ALL: 'C' },
    ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' },
    ...{ GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
    // A partial clone would fetch what it lacks, by whatever command its remote names.
    ...{ GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' },
    ...vars,
  }
  return (args, config, input) =>
    finished(['-C', folder, '--no-pager', ...args], { ...clean, ...overriding(config) }, input)
}

type Setting = readonly [key: string, value: string]

const QUIET: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
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

async function finished(args: readonly string[], env: Environment, input: string | undefined): Promise<GitOutput> {
  try {
    const running = promisify(execFile)('git', args, { env, maxBuffer: MAX_OUTPUT_BYTES, timeout: TIMEOUT_MS })
    running.child.stdin?.on('error', () => {}).end(input)
    return { ok: true, output: (await running).stdout, cut: false }
  } catch (thrown) {
    const { code, stdout = '', stderr = '' } = thrown as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return { ok: true, output: stdout, cut: true }
    return { ok: false, output: stderr.trim() || String(thrown), cut: false }
  }
}
