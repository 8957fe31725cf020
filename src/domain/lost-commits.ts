/** Commits that were acknowledged and that the database does not have any more: its log was damaged, or another one took its place. */

/** The setting that says so, until the owner has taken note. */
export const LOST_COMMITS = 'lost_commits'

export interface LostCommits {
  readonly commits: number
  /** Journal records among them. */
  readonly records: number
  /** Those they belonged to, as far as was noted. */
  readonly sessions: readonly string[]
  /** There may be more of them than were noted. */
  readonly at_least: boolean
  /** Where the last of them stood. */
  readonly up_to: readonly [count: number, entry: number]
}

const MOST_NAMED = 10

export function describeLoss({ commits, records, sessions, at_least }: LostCommits): string {
  const named = sessions.slice(0, MOST_NAMED).join(', ')
  const more = sessions.length > MOST_NAMED ? ` and ${sessions.length - MOST_NAMED} more` : ''
  const whose = sessions.length === 0 ? '' : `, of the sessions ${named}${more}`
  const many = `${at_least ? 'at least ' : ''}${commits} acknowledged ${commits === 1 ? 'commit is' : 'commits are'} missing`
  return `${many} from the database, with ${records} ${records === 1 ? 'record' : 'records'}${whose}: its write-ahead log was damaged, or another database was put in its place`
}

export const LOSS_REMEDY =
  'restore a backup (tireless restore DIR), or look at what these sessions did and accept the loss: tireless doctor --fix'

/** One after the other, before anybody has taken note. */
export function bothLosses(a: LostCommits, b: LostCommits): LostCommits {
  return {
    commits: a.commits + b.commits,
    records: a.records + b.records,
    sessions: [...new Set([...a.sessions, ...b.sessions])],
    at_least: a.at_least || b.at_least,
    up_to: b.up_to,
  }
}
