/** Counts how often each branch was taken. A branch that no seed takes proves nothing. */

/** Every branch that a long run must take at least once. */
export const BRANCHES = [
  'run replayed',
  'process crashed',
  'crash before a commit is applied',
  'crash after a commit, before it is acknowledged',
  'crash after the provider was paid',
  'crash before an effect',
  'crash after an effect',
  'process paused',
  'takeover by another process',
  'disk failed',
  'wall clock stepped',
  'SIGTERM',
  'second SIGTERM',
  'dispatch recovered as pending',
  'dispatch recovered as dead (poison)',
  'dispatch released by a drain',
  'fenced write refused',
  'claim of an ended epoch refused',
  'call run again (pure or idempotent)',
  'probe: happened',
  'probe: did not happen',
  'probe: unclear',
  'probe: threw',
  'read of remaining output threw',
  'model told of an unknown outcome',
  'owner asked about an unknown outcome',
  'owner resolved: happened',
  'owner resolved: not',
  'owner resolved: recheck',
  'resolution refused (already resolved)',
  'resolution sent to a model that saw the unknown outcome',
  'second attempt after a resolution',
  'parked for a retry',
  'parked for an observation',
  'parked for a resolution',
  'not parked: unread input',
  'not parked: already resolved',
  'woken by an observation',
  'woken by its deadline',
  'woken for a retry',
  'woken to start',
  'woken by a resolution',
  'flood of messages',
  'input left for the next step',
  'successor after a run',
  'successor for an idle session',
  'earlier run closed by a later one',
  'message sent twice',
  'task enqueued twice',
  'model called again after a crash',
  'answer resumed from the journal',
  'decision of the behaviour without the model',
  'unusable answer',
  'garbage returned by a port',
  'run ended: final',
  'run ended: provider',
  'run ended: unusable answers',
  'run ended: budget',
  'run ended: critic',
  'run ended: money',
  'money reserved',
  'reservation refused',
  'reservation waited for',
  'reservation released',
  'reservation left behind by a crash',
  'run ended: error',
  'run refused (workspace cannot be opened)',
  'critic asked for a retry',
  'parked before another attempt',
  'call interrupted',
  'call abandoned after the grace period',
  'effect of an abandoned call',
  'call not started: stopping',
  'call refused: tool withdrawn',
  'tool threw',
  'call parked for approval',
  'call held back beside a parked one',
  'call already awaits approval',
  'approval allowed',
  'approval denied',
  'approval expired',
  'approval answer refused (already answered)',
  'approved call run',
  'cycle with a late dispatch',
  'single cycle',
  'single cycle resumes dispatches of an earlier process',
  'cycle of a beat',
  'cycle by command',
  'cycle with work',
  'cycle without work',
  'cycle with an error',
  'cycle interrupted',
  'cycle counts dispatches of earlier cycles',
  'beat skipped: paused',
  'beat fired by another leader',
  'planner called',
  'planner answered without a list',
  'STATE.md edited by a user',
  'file edited before it was replaced',
  'crash before a file is replaced',
  'session deleted by retention',
  'request of a superseded process',
  'effect of a superseded process',
] as const
export type Branch = (typeof BRANCHES)[number]

export class Counters {
  readonly #counts = new Map<Branch, number>()

  add(branch: Branch, n = 1): void {
    this.#counts.set(branch, this.get(branch) + n)
  }

  get(branch: Branch): number {
    return this.#counts.get(branch) ?? 0
  }

  addAll(counts: readonly (readonly [Branch, number])[]): void {
    for (const [branch, n] of counts) this.add(branch, n)
  }

  all(): readonly (readonly [Branch, number])[] {
    return BRANCHES.map((branch) => [branch, this.get(branch)] as const)
  }
}
