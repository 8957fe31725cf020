/**
 * The journal: what a session's turns were, in order, append-only. Events, progress, replay and resume are pure
 * functions of these records.
 *
 * Order inside a turn:
 *   input_bound → (cut)? → model_requested → (failed …) → model_answered | decided → (branched)?
 *   → (intent_fixed)? → (call_intended → call_settled)* → step_committed
 */

import type { Call, CallResult, Decision, Issue, Next, Verdict } from './decision.ts'
import type { Effect } from './effect.ts'
import type { ErrorCode } from './error.ts'
import type { Recalled } from './fact.ts'
import type { Need } from './intent.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'
import type { Patch } from './patch.ts'
import type { SkillLine } from './skill.ts'
import type { FailureClass, StopReason } from './stop.ts'
import type { Budget } from './task.ts'
import type { Label } from './trust.ts'

export type { Issue } from './decision.ts'

export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  /** Of the input, what the provider was asked to keep; absent where it says nothing of it. */
  readonly written_tokens?: number
}

/** A call as the model wrote it; `args` is the raw text, which may not even be JSON. */
export interface AskedCall {
  readonly id: string
  readonly tool: string
  readonly args: string
}

export interface Answer {
  readonly text: string
  readonly calls: readonly AskedCall[]
  /** `length`: the provider cut it; nothing in it may be acted on. */
  readonly finish: 'stop' | 'calls' | 'length'
  readonly usage: Usage
  /** Reasoning parts of the provider, kept verbatim for it alone. */
  readonly reasoning?: Json
  /** With a text protocol: what was read as the answer, what the model said about its reasons, or why nothing could be read. */
  readonly said?: string
  readonly notes?: Readonly<Record<string, string>>
  readonly fault?: string
}

/** What a run is made with; two runs whose set-ups differ in one word can be compared for that word. */
export interface Setup {
  readonly model: string | null
  /** Those that stand in for it; absent where there are none. */
  readonly fallback?: readonly string[]
  /** How the model writes its decisions: `native` tool calls, or a text protocol. */
  readonly parser: string
  readonly memory: string
  readonly critics: readonly string[]
  readonly tools: readonly string[]
  readonly state_version: number
  readonly budget: Budget
  /** Absent where there are none: the skills it can read, and the approved AGENTS.md of its workspace, as they were when it began. */
  readonly skills?: readonly SkillLine[]
  readonly instructions?: string
}

/** What the model sees of the past from here on: a summary, what was recalled, and everything from turn `from` on. */
export interface Cut {
  readonly from: number
  readonly summary: string
  readonly recalled: readonly string[]
  /** Tokens that the owner's words from before it may take, the task aside. Absent in cuts of compiler 4 and before, which showed none of them. */
  readonly words?: number
  /** Tokens that one message may take; what is longer is shown without its middle. Absent: as long as they are. */
  readonly longest?: number
  /** With `longest`: also what is new in the turn that was cut in is shortened. */
  readonly input?: true
}

/** What a request is made of. Tokens are estimated, rather too many than too few. */
export interface Composition {
  /** Tokens by section, in order. */
  readonly sections: Readonly<Record<string, number>>
  readonly bytes: number
  /** Bytes at its beginning that the request before it began with: what a provider's cache can save. */
  readonly cached: number
  /** Names model, system prompt and tools: with others, nothing of the request before can be reused. */
  readonly prefix: string
  /** What was shown in part, or found no room. */
  readonly cut?: readonly string[]
  readonly dropped?: readonly string[]
}

/** Phases in which a run can fail, and be recovered. */
export const FAILING_PHASES = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CRITIC', 'CHECK_STOP'] as const
export type FailingPhase = (typeof FAILING_PHASES)[number]

/** What the recovery policy ruled: the same turn again (now or at an instant), the next turn with the fault told to the mind, or the end. */
export type Ruling =
  | { readonly kind: 'retry'; readonly until: number | null }
  | { readonly kind: 'feedback' }
  | { readonly kind: 'stop' }

