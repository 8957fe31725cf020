/** The parts of a plan: faults, when they happen, and the boundaries at which they can hit a process. */

/** The places at which a process waits for the world and may crash instead of getting an answer. */
export const BOUNDARIES = [
  'read',
  'commit',
  'ack',
  'open',
  'model',
  'paid',
  'before',
  'tool',
  'done',
  'probe',
  'remains',
  'listed',
  'settled',
  'sleep',
] as const
/**
 * `file`: before a document's file is replaced, only with a kernel. `resolved`: after the owner's resolution of an
 * unknown outcome was written. `copy`: before a check reads a copy of a workspace, or before one is made or merged for
 * a sub-agent. `posted`: after a reply was written. `restore`: before an undo changes a file.
 */
export type Boundary =
  | (typeof BOUNDARIES)[number]
  | 'file'
  | 'resolved'
  | 'copy'
  | 'posted'
  | 'restore'
  | SharedBoundary

/**
 * Only with several processes. `begun`: after a cycle was begun. `notified`: a notification of the store arrives.
 * `deliver`: before a channel accepts a message; `accepted`: after it.
 */
type SharedBoundary = 'begun' | 'notified' | 'deliver' | 'accepted'

export const PROVIDER_TROUBLES = [
  'model_unavailable',
  'model_limited',
  'model_cut',
  'model_empty',
  'model_auth',
  'unknown_tool',
  'bad_args',
  'not_json',
  'duplicate_ids',
  'length',
  'calls_and_finish',
] as const
export type ProviderTrouble = (typeof PROVIDER_TROUBLES)[number]

export const TOOL_NAMES = ['look', 'put', 'book', 'edit', 'shell', 'post', 'pay'] as const
export type ToolName = (typeof TOOL_NAMES)[number]
export const isToolName = (name: string): name is ToolName => (TOOL_NAMES as readonly string[]).includes(name)

/** Ports that can return a value outside of their contract. */
export const GARBAGE_PORTS = ['model', 'memory', 'critic', 'gate', 'tool', 'hook'] as const
export type GarbagePort = (typeof GARBAGE_PORTS)[number]

/** Every part of a plan has an id, by which `--drop` leaves it out. */
export interface Item {
  readonly id: string
}

export interface When {
  /** The event of the fault phase. */
  readonly at: number
  /** Happens earlier if the model is busy with its nth request before that event. */
  readonly duringRequest?: number
  /** Happens earlier if a run changes its behaviour for the nth time before that event. */
  readonly duringMove?: number
  /** Happens earlier if so many runs have ended before that event. */
  readonly afterEnds?: number
}

export type Fault = ProcessFault | CallFault | EnvironmentFault

/** A fault that hits a process while it waits for the world. */
export type ProcessFault =
  /**
   * Crashes at the `nth` visit of the boundary, then at the first visit in each of the next `repeats` processes, and
   * once more `finalRepeat` visits later.
   */
  | (Item & {
      readonly kind: 'crash'
      readonly at: Boundary
      readonly nth: number
      readonly repeats: number
      readonly finalRepeat?: number
    })
  /** The process stops for `events` events, while another process takes over. */
  | (Item & { readonly kind: 'pause'; readonly at: Boundary; readonly nth: number; readonly events: number })
  /** SIGSTOP: one of several processes stops for a time; nobody takes its home. */
  | (Item & { readonly kind: 'stop'; readonly at: Boundary; readonly nth: number; readonly ms: number })
  | (Item & Cut & { readonly kind: 'cut'; readonly at: Boundary; readonly nth: number })

/** A process cannot reach the store for a time. */
export interface Cut {
  readonly ms: number
  /** `replies`: what was asked arrives at the store, and only its answer is lost. */
  readonly loses: 'requests' | 'replies'
  /** The store restarts: no process reaches it. */
  readonly all: boolean
}

/** A fault of the nth call of a kind. */
export type CallFault = Item & { readonly nth: number } & (
    | { readonly kind: 'disk'; readonly written: boolean }
    | { readonly kind: 'provider'; readonly times: number; readonly trouble: ProviderTrouble }
    | { readonly kind: 'tool'; readonly trouble: 'hang' | 'ignores_abort' | 'throw' | 'throw_after' }
    | { readonly kind: 'before' }
    | { readonly kind: 'probe'; readonly times: number; readonly trouble: 'unclear' | 'throw' }
    | { readonly kind: 'remains' }
    | { readonly kind: 'critic'; readonly verdict: 'retry' | 'stop' | 'throw' }
    | { readonly kind: 'env' }
    /** Returns 42, undefined, or only some of the expected keys. */
    | { readonly kind: 'garbage'; readonly port: GarbagePort; readonly times: number }
    /** A call of a cycle's dispatch lasts longer than many beats. */
    | { readonly kind: 'late' }
    /** A leader on another machine fires the next beat first. */
    | { readonly kind: 'rival' }
  )

export type EnvironmentFault =
  /** From that process on, the tools of interrupted calls are not offered; `removed`: they are not even known. */
  | (Item & { readonly kind: 'withdraw'; readonly fromProcess: number; readonly removed: boolean })
  | (Item & { readonly kind: 'wall'; readonly at: number; readonly by: number })
  /** The clock of one of several machines jumps. */
  | (Item & { readonly kind: 'clock'; readonly at: number; readonly home: number; readonly by: number })
  /** SIGTERM, and a second one `patience` events later. */
  | (Item & { readonly kind: 'term'; readonly at: number; readonly patience: number })

export const HOUR = 3_600_000

/** Roughly how often a process visits each boundary in a fault phase: a fault with a later `nth` would never happen. */
export const TYPICAL_VISITS: Readonly<Record<Boundary, number>> = {
  read: 60,
  commit: 50,
  ack: 50,
  open: 5,
  model: 9,
  paid: 9,
  before: 3,
  tool: 7,
  done: 7,
  probe: 1,
  remains: 1,
  listed: 1,
  settled: 3,
  sleep: 10,
  file: 12,
  resolved: 2,
  copy: 6,
  posted: 1,
  restore: 2,
  begun: 12,
  notified: 60,
  deliver: 12,
  accepted: 12,
}

export const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
