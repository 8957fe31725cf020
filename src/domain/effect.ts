/** What a call does to the world, on two axes: recovery reads one, policy the other. Both are functions of the arguments. */

import { assertNever } from './error.ts'

export const RECOVERIES = ['pure', 'idempotent', 'reconcilable', 'once'] as const
export type Recovery = (typeof RECOVERIES)[number]

export const REACHES = ['none', 'workspace', 'private', 'network', 'third_party', 'self', 'destructive'] as const
export type Reach = (typeof REACHES)[number]

export interface Effect {
  readonly recovery: Recovery
  readonly reach: Reach
  /** With reach `network`: the host that is reached. */
  readonly host?: string
  /** Besides, it writes to the workspace. */
  readonly writes?: true
  /** What it does there, where a tool does several things that differ in harm: a grant, and the task's intent, have to name it. */
  readonly method?: string
  /** It makes something public: asked about each time, unless a grant names the very place. */
  readonly publishes?: true
  /** Nobody sees what it sends there: it is a program. Asked about each time by a session that knows private things, whatever was granted. */
  readonly unseen?: true
}

export const writesWorkspace = ({ reach, writes }: Effect): boolean => reach === 'workspace' || (writes ?? false)

/** What is asked about each time, whatever was granted. */
export const isNeverGranted = ({ reach }: Effect): boolean => reach === 'destructive'

/** What to do with a call that was intended and never settled, because the process died in between. */
export type AfterCrash = 'rerun' | 'probe' | 'tell_model' | 'ask_human'

export function afterCrash(effect: Effect): AfterCrash {
  switch (effect.recovery) {
    case 'pure':
    case 'idempotent':
      return 'rerun'
    case 'reconcilable':
      return 'probe'
    case 'once':
      return whoHears(effect)
    default:
      return assertNever(effect.recovery)
  }
}

/** An outcome that nobody knows: inside the workspace the model can look for itself; outside it only a human can. */
export function whoHears(effect: Effect): 'tell_model' | 'ask_human' {
  return effect.reach === 'none' || effect.reach === 'workspace' ? 'tell_model' : 'ask_human'
}