type Body =
  | {
      readonly kind: 'run_started'
      readonly run_id: string
      readonly agent_id: string
      readonly behaviour: string
      readonly task: string
      readonly setup: Setup
      /** What the behaviour begins with; absent where that is null. */
      readonly state?: Json
    }
  | {
      readonly kind: 'input_bound'
      readonly turn: number
      readonly input: readonly Observation[]
      readonly feedback?: string
      /** What is remembered from other sessions and may matter: with the first input of a run. */
      readonly recalled?: Recalled
      /** What the behaviour made of it, where it observes for itself. */
      readonly observation?: Json
      /** The behaviour puts what the model is told into its own words, which come with the request. */
      readonly prepares?: true
    }
  /** The past is shown otherwise from this turn on. */
  | { readonly kind: 'cut'; readonly turn: number; readonly cut: Cut }
  | {
      readonly kind: 'model_requested'
      readonly turn: number
      readonly model: string
      /** The request by reference: records [from, upto) under this compiler version, and a digest to prove it. */
      readonly from: number
      readonly upto: number
      readonly compiler: number
      readonly digest: string
      /** With the first request of a turn whose behaviour prepares for itself. */
      readonly prepared?: string
      readonly composition?: Composition
      /** US dollars that were set aside for the answer, at most; absent where the model is not metered. */
      readonly reserved?: number
    }
  /** A phase failed. In DECIDE it may be one of several tries for the same turn. */
  | {
      readonly kind: 'failed'
      readonly turn: number
      readonly phase: FailingPhase
      readonly code: ErrorCode
      readonly message: string
      readonly ruling: Ruling
    }
  /** `usd`: what it cost, where the price is known. */
  | { readonly kind: 'model_answered'; readonly turn: number; readonly answer: Answer; readonly usd?: number }
  | { readonly kind: 'decided'; readonly turn: number; readonly decision: Decision }
  /** Of several candidates one was chosen, or none: then `chosen` is null and the search goes back. */
  | {
      readonly kind: 'branched'
      readonly turn: number
      /** What the search put in place of the candidates that were decided on, where it did. */
      readonly candidates?: readonly Decision[]
      /** Of each candidate; null where it was not scored. */
      readonly scores: readonly (number | null)[]
      readonly chosen: number | null
    }
  | {
      readonly kind: 'call_intended'
      readonly turn: number
      readonly index: number
      /** 1, or one more each time the owner said of an interrupted one that it did not happen. */
      readonly attempt: number
      readonly call: Omit<Call, 'fault' | 'effect'>
      readonly effect: Effect
      /** What the tool noted about the world before acting, for its probe. */
      readonly before?: Json
    }
  | {
      readonly kind: 'call_settled'
      readonly turn: number
      readonly index: number
      readonly call_id: string
      readonly result: CallResult
      /** What the result is worth, where that is less than the owner's word. */
      readonly label?: Label
      /** It holds what others wrote: the model is shown it in a data fence. */
      readonly outside?: true
    }
  /** What the owner's words need of tools that reach others, by the judgement of a mind that saw nothing else. */
  | {
      readonly kind: 'intent_fixed'
      readonly turn: number
      readonly needs: readonly Need[]
      /** How many texts of the owner it is about. */
      readonly words: number
      readonly usage: Usage
      readonly usd?: number
    }
  | {
      readonly kind: 'step_committed'
      readonly turn: number
      readonly next: Next
      /** How the state changed, exactly; absent where it did not. */
      readonly patch?: Patch
      /** What each critic said, in the order asked; absent where nobody was asked. */
      readonly verdicts?: readonly { readonly critic: string; readonly verdict: Verdict }[]
      /** How long the step took, waiting aside. */
      readonly ms: number
    }
  /** The state was brought to another version of its behaviour. */
  | { readonly kind: 'migrated'; readonly version: number; readonly patch?: Patch }
  /** It was taken up again with something else than it was made with. */
  | { readonly kind: 'refitted'; readonly setup: Setup }
  /** Something that watches or judges broke; the run goes on. */
  | { readonly kind: 'diagnosed'; readonly turn: number; readonly about: string; readonly message: string }
  | {
      readonly kind: 'run_ended'
      readonly run_id: string
      readonly stop_reason: StopReason
      readonly answer?: string
      readonly failure_class?: FailureClass
      readonly error?: string
      /** Why it never began (preflight). */
      readonly issues?: readonly Issue[]
      /** Where it failed for the last time, and how often before. */
      readonly failure_report?: Json
    }

export type JournalRecord = Body & { readonly seq: number; readonly ts: number }
export type RecordBody = Body

/** A run's part of its session's journal: from its start to its end, and again where it was tried again. */
export function recordsOfRun(journal: readonly JournalRecord[], run_id: string): readonly JournalRecord[] {
  let current: string | undefined
  return journal.filter((record) => {
    if (record.kind === 'run_started') current = record.run_id
    const isOf = current === run_id
    if (record.kind === 'run_ended') current = undefined
    return isOf
  })
}
