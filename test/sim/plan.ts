/** What a seed draws before the world begins: tasks, what people do, and every fault. A plan is data, so a failing one can be made smaller. */

import { chance, oneOf, whole } from './random.ts'

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
export type Boundary = (typeof BOUNDARIES)[number]

export const TROUBLES = [
  'model_unavailable',
  'model_limited',
  'model_cut',
  'model_empty',
  'model_auth',
  'unknown_tool',
  'bad_args',
  'not_json',
  'doubled_ids',
  'length',
  'two_voices',
] as const
export type Trouble = (typeof TROUBLES)[number]

export const TOOL_NAMES = ['look', 'put', 'book', 'edit', 'shell', 'post', 'pay'] as const
export type ToolName = (typeof TOOL_NAMES)[number]

/** Everything in a plan has a name, by which it can be left out. */
export interface Item {
  readonly id: string
}

export interface Task extends Item {
  readonly tag: string
  /** The event of the storm at which it is asked for. */
  readonly at: number
  readonly by: 'enqueue' | 'run'
  readonly priority: number
  readonly key?: string
  /** It is asked for once more. */
  readonly again?: number
  readonly delay?: string
}

export type Act = Send | Look

interface When {
  /** The event of the storm. */
  readonly at: number
  /** Earlier, if so: while the model is busy with its nth request. */
  readonly asking?: number
}

export interface Send extends Item, When {
  readonly kind: 'send'
  readonly tag: string
  readonly text: string
  readonly key?: string
}

export interface Look extends Item, When {
  readonly kind: 'look'
  readonly command: 'status' | 'queue list' | 'unknowns list' | 'sessions list'
}

export type Fault = Blow | CallFault | Weather

/** What befalls a process that waits for the world. */
export type Blow =
  /** The `nth` time it stands there, it dies; again in so many lives after it, at the first time each; and once more, later. */
  | (Item & {
      readonly kind: 'crash'
      readonly at: Boundary
      readonly nth: number
      readonly again: number
      readonly relapse?: number
    })
  /** It hears nothing for so many events, while another life takes over. */
  | (Item & { readonly kind: 'pause'; readonly at: Boundary; readonly nth: number; readonly events: number })

/** What goes wrong with the nth call of a kind. */
export type CallFault = Item & { readonly nth: number } & (
    | { readonly kind: 'disk'; readonly written: boolean }
    | { readonly kind: 'provider'; readonly times: number; readonly trouble: Trouble }
    | { readonly kind: 'tool'; readonly trouble: 'hang' | 'throw' | 'throw_after' }
    | { readonly kind: 'before' }
    | { readonly kind: 'probe'; readonly times: number; readonly trouble: 'unclear' | 'throw' }
    | { readonly kind: 'remains' }
    | { readonly kind: 'critic'; readonly verdict: 'retry' | 'stop' | 'throw' }
    | { readonly kind: 'env' }
  )

export type Weather =
  /** From that life on the tools of calls that were cut short are not offered; `gone`: not even known. */
  | (Item & { readonly kind: 'withdraw'; readonly life: number; readonly gone: boolean })
  | (Item & { readonly kind: 'wall'; readonly at: number; readonly by: number })
  /** SIGTERM, and so many events later the second one. */
  | (Item & { readonly kind: 'term'; readonly at: number; readonly patience: number })

export interface Plan {
  readonly seed: number
  /** After so many events the faults stop. */
  readonly storm: number
  readonly width: number
  readonly maxSteps: number | null
  readonly tasks: readonly Task[]
  readonly acts: readonly Act[]
  readonly faults: readonly Fault[]
}

const HOUR = 3_600_000

export function drawPlan(seed: number): Plan {
  const storm = 150 + whole(seed, 250, 'storm')
  const tasks = times(1 + whole(seed, 3, 'tasks'), (i) => drawTask(seed, i, storm))
  return {
    seed,
    storm,
    width: 1 + whole(seed, 3, 'width'),
    maxSteps: chance(seed, 'bounded') < 0.1 ? 1 + whole(seed, 4, 'steps') : null,
    tasks,
    acts: times(whole(seed, 9, 'acts'), (i) => drawAct(seed, i, storm, tasks)),
    faults: times(whole(seed, 10, 'faults'), (i) => drawFault(seed, i, storm)),
  }
}

/** The same plan without the items of these ids. */
export function without(plan: Plan, dropped: ReadonlySet<string>): Plan {
  const kept = <T extends Item>(items: readonly T[]): T[] => items.filter(({ id }) => !dropped.has(id))
  return { ...plan, tasks: kept(plan.tasks), acts: kept(plan.acts), faults: kept(plan.faults) }
}

export const itemsOf = ({ tasks, acts, faults }: Plan): readonly Item[] => [...faults, ...acts, ...tasks]

function drawTask(seed: number, i: number, storm: number): Task {
  const draw = (name: string): number => chance(seed, 'task', i, name)
  const at = i === 0 ? 0 : Math.floor(draw('at') * storm * 0.5)
  if (draw('by') < 0.3) return { id: `t${i}`, tag: `t${i}`, at, by: 'run', priority: 0 }
  return {
    id: `t${i}`,
    tag: `t${i}`,
    at,
    by: 'enqueue',
    priority: Math.floor(draw('priority') * 3),
    ...(draw('keyed') < 0.5 ? { key: `task-${i}` } : {}),
    ...(draw('keyed') < 0.15 ? { again: Math.floor(draw('again') * storm) } : {}),
    ...(draw('late') < 0.15 ? { delay: oneOf(seed, ['5s', '2m', '1h'], 'task', i, 'delay') } : {}),
  }
}

