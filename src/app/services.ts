/** The services every app has, by name. */

import type { Log } from '../adapters/log.ts'
import type { Context } from '../commands/command.ts'
import type { LoadedConfig } from '../config.ts'
import type { Engine } from '../engine/run.ts'
import type { HomePaths } from '../home.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import type { Behaviour, Critic } from '../ports/behaviour.ts'
import type { Clock } from '../ports/clock.ts'
import type { Envs } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook } from '../ports/hook.ts'
import type { Ids } from '../ports/ids.ts'
import type { MemoryKind } from '../ports/memory.ts'
import type { Models } from '../ports/model.ts'
import type { Parser } from '../ports/parser.ts'
import type { Sink } from '../ports/sink.ts'
import type { Store } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'

/** A list that plugins add to in their set-up. */
export interface Registry<T> {
  add(...items: readonly T[]): void
  readonly all: ReadonlyMap<string, T>
}

declare module '../ports/plugin.ts' {
  interface Services {
    readonly clock: Clock
    readonly ids: Ids
    readonly home: HomePaths
    readonly config: { readonly loaded: LoadedConfig; reload(): LoadedConfig }
    readonly log: Pick<Log, 'write' | 'hide' | 'redact'>
    readonly store: Store
    readonly bell: Doorbell
    readonly models: Models
    readonly envs: Envs
    readonly tools: Registry<AnyTool>
    readonly critics: Registry<Critic>
    readonly gates: Registry<Gate>
    readonly behaviours: Registry<Behaviour>
    readonly hooks: Registry<Hook>
    readonly parsers: Registry<Parser>
    readonly memories: Registry<MemoryKind>
    readonly events: { readonly sink: Sink; readonly listen: Context['listen']; readonly add: (sink: Sink) => void }
    readonly engine: Engine
    readonly queue: Pick<Context, 'drain' | 'draining' | 'epoch' | 'signals' | 'tellRun'> & {
      readonly damage: () => readonly string[]
    }
    readonly commands: Context
  }
}
