/**
 * Opens the envs of a user's own kinds: the kind's groups of operations, besides those of the workspace. What the kind
 * returns is checked here; a kind that hangs is given up.
 */

import { BUILTIN_ENV_KINDS } from '../adapters/envs/envs.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { describeValue, ignoreRejections } from '../domain/json.ts'
import type { Clock } from '../ports/clock.ts'
import { withDeadline } from '../ports/deadline.ts'
import {
  type Env,
  type EnvKind,
  type Envs,
  type Health,
  type OpenedEnv,
  type OpsGroups,
  provideOps,
  type WorkspaceAccess,
} from '../ports/env.ts'

/** Time limits of a kind's methods. */
const OPEN_MS = 60_000
const HEALTH_MS = 10_000
const CLOSE_MS = 10_000

/** Contract: opens a kind of the map by its name, and all others with `builtin`. */
export function withEnvKinds(builtin: Envs, kinds: ReadonlyMap<string, EnvKind>, clock: Clock): Envs {
  return {
    toolsOf: (name) => kinds.get(name)?.tools ?? [],
    async open(workspace, name, access = 'write') {
      const kind = name === undefined ? undefined : kinds.get(name)
      if (kind) return new EnvKindOpener(kind, clock).open(builtin, workspace, access)
      if (name !== undefined && !BUILTIN_ENV_KINDS.includes(name))
        throw new TirelessError('not_found', {
          what: 'unknown env kind',
          got: name,
          expected: `one of ${[...BUILTIN_ENV_KINDS, ...kinds.keys()].join(', ')}`,
        })
      return builtin.open(workspace, name, access)
    },
  }
}

class EnvKindOpener {
  readonly #kind: EnvKind
  readonly #clock: Clock

  constructor(kind: EnvKind, clock: Clock) {
    this.#kind = kind
    this.#clock = clock
  }

  async open(builtin: Envs, workspace: string, access: WorkspaceAccess): Promise<Env> {
    const base = this.#kind.isolated ? undefined : await builtin.open(workspace, undefined, access)
    try {
      const opened = await withDeadline(
        { clock: this.#clock, ms: OPEN_MS },
        (signal) => this.#call('open', () => this.#kind.open({ workspace: base?.root ?? workspace, access, signal })),
        () => this.#late('open', OPEN_MS),
      )
      return this.#combine(base, this.#check(opened), workspace)
    } catch (thrown) {
      await base?.close()
      throw thrown
    }
  }

  #combine(base: Env | undefined, own: OpenedEnv, workspace: string): Env {
    const groups = [...(base?.groups ?? [])].map((group) => [group, base?.getOps(group)])
    const { isTerminal } = own
    return {
      ...(base ?? { root: workspace }),
      kind: this.#kind.name,
      ...provideOps({ ...Object.fromEntries(groups), ...own.ops }),
      health: () => this.#health(base, own),
      ...(isTerminal && { isTerminal: (state) => isTerminal.call(own, state) }),
      close: () => this.#close(base, own),
    }
  }

  #check(opened: unknown): OpenedEnv {
    const env = opened as Partial<OpenedEnv> | null | undefined
    const ops: unknown = typeof env === 'object' ? env?.ops : undefined
    const isWhole =
      isObject(ops) &&
      Object.values(ops).every(isObject) &&
      (['health', 'isTerminal', 'close'] as const).every((name) =>
        ['function', 'undefined'].includes(typeof env?.[name]),
      )
    if (isWhole) return env as OpenedEnv
    ignoreRejections(opened)
    throw new TirelessError('plugin_invalid', {
      what: `env ${this.#kind.name} returned an invalid value from open()`,
      got: describeValue(opened),
      expected: '{ ops: { group: { … } }, health?(), isTerminal?(), close?() }',
    })
  }

  /** Contract: like `OpenedEnv.health`, unchecked; the engine checks it. */
  async #health(base: Env | undefined, own: OpenedEnv): Promise<Health> {
    const health = (await base?.health()) ?? { ok: true }
    if (!health.ok || !own.health) return health
    return withDeadline(
      { clock: this.#clock, ms: HEALTH_MS },
      () => this.#call('health', () => own.health?.() as Health),
      () => this.#late('health', HEALTH_MS),
    )
  }

  async #close(base: Env | undefined, own: OpenedEnv): Promise<void> {
    try {
      await withDeadline({ clock: this.#clock, ms: CLOSE_MS }, async () => own.close?.())
    } finally {
      await base?.close()
    }
  }

  /** Names the env in an error that has no code. */
  async #call<T>(method: string, call: () => T | Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (thrown instanceof TirelessError && !code.startsWith('store_')) throw thrown
      throw new TirelessError('plugin_failed', `env ${this.#kind.name} failed in ${method}(): ${message}`, {
        cause: thrown,
      })
    }
  }

  #late(method: string, ms: number): never {
    const who = `env ${this.#kind.name}`
    throw new TirelessError('plugin_failed', `${who} did not return from ${method}() within ${ms / 1000} seconds`)
  }
}

const isObject = (value: unknown): value is Partial<OpsGroups> =>
  typeof value === 'object' && value !== null && !(value instanceof Promise) && !Array.isArray(value)
