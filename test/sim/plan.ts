/**
 * What a seed draws before the world starts: tasks, user actions, and every fault. A plan is plain data, so that a
 * failing one can be shrunk.
 */

import {
  drawKernel,
  drawKernelAction,
  drawKernelFault,
  drawLateDispatch,
  drawRivalLeader,
  type KernelCommandAction,
  type KernelPlan,
  type StateEdit,
} from './kernel-plan.ts'
import { type Fault, GARBAGE_PORTS, type Item, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'
import { drawFault } from './random-faults.ts'
import {
  drawObservations,
  drawResidentFault,
  drawResidents,
  hasResidents,
  type Observe,
  type ResidentPlan,
  type SetSlice,
} from './resident-plan.ts'
import { drawSeveral, drawSeveralFaults, hasSeveralProcesses, type SeveralPlan, withBeats } from './several-plan.ts'
import { type Cancel, drawCancels, drawRunLimit, drawSubAgentFault, hasSubAgents } from './sub-agent-plan.ts'
import { drawTalk, drawTalkFault, hasTalk, type Say } from './talk-plan.ts'
import {
  drawCrashAfterEffect,
  drawCrashOnResolution,
  drawPoisonCrashes,
  drawRepeatedCrash,
} from './targeted-crashes.ts'
import { drawUndoFault, drawUndos, hasUndo, type Undo } from './undo-plan.ts'

export * from './plan-types.ts'

export interface Task extends Item {
  readonly tag: string
  /** The event of the fault phase at which the task is enqueued. */
  readonly at: number
  readonly by: 'enqueue' | 'run'
  readonly priority: number
  readonly key?: string
  /** The event at which the same task is enqueued once more. */
  readonly repeatedAt?: number
  readonly delay?: string
}

export type UserAction =
  | Send
  | Say
  | Cancel
  | Undo
  | Observe
  | SetSlice
  | Flood
  | Query
  | Retain
  | KernelCommandAction
  | StateEdit

export interface Send extends Item, When {
  readonly kind: 'send'
  readonly tag: string
  readonly text: string
  readonly key?: string
}

/** `count` messages at once. */
export interface Flood extends Item, When {
  readonly kind: 'flood'
  readonly tag: string
  readonly count: number
}

export interface Query extends Item, When {
  readonly kind: 'query'
  readonly command: 'status' | 'queue list' | 'unknowns list' | 'sessions list'
}

/** Deletes old finished sessions, as a kernel does after a cycle. */
export interface Retain extends Item, When {
  readonly kind: 'retain'
}

export interface Plan {
  readonly seed: number
  /** Number of events after which the faults stop. */
  readonly faultEvents: number
  readonly maxConcurrent: number
  readonly maxSteps: number | null
  /** Limit of tokens per request; null: no limit. */
  readonly context: number | null
  /** Limit of the model's total cost in millionths of a dollar; undefined: the model is free. */
  readonly cap?: number
  /** Limit of what a run and its sub-agents may cost together, in millionths of a dollar. */
  readonly runLimit?: number
  readonly kernel?: KernelPlan
  readonly residents?: readonly ResidentPlan[]
  readonly several?: SeveralPlan
  readonly tasks: readonly Task[]
  readonly actions: readonly UserAction[]
  readonly faults: readonly Fault[]
}

/** Worlds are chosen by the remainder of their seed, so that a new kind leaves the other worlds unchanged. */
const MONEY_SEEDS: ReadonlySet<number> = new Set([0, 6])
const KERNEL_SEEDS: ReadonlySet<number> = new Set([1, 6])
/** Only without a kernel: a kernel's cycles still count the dispatches that retention would delete. */
const RETENTION_SEEDS: ReadonlySet<number> = new Set([3])
/** By another remainder, so that these worlds overlap with all kinds above. */
const hasRepeatedCrash = (seed: number): boolean => seed % 11 === 5
const hasFlood = (seed: number): boolean => seed % 13 === 4
const hasRetention = (seed: number): boolean => RETENTION_SEEDS.has(seed % 7) && !hasSeveralProcesses(seed)
/** A process crashes right after it has written the resolution of an unknown outcome. */
const crashesOnResolution = (seed: number): boolean => seed % 4 === 2
/** A run that has made progress is resumed once too often. Only in worlds with a gate. */
const hasPoisonRun = (seed: number): boolean => seed % 10 === 1
const hasGarbage = (seed: number): boolean => seed % 9 === 2
/** Enough for some dozens of messages, and for what these sessions reach without any. */
const SMALL_CONTEXT = 4_000
/** Roughly the reservation of one call, in millionths of a dollar. */
const TYPICAL_RESERVATION = 5_000

export function drawPlan(seed: number): Plan {
  const isShared = hasSeveralProcesses(seed)
  const hasKernel = KERNEL_SEEDS.has(seed % 7) || isShared
  const drawn = hasKernel ? drawKernel(seed) : undefined
  const kernel = drawn && isShared ? withBeats(seed, drawn) : drawn
  const faultEvents =
    (150 + integerBelow(seed, 250, 'storm')) *
    (isShared
      ? 6
      : hasKernel
        ? 4
        : hasTalk(seed) || hasSubAgents(seed)
          ? 3
          : hasUndo(seed) || hasResidents(seed)
            ? 2
            : 1)
  const runLimit = hasSubAgents(seed) ? drawRunLimit(seed) : undefined
  const tasks = times((hasUndo(seed) || isShared ? 3 : 1) + integerBelow(seed, 3, 'tasks'), (i) =>
    drawTask(seed, i, faultEvents),
  )
  return {
    seed,
    faultEvents,
    maxConcurrent: 1 + integerBelow(seed, 3, 'width'),
    // The steps that a resident makes without its model are not counted.
    maxSteps: chance(seed, 'bounded') < 0.1 && !hasResidents(seed) ? 1 + integerBelow(seed, 4, 'steps') : null,
    // The behaviours of conversations and residents do not fit into a small context, nor does the tool for sub-agents.
    context: hasFlood(seed) && !hasTalk(seed) && !hasSubAgents(seed) && !hasResidents(seed) ? SMALL_CONTEXT : null,
    ...(runLimit === undefined ? {} : { runLimit }),
    ...(MONEY_SEEDS.has(seed % 7) && !hasResidents(seed)
      ? { cap: Math.floor(chance(seed, 'cap') ** 2 * 20 * TYPICAL_RESERVATION) }
      : {}),
    tasks,
    ...(kernel ? { kernel } : {}),
    ...(isShared ? { several: drawSeveral(seed) } : {}),
    ...(hasResidents(seed) ? { residents: drawResidents(seed) } : {}),
    actions: [
      ...times(integerBelow(seed, 9, 'acts'), (i) => drawAction(seed, i, faultEvents, tasks)),
      ...times(hasKernel ? integerBelow(seed, 9, 'reign') : 0, (i) => drawKernelAction(seed, i, faultEvents)),
      ...times(hasFlood(seed) ? 1 + integerBelow(seed, 2, 'floods') : 0, (i) => drawFlood(seed, i, faultEvents, tasks)),
      ...times(hasRetention(seed) ? 1 + integerBelow(seed, 4, 'retains') : 0, (i) => drawRetain(seed, i, faultEvents)),
      ...(hasTalk(seed) ? drawTalk(seed, faultEvents) : []),
      ...(hasSubAgents(seed) || isShared ? drawCancels(seed, faultEvents) : []),
      ...(hasUndo(seed) ? drawUndos(seed, faultEvents) : []),
      ...(hasResidents(seed) ? drawObservations(seed, faultEvents) : []),
    ],
    faults: isShared
      ? drawSeveralFaults(seed, faultEvents)
      : kernel?.late
        ? [drawLateDispatch(seed, 0)]
        : drawFaults(seed, faultEvents, hasKernel),
  }
}

function drawFaults(seed: number, faultEvents: number, hasKernel: boolean): readonly Fault[] {
  return [
    ...times(integerBelow(seed, 10, 'faults'), (i) => drawFault(seed, i, faultEvents)),
    ...times(hasKernel ? integerBelow(seed, 6, 'kernel faults') : 0, (i) => drawKernelFault(seed, i, faultEvents)),
    ...times(hasKernel ? integerBelow(seed, 3, 'rivals') : 0, (i) => drawRivalLeader(seed, i)),
    ...times(hasRepeatedCrash(seed) ? 1 : 0, (i) => drawRepeatedCrash(seed, i)),
    ...times(crashesOnResolution(seed) ? 3 : 0, (i) => drawCrashOnResolution(i)),
    ...times(crashesOnResolution(seed) ? 3 : 0, (i) => drawCrashAfterEffect(seed, i)),
    ...times(hasTalk(seed) ? integerBelow(seed, 5, 'talk faults') : 0, (i) => drawTalkFault(seed, i)),
    ...times(hasSubAgents(seed) ? integerBelow(seed, 5, 'family faults') : 0, (i) => drawSubAgentFault(seed, i)),
    ...times(hasUndo(seed) ? integerBelow(seed, 4, 'undo faults') : 0, (i) => drawUndoFault(seed, i)),
    ...times(hasResidents(seed) ? integerBelow(seed, 5, 'resident faults') : 0, (i) => drawResidentFault(seed, i)),
    ...times(hasPoisonRun(seed) ? 1 : 0, (i) => drawPoisonCrashes(seed, i)),
    ...times(hasGarbage(seed) ? 2 + integerBelow(seed, 4, 'garbage') : 0, (i) => drawGarbage(seed, i)),
  ]
}

/** Returns the plan without the items of these ids. */
export function withoutItems(plan: Plan, dropped: ReadonlySet<string>): Plan {
  const kept = <T extends Item>(items: readonly T[]): T[] => items.filter(({ id }) => !dropped.has(id))
  return { ...plan, tasks: kept(plan.tasks), actions: kept(plan.actions), faults: kept(plan.faults) }
}

export const itemsOf = ({ tasks, actions, faults }: Plan): readonly Item[] => [...faults, ...actions, ...tasks]

function drawTask(seed: number, i: number, faultEvents: number): Task {
  const draw = (name: string): number => chance(seed, 'task', i, name)
  const at = i === 0 ? 0 : Math.floor(draw('at') * faultEvents * 0.5)
  if (draw('by') < 0.3) return { id: `t${i}`, tag: `t${i}`, at, by: 'run', priority: 0 }
  return {
    id: `t${i}`,
    tag: `t${i}`,
    at,
    by: 'enqueue',
    priority: Math.floor(draw('priority') * 3),
    ...(draw('keyed') < 0.5 ? { key: `task-${i}` } : {}),
    ...(draw('keyed') < 0.15 ? { repeatedAt: Math.floor(draw('again') * faultEvents) } : {}),
    ...(draw('late') < 0.15 ? { delay: oneOf(seed, ['5s', '2m', '1h'], 'task', i, 'delay') } : {}),
  }
}

function drawAction(seed: number, i: number, faultEvents: number, tasks: readonly Task[]): UserAction {
  const draw = (name: string): number => chance(seed, 'act', i, name)
  const at = Math.floor(draw('at') * faultEvents * 0.7)
  if (draw('kind') < 0.12)
    return {
      id: `a${i}`,
      at,
      kind: 'query',
      command: oneOf(seed, ['status', 'queue list', 'unknowns list', 'sessions list'], 'act', i, 'look'),
    }
  const own = drawMessage(seed, i, tasks)
  const previous = drawMessage(seed, i - 1, tasks)
  // Some users send the same message twice.
  const message = i > 0 && previous.key !== undefined && draw('again') < 0.33 ? previous : own
  const busy = draw('busy') < 0.4 ? { duringRequest: 1 + Math.floor(draw('asking') * 8) } : {}
  return { id: `a${i}`, at, ...busy, kind: 'send', ...message }
}

function drawMessage(seed: number, i: number, tasks: readonly Task[]): { tag: string; text: string; key?: string } {
  const tag = tasks[integerBelow(seed, tasks.length, 'letter', i)]?.tag ?? 't0'
  const keyed = chance(seed, 'letter', i, 'keyed') < 0.6
  return { tag, text: `${tag}#m${i}`, ...(keyed ? { key: `m${i}` } : {}) }
}

function drawFlood(seed: number, i: number, faultEvents: number, tasks: readonly Task[]): Flood {
  const draw = (name: string): number => chance(seed, 'flood', i, name)
  const tag = tasks[integerBelow(seed, tasks.length, 'flood', i)]?.tag ?? 't0'
  const busy = draw('busy') < 0.5 ? { duringRequest: 1 + Math.floor(draw('asking') * 4) } : {}
  const count = 100 + Math.floor(draw('count') * 200)
  return { id: `w${i}`, kind: 'flood', at: Math.floor(draw('at') * faultEvents * 0.6), ...busy, tag, count }
}

const drawRetain = (seed: number, i: number, faultEvents: number): Retain => ({
  id: `s${i}`,
  kind: 'retain',
  at: Math.floor((0.3 + 0.7 * chance(seed, 'retain', i)) * faultEvents),
})

const GARBAGE_PORTS_WITHOUT_MEMORY = ['model', 'critic', 'gate', 'tool', 'hook'] as const

const drawGarbage = (seed: number, i: number): Fault => ({
  id: `b${i}`,
  kind: 'garbage',
  // A replay does not repeat what a memory did while a behaviour of a conversation or a resident observed.
  port: oneOf(
    seed,
    hasTalk(seed) || hasResidents(seed) ? GARBAGE_PORTS_WITHOUT_MEMORY : GARBAGE_PORTS,
    'garbage',
    i,
    'port',
  ),
  nth: 1 + integerBelow(seed, 8, 'garbage', i, 'nth'),
  times: 1 + integerBelow(seed, 4, 'garbage', i, 'times'),
})
