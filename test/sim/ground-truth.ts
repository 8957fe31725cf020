/** What really happened outside the program: effects that cannot be undone, and answers that were paid for. */

import type { Effect } from '../../src/domain/effect.ts'
import { CLEAN_LABEL, type Label } from '../../src/domain/label.ts'
import type { ToolName } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { World } from './world.ts'

/** The real effects of the tools, whatever a variant makes them declare. */
export const EFFECTS: Readonly<Record<ToolName, Effect>> = {
  look: { recovery: 'pure', reach: 'none' },
  put: { recovery: 'idempotent', reach: 'private' },
  book: { recovery: 'reconcilable', reach: 'third_party' },
  edit: { recovery: 'reconcilable', reach: 'workspace' },
  shell: { recovery: 'once', reach: 'workspace' },
  post: { recovery: 'once', reach: 'third_party' },
  pay: { recovery: 'once', reach: 'third_party' },
}

/** The labels that tools declare for their results. A tool that is missing here declares none. */
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
  /** The attempt whose intent was on disk. */
  readonly attempt: number
  /** The process had already been superseded: a fence stops its writes, not its effects. */
  readonly stale: boolean
}

export class GroundTruth {
  readonly #world: World
  readonly #happened = new Map<string, EffectOccurrence[]>()
  /** Number of calls that the provider counted. */
  paid = 0
  /** What the provider charged, in millionths of a dollar. */
  charged = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Returns the effect that happens now, and those that happened before under the same key. */
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

/** Returns the session id in the key of a call or of an unknown outcome. */
export const sessionIdOf = (key: string): string => key.split('.')[0] ?? ''
/** Returns the key of the call in the id of an unknown outcome. */
export const callKeyOf = (unknown: string): string => unknown.split('.').slice(0, 3).join('.')
