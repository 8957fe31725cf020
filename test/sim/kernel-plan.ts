/** What a seed draws in a world with a kernel: schedule, agents, user actions, and faults that hit cycles. */

import type { MissedPolicy, OverrunPolicy } from '../../src/domain/schedule.ts'
import { type Boundary, type Fault, HOUR, type Item, TYPICAL_VISITS, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'

/** A command that a user gives to the kernel. */
export interface KernelCommandAction extends Item, When {
  readonly kind: 'kernel_command'
  readonly command: 'pause' | 'resume' | 'cycle now'
}

/** A user edits STATE.md. */
export interface StateEdit extends Item, When {
  readonly kind: 'edit'
  /** Edit just before the nth replacement of a file. */
  readonly duringReplace?: number
}

export interface KernelPlan {
  /** No kernel runs permanently: users run single cycles now and then. */
  readonly single: boolean
  /** The only fault: one of the first cycles lasts longer than many beats. */
  readonly late: boolean
  /** Milliseconds between beats. */
  readonly every: number
  readonly mode: 'static' | 'llm' | 'hybrid'
  readonly missed: MissedPolicy
  readonly overrun: OverrunPolicy
  readonly agents: readonly AgentPlan[]
}

export interface AgentPlan {
  readonly agent_id: string
  /** Milliseconds between beats of its own schedule. */
  readonly schedule: number | null
  readonly cooldown: number
}

export function drawKernel(seed: number): KernelPlan {
  const draw = (...keys: (string | number)[]): number => chance(seed, 'kernel', ...keys)
  const among = <T>(options: readonly [T, ...T[]], ...keys: (string | number)[]): T =>
    oneOf(seed, options, 'kernel', ...keys)
  const kind = draw('kind')
  const late = kind > 0.8
  return {
    single: kind < 0.25,
    late,
    every: late ? 20_000 : among([20_000, 60_000, 300_000], 'every'),
    mode: among(['static', 'hybrid', 'hybrid', 'llm'], 'mode'),
    missed: among(['once', 'once', 'all', 'skip', { all: 2 }], 'missed'),
    overrun: among(['skip', 'catch_up'], 'overrun'),
    agents: times(2 + integerBelow(seed, 2, 'agents'), (i) => ({
      agent_id: `agent${i}`,
      schedule: i > 0 && draw('own', i) < 0.3 ? among([30_000, 60_000], 'own', i) : null,
      cooldown: draw('rests', i) < 0.2 ? 45_000 : 0,
    })),
  }
}

export function drawKernelAction(seed: number, i: number, faultEvents: number): KernelCommandAction | StateEdit {
  const at = Math.floor(chance(seed, 'reign', i, 'at') * faultEvents * 0.9)
  if (chance(seed, 'reign', i, 'kind') < 0.5) {
    const late = chance(seed, 'reign', i, 'late') < 0.6
    return {
      id: `k${i}`,
      at,
      kind: 'edit',
      ...(late ? { duringReplace: 1 + integerBelow(seed, 30, 'reign', i, 'nth') } : {}),
    }
  }
  const command = oneOf<KernelCommandAction['command']>(
    seed,
    ['cycle now', 'cycle now', 'pause', 'resume', 'resume'],
    'reign',
    i,
    'command',
  )
  return { id: `k${i}`, at, kind: 'kernel_command', command }
}

/** Faults that hit cycles: at commits, at file writes, and at reads. */
export function drawKernelFault(seed: number, i: number, faultEvents: number): Fault {
  const draw = (name: string): number => chance(seed, 'kernel fault', i, name)
  const id = `g${i}`
  if (draw('kind') < 0.2)
    return { id, kind: 'wall', at: Math.floor(draw('at') * faultEvents), by: Math.round((draw('by') * 2 - 1) * HOUR) }
  const at = oneOf<Boundary>(seed, ['file', 'file', 'commit', 'ack', 'ack', 'read'], 'kernel fault', i, 'where')
  const nth = 1 + Math.floor(draw('nth') * TYPICAL_VISITS[at] * (at === 'file' ? 1 : 3))
  return draw('kind') < 0.3
    ? { id, kind: 'pause', at, nth, events: 10 + Math.floor(draw('events') * 90) }
    : { id, kind: 'crash', at, nth, repeats: 0 }
}

/** One dispatch of the first cycles lasts longer than many beats. */
export const drawLateDispatch = (seed: number, i: number): Fault => ({
  id: `l${i}`,
  kind: 'late',
  nth: 1 + integerBelow(seed, 2, 'late', i),
})

export const drawRivalLeader = (seed: number, i: number): Fault => ({
  id: `r${i}`,
  kind: 'rival',
  nth: 1 + integerBelow(seed, 8, 'rival', i),
})
