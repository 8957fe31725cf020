/** What really happened outside: effects that nobody can take back, and answers that were paid for. */

import type { Effect } from '../../src/domain/effect.ts'
import { CLEAN_LABEL, type Label } from '../../src/domain/label.ts'
import type { ToolName } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { World } from './world.ts'

/** The effects that the tools have, whatever a variant makes them declare. */
export const EFFECTS: Readonly<Record<ToolName, Effect>> = {
  look: { recovery: 'pure', reach: 'none' },
  put: { recovery: 'idempotent', reach: 'private' },
  book: { recovery: 'reconcilable', reach: 'third_party' },
  edit: { recovery: 'reconcilable', reach: 'workspace' },
  shell: { recovery: 'once', reach: 'workspace' },
  post: { recovery: 'once', reach: 'third_party' },
  pay: { recovery: 'once', reach: 'third_party' },
}

/** What they say that their results are worth. The others say nothing. */
export const RESULT_LABELS: Readonly<Partial<Record<ToolName, Label>>> = {
  look: CLEAN_LABEL,
  put: CLEAN_LABEL,
  edit: CLEAN_LABEL,
  pay: { trust: 'trusted', private: true },
}

export interface EffectOccurrence {
  readonly tool: ToolName
  readonly key: string
  readonly args: string
  /** Which attempt's intent was on disk. */
  readonly attempt: number
  /** By a process that another one had taken over from: a fence cannot hold its hand back. */
  readonly stale: boolean
}

export class GroundTruth {
  readonly #world: World
  readonly #happened = new Map<string, EffectOccurrence[]>()
  /** Calls that the provider counts. */
  paid = 0
  /** What it charges for them, in millionths of a dollar. */
  charged = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Returns what happened now, and what had happened under this key before. */
  happen(
    proc: SimProcess,
    tool: ToolName,
    key: string,
    args: string,
  ): [now: EffectOccurrence, before: readonly EffectOccurrence[]] {
    const call = this.#world.mirror.byId.get(sessionIdOf(key))?.calls.get(key)
    const occurrence = { tool, key, args, attempt: call?.attempts ?? 0, stale: proc.superseded }
    const before = this.of(key)
    if (EFFECTS[tool].recovery !== 'pure') this.#happened.set(key, [...before, occurrence])
    return [occurrence, before]
  }

  has(key: string): boolean {
    return this.#happened.has(key)
  }

  of(key: string): readonly EffectOccurrence[] {
    return this.#happened.get(key) ?? []
  }

  all(): readonly EffectOccurrence[] {
    return [...this.#happened.values()].flat()
  }
}

/** From the key of a call, or of an unknown outcome, to its session. */
export const sessionIdOf = (key: string): string => key.split('.')[0] ?? ''
/** From the id of an unknown outcome to the key of its call. */
export const callKeyOf = (unknown: string): string => unknown.split('.').slice(0, 3).join('.')
