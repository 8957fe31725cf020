/** How often each branch was taken. A branch that no seed takes proves nothing. */

/** Every branch that a long run has to take at least once. */
export const BRANCHES = [
  'run replayed',
  'crash',
  'crash before a commit is applied',
  'crash after a commit, before it is acknowledged',
  'crash after the provider was paid',
  'crash before an effect',
  'crash after an effect',
  'pause',
  'takeover',
  'disk failed',
  'wall clock stepped',
  'SIGTERM',
  'abort',
  'recovered as pending',
  'recovered as dead (poison)',
  'given back by a drain',
  'fenced write refused',
  'claim of an ended epoch refused',
  'call run again (pure or idempotent)',
  'probe: happened',
  'probe: not',
  'probe: unclear',
  'probe: threw',
  'remains: threw',
  'model told of an unknown outcome',
  'human asked about an unknown outcome',
  'word: happened',
  'word: not',
  'word: recheck',
  'word refused (already said)',
  'word for a model that was told',
  'second attempt after a word',
  'parked for a retry',
  'parked for an observation',
  'parked for a word',
  'not parked: unread input',
  'not parked: the word is there',
  'woken by an observation',
  'woken by its deadline',
  'woken for a retry',
  'woken to start',
  'woken by a word',
  'flood of messages',
  'input left for the next step',
  'successor after a run',
  'successor for an idle session',
  'former run closed',
  'message twice',
  'task twice',
  'answer bought again after a crash',
  'answer resumed from the journal',
  'own decision of the behaviour',
  'answer unusable',
  'garbage returned',
  'run ended: final',
  'run ended: provider',
  'run ended: unusable answers',
  'run ended: budget',
  'run ended: critic',
  'run ended: money',
  'money set aside',
  'money refused',
  'money waited for',
  'money given back',
  'money that a crash left set aside',
  'run ended: error',
  'run refused (folder)',
  'critic asked for more',
  'rests before another attempt',
  'call interrupted',
  'left behind',
  'effect of what was left behind',
  'call not started: stopping',
  'call refused: tool withdrawn',
  'tool threw',
  'call parked for leave',
  'call held back beside it',
  'asked once more',
  'allowed',
  'denied',
  'expired',
  'answer refused (already given)',
  'what was allowed is run',
  'cycle with a late dispatch',
  'single cycle',
  'single cycle takes up what was left',
  'cycle of a beat',
  'cycle by hand',
  'cycle with work',
  'cycle without work',
  'cycle with an error',
  'cycle cut short',
  'cycle counts what others left',
  'beat let pass: paused',
  'beat fired by another leader',
  'planner asked',
  'planner answered no list',
  'STATE edited by hand',
  'file edited before it was replaced',
  'crash before a file is replaced',
  'session taken away by retention',
  'stale request',
  'stale effect',
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
