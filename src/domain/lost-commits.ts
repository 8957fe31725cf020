/** Acknowledged commits that are missing from the database, because its log was damaged or the file was replaced. */

/** The name of the setting that describes the loss until the owner accepts it. */
export const LOST_COMMITS = 'lost_commits'

export interface LostCommits {
  readonly commits: number
  /** Journal records in the lost commits. */
  readonly records: number
  /** The sessions that the lost commits belonged to, as far as known. */
  readonly sessions: readonly string[]
  /** True: more commits may be missing. */
  readonly at_least: boolean
  /** The position of the last lost commit: commits without a journal entry so far, and the last journal entry. */
  readonly up_to: readonly [count: number, entry: number]
}

const MAX_NAMED = 10

export function describeLoss({ commits, records, sessions, at_least }: LostCommits): string {
  const named = sessions.slice(0, MAX_NAMED).join(', ')
  const more = sessions.length > MAX_NAMED ? ` and ${sessions.length - MAX_NAMED} more` : ''
  const whose = sessions.length === 0 ? '' : `, in the sessions ${named}${more}`
  const isOrAre = commits === 1 ? 'commit is' : 'commits are'
  const lost = `${at_least ? 'at least ' : ''}${commits} acknowledged ${isOrAre} missing from the database`
  const content = `${records} ${records === 1 ? 'record' : 'records'}${whose}`
  return `${lost}, with ${content}: the write-ahead log was damaged, or the database file was replaced`
}

export const LOSS_REMEDY =
  'run `tireless restore DIR`, or check these sessions and accept the loss with `tireless doctor --fix`'

/** Adds up two losses that the owner has not accepted yet. */
export function addLosses(a: LostCommits, b: LostCommits): LostCommits {
  return {
    commits: a.commits + b.commits,
    records: a.records + b.records,
    sessions: [...new Set([...a.sessions, ...b.sessions])],
    at_least: a.at_least || b.at_least,
    up_to: b.up_to,
  }
}
