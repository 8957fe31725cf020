/**
 * Finds out whether an interrupted `add` or `commit` happened, by comparing the index or HEAD with its state before.
 */

import type { Json } from '../../../domain/json.ts'
import type { ProbeResult } from '../../../ports/tool.ts'
import { buildGitCommand } from './git-command.ts'
import type { GitVerbKind } from './git-verbs.ts'

/** Contract: the output of a command; empty if it fails. */
type Ask = (command: string) => Promise<string>

const gitCommand = (args: readonly string[]): string =>
  buildGitCommand({ args, at: 0, isRepository: true, filters: [] })

/** Prints a digest of the index. */
const INDEX = `${gitCommand(['ls-files', '--stage']).replace('exec git', 'git')} | git hash-object --stdin`
const HEAD = gitCommand(['rev-parse', '--verify', '--quiet', 'HEAD'])
/** Prints hash, date and parents of the last commit. */
const LAST = gitCommand(['log', '-n', '1', '--format=%H %ct %P', '--date=unix'])

export async function readGitState(kind: GitVerbKind, ask: Ask): Promise<Json> {
  if (kind === 'add') return (await ask(INDEX)).trim()
  return kind === 'commit' ? (await ask(HEAD)).trim() : null
}

/** The killed git may have left its lock, which would block every later call. No other git runs in this workspace. */
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
