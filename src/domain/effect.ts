/**
 * Effect: what a call changes, in two respects, both computed from its arguments. Crash recovery uses `recovery`,
 * policy uses `reach`.
 */

import { assertNever } from './error.ts'

export const RECOVERIES = ['pure', 'idempotent', 'reconcilable', 'once'] as const
export type Recovery = (typeof RECOVERIES)[number]

export const REACHES = ['none', 'workspace', 'private', 'network', 'third_party', 'self', 'destructive'] as const
export type EffectReach = (typeof REACHES)[number]

export interface Effect {
  readonly recovery: Recovery
  readonly reach: EffectReach
  /** The target host, if the reach is `network`. */
  readonly host?: string
  /** The call also writes to the workspace. */
  readonly writes?: true
  /** The action, for tools whose actions differ in harm: grants and the task's intent must name it. */
  readonly method?: string
  /** The call publishes something: it needs approval each time, unless a grant names this exact destination. */
  readonly publishes?: true
  /**
   * The call sends data to a program, not to a person who would see it: in a session with private data it needs
   * approval each time, whatever was granted.
   */
  readonly unseen?: true
}

export const writesWorkspace = ({ reach, writes }: Effect): boolean => reach === 'workspace' || (writes ?? false)

/** True for calls that need approval each time; no grant covers them. */
export const alwaysNeedsApproval = ({ reach }: Effect): boolean => reach === 'destructive'

/** What to do with a call if the process died after its intent and before its result was recorded. */
type AfterCrash = 'rerun' | 'probe' | 'tell_model' | 'ask_human'

export function afterCrash(effect: Effect): AfterCrash {
  switch (effect.recovery) {
    case 'pure':
    case 'idempotent':
      return 'rerun'
    case 'reconcilable':
      return 'probe'
    case 'once':
      return unknownOutcomeAction(effect)
    default:
      return assertNever(effect.recovery)
  }
}

/** Who checks an unknown outcome: inside the workspace the model can look; outside the workspace only a person can. */
export function unknownOutcomeAction(effect: Effect): 'tell_model' | 'ask_human' {
  return effect.reach === 'none' || effect.reach === 'workspace' ? 'tell_model' : 'ask_human'
}
