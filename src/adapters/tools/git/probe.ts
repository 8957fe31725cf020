/** Whether an interrupted `add` or `commit` happened: by what the index and the last commit were before, and are now. */

import type { Json } from '../../../domain/json.ts'
import type { Probe } from '../../../ports/tool.ts'
import { commandOf } from './command.ts'
import type { VerbKind } from './verbs.ts'

/** Contract: what a command says; empty where it fails. */
type Ask = (command: string) => Promise<string>

const plain = (args: readonly string[]): string => commandOf({ args, at: 0, isRepository: true, filters: [] })

/** What is in the index, as one word. */
const INDEX = `${plain(['ls-files', '--stage']).replace('exec git', 'git')} | git hash-object --stdin`
const HEAD = plain(['rev-parse', '--verify', '--quiet', 'HEAD'])
/** The last commit, those before it, and when it was made. */
const LAST = plain(['log', '-n', '1', '--format=%H %ct %P', '--date=unix'])

export async function beforeOf(kind: VerbKind, ask: Ask): Promise<Json> {
  if (kind === 'add') return (await ask(INDEX)).trim()
  return kind === 'commit' ? (await ask(HEAD)).trim() : null
}

/** A lock that the killed one has left would keep every later one out; nobody else is at work here. */
const UNLOCK = (since: number): string =>
  `find .git -maxdepth 1 -name index.lock -newermt '@${Math.floor(since / 1000) - 1}' -delete 2>/dev/null; true`

export async function probeOf(kind: VerbKind, before: Json, intendedAt: number, ask: Ask): Promise<Probe> {
  await ask(UNLOCK(intendedAt))
  if (kind === 'add') {
    const now = (await ask(INDEX)).trim()
    return now === before ? { kind: 'not' } : happened('the changes were added')
  }
  if (kind !== 'commit') return { kind: 'unclear' }
  if ((await ask(HEAD)).trim() === before) return { kind: 'not' }
  const [id = '', seconds = '', ...parents] = (await ask(LAST)).trim().split(' ')
  const ours = Number(seconds) === Math.floor(intendedAt / 1000) && parents.join(' ') === before
  return ours ? happened(`the commit was made: ${id}`) : { kind: 'unclear' }
}

const happened = (content: string): Probe => ({ kind: 'happened', result: { status: 'ok', content } })