function drawAct(seed: number, i: number, storm: number, tasks: readonly Task[]): Act {
  const draw = (name: string): number => chance(seed, 'act', i, name)
  const at = Math.floor(draw('at') * storm * 0.7)
  if (draw('kind') < 0.12)
    return {
      id: `a${i}`,
      at,
      kind: 'look',
      command: oneOf(seed, ['status', 'queue list', 'unknowns list', 'sessions list'], 'act', i, 'look'),
    }
  const own = letter(seed, i, tasks)
  const former = letter(seed, i - 1, tasks)
  // Some people send the same thing once more.
  const said = i > 0 && former.key !== undefined && draw('again') < 0.33 ? former : own
  const busy = draw('busy') < 0.4 ? { asking: 1 + Math.floor(draw('asking') * 8) } : {}
  return { id: `a${i}`, at, ...busy, kind: 'send', ...said }
}

function letter(seed: number, i: number, tasks: readonly Task[]): { tag: string; text: string; key?: string } {
  const tag = tasks[whole(seed, tasks.length, 'letter', i)]?.tag ?? 't0'
  const keyed = chance(seed, 'letter', i, 'keyed') < 0.6
  return { tag, text: `${tag}#m${i}`, ...(keyed ? { key: `m${i}` } : {}) }
}

/** Where a run that is taken up again comes by once more without having written anything. */
const POISONOUS = ['open', 'open', 'tool', 'tool', 'done', 'done', 'probe', 'remains', 'listed'] as const
const DEADLY = ['ack', 'ack', 'commit', 'done', 'done', 'done', 'tool', 'tool', 'paid', ...BOUNDARIES] as const

/** How often a process stands at a boundary in a storm, roughly: a fault that would come later is none. */
const OFTEN: Readonly<Record<Boundary, number>> = {
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
}

function drawFault(seed: number, i: number, storm: number): Fault {
  const id = `f${i}`
  const draw = (name: string): number => chance(seed, 'fault', i, name)
  const nth = (often: number): number => 1 + Math.floor(draw('nth') * often)
  const times = (most: number): number => (draw('again') < 0.4 ? 2 + Math.floor(draw('times') * (most - 1)) : 1)
  const among = <T>(options: readonly [T, ...T[]]): T => oneOf(seed, options, 'fault', i, 'among')
  const at = Math.floor(draw('at') * storm)
  switch (weighted(draw('kind'))) {
    case 'crash': {
      const again = draw('again') < 0.4 ? 1 + Math.floor(draw('times') * 3) : 0
      const where = among(again > 0 ? POISONOUS : DEADLY)
      const relapse = again > 0 && draw('relapse') < 0.5 ? { relapse: 2 + Math.floor(draw('pause') * 4) } : {}
      return { id, kind: 'crash', at: where, nth: nth(OFTEN[where]), again, ...relapse }
    }
    case 'pause': {
      const where = among(DEADLY)
      return { id, kind: 'pause', at: where, nth: nth(OFTEN[where]), events: 10 + Math.floor(draw('events') * 90) }
    }
    case 'disk':
      return { id, kind: 'disk', nth: nth(OFTEN.commit), written: draw('written') < 0.5 }
    case 'provider':
      return { id, kind: 'provider', nth: nth(OFTEN.model), times: times(4), trouble: among(TROUBLES) }
    case 'tool':
      return { id, kind: 'tool', nth: nth(OFTEN.tool), trouble: among(['hang', 'throw', 'throw_after']) }
    case 'before':
      return { id, kind: 'before', nth: nth(4) }
    case 'probe':
      return { id, kind: 'probe', nth: 1, times: times(3), trouble: among(['unclear', 'throw']) }
    case 'remains':
      return { id, kind: 'remains', nth: 1 }
    case 'critic':
      return { id, kind: 'critic', nth: nth(12), verdict: among(['retry', 'retry', 'stop', 'throw']) }
    case 'env':
      return { id, kind: 'env', nth: nth(12) }
    case 'withdraw':
      return { id, kind: 'withdraw', life: 2 + Math.floor(draw('life') * 4), gone: draw('gone') < 0.5 }
    case 'wall':
      return { id, kind: 'wall', at, by: Math.round((draw('by') * 2 - 1) * 12 * HOUR) }
    case 'term':
      return { id, kind: 'term', at, patience: Math.floor(draw('patience') * 15) }
  }
}

const WEIGHTS = {
  crash: 34,
  pause: 10,
  disk: 3,
  provider: 15,
  tool: 8,
  before: 1,
  probe: 5,
  remains: 2,
  critic: 4,
  env: 2,
  withdraw: 3,
  wall: 4,
  term: 9,
} as const satisfies Record<Fault['kind'], number>

function weighted(draw: number): Fault['kind'] {
  let left = draw * 100
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    left -= weight
    if (left < 0) return kind as Fault['kind']
  }
  return 'crash'
}

const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
