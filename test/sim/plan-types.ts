/** What plans are made of: faults, when they come, and how often a process stands where one can hit it. */

/** Where a process waits for the world, and may die instead of being answered. */
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
/** `file`: where a document's file is replaced; only in worlds with a kernel. `word`: where an owner's word on an unknown outcome has been written. */
export type Boundary = (typeof BOUNDARIES)[number] | 'file' | 'word'

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

/** What can return something that is none of what it may return. */
export const GARBAGE_PORTS = ['model', 'memory', 'critic', 'gate', 'tool', 'hook'] as const
export type GarbagePort = (typeof GARBAGE_PORTS)[number]

/** Everything in a plan has a name, by which it can be left out. */
export interface Item {
  readonly id: string
}

export interface When {
  /** The event of the storm. */
  readonly at: number
  /** Earlier, if so: while the model is busy with its nth request. */
  readonly duringRequest?: number
}

export type Fault = ProcessFault | CallFault | EnvironmentFault

/** What befalls a process that waits for the world. */
export type ProcessFault =
  /** The `nth` time it stands there, it dies; again in so many lives after it, at the first time each; and once more, later. */
  | (Item & {
      readonly kind: 'crash'
      readonly at: Boundary
      readonly nth: number
      readonly repeats: number
      readonly finalRepeat?: number
    })
  /** It hears nothing for so many events, while another life takes over. */
  | (Item & { readonly kind: 'pause'; readonly at: Boundary; readonly nth: number; readonly events: number })

/** What goes wrong with the nth call of a kind. */
export type CallFault = Item & { readonly nth: number } & (
    | { readonly kind: 'disk'; readonly written: boolean }
    | { readonly kind: 'provider'; readonly times: number; readonly trouble: ProviderTrouble }
    | { readonly kind: 'tool'; readonly trouble: 'hang' | 'ignores_abort' | 'throw' | 'throw_after' }
    | { readonly kind: 'before' }
    | { readonly kind: 'probe'; readonly times: number; readonly trouble: 'unclear' | 'throw' }
    | { readonly kind: 'remains' }
    | { readonly kind: 'critic'; readonly verdict: 'retry' | 'stop' | 'throw' }
    | { readonly kind: 'env' }
    /** 42, undefined, half of what was meant. */
    | { readonly kind: 'garbage'; readonly port: GarbagePort; readonly times: number }
    /** A call of what a cycle has sent takes longer than many beats. */
    | { readonly kind: 'late' }
    /** Another leader, on another machine, was first with the beat that is about to fire. */
    | { readonly kind: 'rival' }
  )

export type EnvironmentFault =
  /** From that life on the tools of calls that were cut short are not offered; `removed`: not even known. */
  | (Item & { readonly kind: 'withdraw'; readonly fromProcess: number; readonly removed: boolean })
  | (Item & { readonly kind: 'wall'; readonly at: number; readonly by: number })
  /** SIGTERM, and so many events later the second one. */
  | (Item & { readonly kind: 'term'; readonly at: number; readonly patience: number })

export const HOUR = 3_600_000

/** How often a process stands at a boundary in a storm, roughly: a fault that would come later is none. */
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
  word: 2,
}

export const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
