/** What a seed draws before the world begins: tasks, what people do, and every fault. A plan is data, so a failing one can be made smaller. */

import {
  drawKernel,
  drawKernelFault,
  drawLate,
  drawReign,
  drawRival,
  type Edit,
  type KernelPlan,
  type Reign,
} from './kernel-plan.ts'
import {
  BOUNDARIES,
  type Fault,
  GARBAGE_PORTS,
  HOUR,
  type Item,
  OFTEN,
  TROUBLES,
  times,
  type When,
} from './plan-types.ts'
import { chance, oneOf, whole } from './random.ts'
import { drawCutShort, drawLastWord, drawPoison, drawRelapse } from './targeted-crashes.ts'

export * from './plan-types.ts'

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

export type Act = Send | Flood | Look | Retain | Reign | Edit

export interface Send extends Item, When {
  readonly kind: 'send'
  readonly tag: string
  readonly text: string
  readonly key?: string
}

/** So many messages at once. */
export interface Flood extends Item, When {
  readonly kind: 'flood'
  readonly tag: string
  readonly count: number
}

export interface Look extends Item, When {
  readonly kind: 'look'
  readonly command: 'status' | 'queue list' | 'unknowns list' | 'sessions list'
}

/** What is old and over is taken away, as after a cycle. */
export interface Retain extends Item, When {
  readonly kind: 'retain'
}

export interface Plan {
  readonly seed: number
  /** After so many events the faults stop. */
  readonly storm: number
  readonly width: number
  readonly maxSteps: number | null
  /** Tokens that a request may have; null: any number. */
  readonly context: number | null
  /** Millionths of a dollar that the model may cost in all; undefined: it costs nothing. */
  readonly cap?: number
  readonly kernel?: KernelPlan
  readonly tasks: readonly Task[]
  readonly acts: readonly Act[]
  readonly faults: readonly Fault[]
}

/** By the rest of the seed, so that the other worlds stay as they were. */
const PAYING: ReadonlySet<number> = new Set([0, 6])
const REIGNED: ReadonlySet<number> = new Set([1, 6])
/** Where there is no kernel: its cycles count what became of their dispatches. */
const RETAINING: ReadonlySet<number> = new Set([3])
/** By another rest, so that they are found among all of those. */
const isRelapsing = (seed: number): boolean => seed % 11 === 5
const isFlooded = (seed: number): boolean => seed % 13 === 4
/** Whoever says a word on an unknown outcome to a process that dies of it. */
const isHeardLast = (seed: number): boolean => seed % 4 === 2
/** A run that has got somewhere, and is then taken up once too often; among the worlds with a gate. */
const isPoisoned = (seed: number): boolean => seed % 10 === 1
const isGarbled = (seed: number): boolean => seed % 9 === 2
/** Room for some dozens of messages, and for what the sessions here come to without any. */
const LITTLE_CONTEXT = 4_000
/** Roughly what is set aside for one. */
const MOST_OF_A_CALL = 5_000

export function drawPlan(seed: number): Plan {
  const reigned = REIGNED.has(seed % 7)
  const kernel = reigned ? drawKernel(seed) : undefined
  const storm = (150 + whole(seed, 250, 'storm')) * (reigned ? 4 : 1)
  const tasks = times(1 + whole(seed, 3, 'tasks'), (i) => drawTask(seed, i, storm))
  return {
    seed,
    storm,
    width: 1 + whole(seed, 3, 'width'),
    maxSteps: chance(seed, 'bounded') < 0.1 ? 1 + whole(seed, 4, 'steps') : null,
    context: isFlooded(seed) ? LITTLE_CONTEXT : null,
    ...(PAYING.has(seed % 7) ? { cap: Math.floor(chance(seed, 'cap') ** 2 * 20 * MOST_OF_A_CALL) } : {}),
    tasks,
    ...(kernel ? { kernel } : {}),
    acts: [
      ...times(whole(seed, 9, 'acts'), (i) => drawAct(seed, i, storm, tasks)),
      ...times(reigned ? whole(seed, 9, 'reign') : 0, (i) => drawReign(seed, i, storm)),
      ...times(isFlooded(seed) ? 1 + whole(seed, 2, 'floods') : 0, (i) => drawFlood(seed, i, storm, tasks)),
      ...times(RETAINING.has(seed % 7) ? 1 + whole(seed, 4, 'retains') : 0, (i) => drawRetain(seed, i, storm)),
    ],
    faults: kernel?.late ? [drawLate(seed, 0)] : drawFaults(seed, storm, reigned),
  }
}

function drawFaults(seed: number, storm: number, reigned: boolean): readonly Fault[] {
  return [
    ...times(whole(seed, 10, 'faults'), (i) => drawFault(seed, i, storm)),
    ...times(reigned ? whole(seed, 6, 'kernel faults') : 0, (i) => drawKernelFault(seed, i, storm)),
    ...times(reigned ? whole(seed, 3, 'rivals') : 0, (i) => drawRival(seed, i)),
    ...times(isRelapsing(seed) ? 1 : 0, (i) => drawRelapse(seed, i)),
    ...times(isHeardLast(seed) ? 3 : 0, (i) => drawLastWord(i)),
    ...times(isHeardLast(seed) ? 3 : 0, (i) => drawCutShort(seed, i)),
    ...times(isPoisoned(seed) ? 1 : 0, (i) => drawPoison(seed, i)),
    ...times(isGarbled(seed) ? 2 + whole(seed, 4, 'garbage') : 0, (i) => drawGarbage(seed, i)),
  ]
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
    case 'tool': {
      const trouble = among<'hang' | 'throw' | 'throw_after'>(['hang', 'throw', 'throw_after'])
      const deaf = trouble === 'hang' && draw('deaf') < 0.6
      return { id, kind: 'tool', nth: nth(OFTEN.tool), trouble: deaf ? 'deaf' : trouble }
    }
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

function drawFlood(seed: number, i: number, storm: number, tasks: readonly Task[]): Flood {
  const draw = (name: string): number => chance(seed, 'flood', i, name)
  const tag = tasks[whole(seed, tasks.length, 'flood', i)]?.tag ?? 't0'
  const busy = draw('busy') < 0.5 ? { asking: 1 + Math.floor(draw('asking') * 4) } : {}
  const count = 100 + Math.floor(draw('count') * 200)
  return { id: `w${i}`, kind: 'flood', at: Math.floor(draw('at') * storm * 0.6), ...busy, tag, count }
}

const drawRetain = (seed: number, i: number, storm: number): Retain => ({
  id: `s${i}`,
  kind: 'retain',
  at: Math.floor((0.3 + 0.7 * chance(seed, 'retain', i)) * storm),
})

const drawGarbage = (seed: number, i: number): Fault => ({
  id: `b${i}`,
  kind: 'garbage',
  port: oneOf(seed, GARBAGE_PORTS, 'garbage', i, 'port'),
  nth: 1 + whole(seed, 8, 'garbage', i, 'nth'),
  times: 1 + whole(seed, 4, 'garbage', i, 'times'),
})

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
} as const satisfies Record<Drawn, number>

/** By their weights; the others are drawn where there is a kernel. */
type Drawn = Exclude<Fault['kind'], 'rival' | 'late' | 'garbage'>

function weighted(draw: number): Drawn {
  let left = draw * 100
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    left -= weight
    if (left < 0) return kind as Drawn
  }
  return 'crash'
}
