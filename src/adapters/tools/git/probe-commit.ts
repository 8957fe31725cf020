/**
 * Finds out whether an interrupted `git add` or `git commit` took effect: compares the index or HEAD with the state
 * recorded before the call.
 */

import type { Json } from '../../../domain/json.ts'
import type { ProbeResult } from '../../../ports/tool.ts'
import { buildGitCommand } from './git-command.ts'
import type { GitVerbKind } from './git-verbs.ts'

/** Contract: runs a shell command and returns its output; empty if the command fails. */
type Ask = (command: string) => Promise<string>

const gitCommand = (args: readonly string[]): string =>
  buildGitCommand({ args, at: 0, isRepository: true, filters: [] })

/** A command that prints a digest of the index. */
const INDEX = `${gitCommand(['ls-files', '--stage']).replace('exec git', 'git')} | git hash-object --stdin`
const HEAD = gitCommand(['rev-parse', '--verify', '--quiet', 'HEAD'])
/** A command that prints hash, date and parents of the last commit. */
const LAST = gitCommand(['log', '-n', '1', '--format=%H %ct %P', '--date=unix'])

export async function readGitState(kind: GitVerbKind, ask: Ask): Promise<Json> {
  if (kind === 'add') return (await ask(INDEX)).trim()
  return kind === 'commit' ? (await ask(HEAD)).trim() : null
}

/**
 * A command that removes the lock which a killed git may have left; the lock would block every later call. No other git
 * runs in the workspace at that time.
 */
const UNLOCK = (since: number): string =>
  `find .git -maxdepth 1 -name index.lock -newermt '@${Math.floor(since / 1000) - 1}' -delete 2>/dev/null; true`

export async function probeGitCall(
  kind: GitVerbKind,
  before: Json,
  intendedAt: number,
  ask: Ask,
): Promise<ProbeResult> {
  await ask(UNLOCK(intendedAt))
  if (kind === 'add') {
    const now = (await ask(INDEX)).trim()
    return now === before ? { kind: 'not' } : happened('the changes were staged')
  }
  if (kind !== 'commit') return { kind: 'unclear' }
  if ((await ask(HEAD)).trim() === before) return { kind: 'not' }
  const [id = '', seconds = '', ...parents] = (await ask(LAST)).trim().split(' ')
  const ours = Number(seconds) === Math.floor(intendedAt / 1000) && parents.join(' ') === before
  return ours ? happened(`the commit was created: ${id}`) : { kind: 'unclear' }
}

const happened = (content: string): ProbeResult => ({ kind: 'happened', result: { status: 'ok', content } })
