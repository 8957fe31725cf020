/**
 * Journal records: the turns of a session in order, append-only. Events, progress, replay and resume are pure functions
 * of these records.
 *
 * Order inside a turn:
 *   input_bound → (cut)? → model_requested → (failed …) → model_answered | decided → (branched)?
 *   → (intent_fixed)? → (call_intended → call_settled)* → step_committed
 */

import type { Call, CallResult, Decision, Issue, Next, Verdict } from './decision.ts'
import type { Effect } from './effect.ts'
import type { ErrorCode } from './error.ts'
import type { RecalledFacts } from './fact.ts'
import type { ToolNeed } from './intent.ts'
import type { Json } from './json.ts'
import type { Patch } from './json-patch.ts'
import type { Label } from './label.ts'
import type { Observation } from './observation.ts'
import type { SkillLine } from './skill.ts'
import type { FailureClass, StopReason } from './stop-reason.ts'
import type { Budget } from './task.ts'

export type { Issue } from './decision.ts'

export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  /** Input tokens written to the provider's cache; absent if the provider does not report them. */
  readonly written_tokens?: number
}

/** A call as the model wrote it; `args` is the raw text and may not be valid JSON. */
export interface RequestedCall {
  readonly id: string
  readonly tool: string
  readonly args: string
}

export interface ModelAnswer {
  readonly text: string
  readonly calls: readonly RequestedCall[]
  /** `length`: truncated by the provider; no part of the answer may be acted on. */
  readonly finish: 'stop' | 'calls' | 'length'
  readonly usage: Usage
  /** The provider's reasoning parts, sent back to it unchanged. */
  readonly reasoning?: Json
  /**
   * With a text protocol: `said` is the final answer, `notes` are the reasons that the model wrote down, `fault` is the
   * parse error.
   */
  readonly said?: string
  readonly notes?: Readonly<Record<string, string>>
  readonly fault?: string
}

/** The components and limits of a run, recorded so that two runs can be compared. */
export interface RunSetup {
  readonly model: string | null
  /** Fallback models; absent if there are none. */
  readonly fallback?: readonly string[]
  /** `native` tool calls, or the name of a text protocol. */
  readonly parser: string
  readonly memory: string
  readonly critics: readonly string[]
  readonly tools: readonly string[]
  readonly state_version: number
  readonly budget: Budget
  /**
   * The skills that the run may read, and the approved AGENTS.md of its workspace, both as they were when the run
   * started. Absent if there are none.
   */
  readonly skills?: readonly SkillLine[]
  readonly instructions?: string
  /** `role.md` and `self.md` of the agent, as they were when the run started. Absent if there are none. */
  readonly role?: string
}

/**
 * Shortens the history: from this turn on, the model gets a summary, recalled texts, and only the turns from `from` on.
 */
export interface HistoryCut {
  readonly from: number
  readonly summary: string
  readonly recalled: readonly string[]
  /**
   * Token limit for earlier messages of the owner, the task excluded. Absent in records of compiler version 4 and
   * before, which left these messages out.
   */
  readonly words?: number
  /** Token limit per message; longer messages lose their middle. Absent: no limit. */
  readonly longest?: number
  /** True: `longest` also applies to the new input of the turn in which the cut was made. */
  readonly input?: true
}

/** What a memory gave for a turn: its view of the earlier turns, and messages of its own. */
export interface RememberedView {
  readonly from: number
  readonly summary: string
  readonly recalled: readonly string[]
  readonly messages?: readonly { readonly text: string; readonly label?: Label }[]
}

/** Composition of a request. Numbers of tokens are estimated and rounded up. */
export interface PromptComposition {
  /** Tokens per section, in order. */
  readonly sections: Readonly<Record<string, number>>
  readonly bytes: number
  /**
   * Number of bytes at the beginning that are the same as in the previous request: the most that a provider's cache can
   * save.
   */
  readonly cached: number
  /**
   * Fingerprint of model, system prompt and tools: if it differs from the previous request, the provider's cache is
   * useless.
   */
  readonly prefix: string
  /** `cut`: sections shown in part. `dropped`: sections left out. */
  readonly cut?: readonly string[]
  readonly dropped?: readonly string[]
}

export const FAILING_PHASES = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CRITIC', 'CHECK_STOP'] as const
export type FailingPhase = (typeof FAILING_PHASES)[number]

/**
 * Ruling of the retry policy: repeat the turn (now or at an instant), report the error to the model in the next turn,
 * or stop.
 */
export type RetryRuling =
  | { readonly kind: 'retry'; readonly until: number | null }
  /** `text`: replaces the error; `until`: the next turn starts at this instant. Both only by a recovery rule. */
  | { readonly kind: 'feedback'; readonly text?: string; readonly until?: number }
  | { readonly kind: 'stop' }

type Body =
  | {
      readonly kind: 'run_started'
      readonly run_id: string
      readonly agent_id: string
      readonly behaviour: string
      /** The parameters with which the behaviour was named; absent if there are none. */
      readonly params?: Readonly<Record<string, string>>
      readonly task: string
      readonly setup: RunSetup
      /** The files that the task tells to write. Absent if no result is expected, and in older records. */
      readonly outputs?: readonly string[]
      /** The behaviour's initial state; absent if it is null. */
      readonly state?: Json
      /** True: the conversation starts anew; what was before is shown as memory. */
      readonly anew?: true
    }
  | {
      readonly kind: 'input_bound'
      readonly turn: number
      readonly input: readonly Observation[]
      readonly feedback?: string
      /** Facts recalled from other sessions; only with the first input of a run. */
      readonly recalled?: RecalledFacts
      /** What the memory gave for this turn, if it is not deterministic and has anything new. */
      readonly memory?: RememberedView
      /** The observation that the behaviour made itself, if it did. */
      readonly observation?: Json
      /** True: the behaviour writes the text of the request itself; that text is in `model_requested`. */
      readonly prepares?: true
    }
  /** From this turn on the history is shortened. */
  | { readonly kind: 'cut'; readonly turn: number; readonly cut: HistoryCut }
  | {
      readonly kind: 'model_requested'
      readonly turn: number
      readonly model: string
      /**
       * The request is not stored: this version of the prompt compiler makes it from the records [from, upto); `digest`
       * verifies it.
       */
      readonly from: number
      readonly upto: number
      readonly compiler: number
      readonly digest: string
      /** The text of the request if the behaviour wrote it; only with the first request of a turn. */
      readonly prepared?: string
      readonly composition?: PromptComposition
      /** US dollars reserved for the answer (upper bound); absent if the model has no price. */
      readonly reserved?: number
    }
  /** A phase failed. In DECIDE there may be several failures in one turn. */
  | {
      readonly kind: 'failed'
      readonly turn: number
      readonly phase: FailingPhase
      readonly code: ErrorCode
      readonly message: string
      readonly ruling: RetryRuling
      /** The recovery rule that chose the ruling; absent: the retry policy did. */
      readonly rule?: string
    }
  /** `usd`: the cost, if the price is known. */
  | { readonly kind: 'model_answered'; readonly turn: number; readonly answer: ModelAnswer; readonly usd?: number }
  | { readonly kind: 'decided'; readonly turn: number; readonly decision: Decision }
  /**
   * A branch decision was resolved. `chosen`: index of the candidate taken; null if none was, and the model decides
   * again.
   */
  | {
      readonly kind: 'branched'
      readonly turn: number
      /** The candidates that the search put in place of the decided ones; absent if it did not. */
      readonly candidates?: readonly Decision[]
      /** One score per candidate; null if the candidate was not scored. */
      readonly scores: readonly (number | null)[]
      readonly chosen: number | null
    }
  | {
      readonly kind: 'call_intended'
      readonly turn: number
      readonly index: number
      /** Number of the attempt: 1, plus 1 each time the owner says that an interrupted attempt did not happen. */
      readonly attempt: number
      readonly call: Omit<Call, 'fault' | 'effect'>
      readonly effect: Effect
      /** What the tool's `before` returned; passed to its `probe` after a crash. */
      readonly before?: Json
      /** Hidden texts were filled in: the workspace is private from here on. */
      readonly filled?: true
    }
  | {
      readonly kind: 'call_settled'
      readonly turn: number
      readonly index: number
      readonly call_id: string
      readonly result: CallResult
      /** Absent: the result is as trusted as the owner's own text. */
      readonly label?: Label
      /** True: the result contains text of third parties, which the model sees in a data fence. */
      readonly outside?: true
    }
  /** The outward calls that the owner's messages need, as judged by a model that saw only those messages. */
  | {
      readonly kind: 'intent_fixed'
      readonly turn: number
      readonly needs: readonly ToolNeed[]
      /** The number of owner messages that the judgement is based on. */
      readonly words: number
      readonly usage: Usage
      readonly usd?: number
    }
  | {
      readonly kind: 'step_committed'
      readonly turn: number
      readonly next: Next
      /** The exact change of the behaviour's state; absent if there is none. */
      readonly patch?: Patch
      /** The verdicts in the order of the critics; absent if there were no critics. */
      readonly verdicts?: readonly { readonly critic: string; readonly verdict: Verdict }[]
      /** Duration of the step, without waiting times. */
      readonly ms: number
    }
  /** The behaviour's state was migrated to another version of its schema. */
  | { readonly kind: 'migrated'; readonly version: number; readonly patch?: Patch }
  /** The run was resumed with other components than it was started with. */
  | { readonly kind: 'refitted'; readonly setup: RunSetup }
  /** The run entered the behaviour that its last step chose (`next.kind` is `become`). */
  | { readonly kind: 'became'; readonly behaviour: string; readonly setup: RunSetup; readonly state?: Json }
  /** A hook or critic failed; the run continues. */
  | { readonly kind: 'diagnosed'; readonly turn: number; readonly about: string; readonly message: string }
  | {
      readonly kind: 'run_ended'
      readonly run_id: string
      readonly stop_reason: StopReason
      readonly answer?: string
      /** Why the env or a stop rule ended the run, and the rule's name. */
      readonly reason?: string
      readonly rule?: string
      readonly failure_class?: FailureClass
      readonly error?: string
      /** Why the run did not start (preflight). */
      readonly issues?: readonly Issue[]
      /** The last failed phase, and the number of earlier failures. */
      readonly failure_report?: Json
    }

export type JournalRecord = Body & { readonly seq: number; readonly ts: number }
export type RecordBody = Body

/** The records of one run in its session's journal, including those after a manual retry. */
export function recordsOfRun(journal: readonly JournalRecord[], run_id: string): readonly JournalRecord[] {
  let current: string | undefined
  return journal.filter((record) => {
    if (record.kind === 'run_started') current = record.run_id
    const isOf = current === run_id
    if (record.kind === 'run_ended') current = undefined
    return isOf
  })
}
