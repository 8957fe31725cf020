/** The plugins that do the work: the engine, the queue. */

import { join } from 'node:path'
import { systemClock } from '../adapters/clock.ts'
import { workspaceSnapshots } from '../adapters/envs/snapshots/snapshots.ts'
import { namedBehaviours } from '../behaviours/behaviours.ts'
import type { Context } from '../commands/command.ts'
import { type Config, capsOf } from '../config.ts'
import { dayIn } from '../domain/day.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Budget } from '../domain/task.ts'
import type { Signals } from '../engine/advance.ts'
import { Breaker } from '../engine/chain.ts'
import type { Engine } from '../engine/run.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome, type Reins, tellRein } from '../kernel/drain.ts'
import { createHeldDispatches } from '../kernel/held.ts'
import type { Clock } from '../ports/clock.ts'
import type { Hook, HookFailure } from '../ports/hook.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import { policyOf } from './owner-policy.ts'
import { meeting } from './plugins/mcp.ts'
import { isByName } from './plugins/tools.ts'

export function engine(): Plugin {
  return definePlugin({
    name: 'engine',
    needs: [
      ...(['clock', 'ids', 'home', 'config', 'store', 'models', 'envs', 'events', 'log'] as const),
      ...(['secrets', 'skills', 'mcp'] as const),
      ...(['tools', 'critics', 'gates', 'behaviours', 'hooks', 'parsers', 'memories'] as const),
    ],
    provides: ['engine'],
    setup(host) {
      const config = host.get('config')
      const dayOf = dayIn(config.loaded.config.kernel.timezone)
      const tools = host.get('tools').all
      const critics = host.get('critics').all
      const gates = host.get('gates').all
      const hooks = host.get('hooks').all
      const log = host.get('log')
      const hookFailed = (failure: HookFailure): void => log.write('warn', 'hook failed', { ...failure })
      host.get('events').watch(toHooks(hooks, hookFailed))
      host.provide('engine', {
        store: host.get('store'),
        clock: host.get('clock'),
        ids: host.get('ids'),
        models: host.get('models'),
        breaker: new Breaker((provider, asked) => log.write('error', 'key refused', { provider, model: asked })),
        envs: host.get('envs'),
        // Looked at when a run begins: plugins may add to all of them until everything is set up.
        behaviours: namedBehaviours(() => host.get('behaviours').all, 'solo', {
          of: (agentId) => config.roster.all().find(({ agent }) => agent.agent_id === agentId)?.agent.tools ?? null,
          knows: (tool) => tools.has(tool),
          isByName: (tool) => isByName(tool) || (tools.get(tool)?.lazy ?? false),
        }),
        tools,
        meet: meeting(host),
        parsers: host.get('parsers').all,
        memories: host.get('memories').all,
        critics: () => [...critics.values()],
        gates: () => [...gates.values()],
        hooks: () => [...hooks.values()],
        hookFailed,
        sink: host.get('events').sink,
        secrets: host.get('secrets'),
        skills: host.get('skills'),
        snapshots: workspaceSnapshots({
          folder: join(host.get('home').versions, 'workspaces.git'),
          // Files have the machine's own time.
          clock: systemClock,
          warn: (message, about) => log.write('warn', 'no snapshot of the workspace', { message, ...about }),
        }),
        get budget() {
          return perDispatch(config.loaded.config)
        },
        purse: { caps: () => capsOf(config.loaded.config.budget), dayOf },
        policy: policyOf(config, host.get('home').workspaces),
        patience: { inARow: 3, inAll: 10 },
      })
    },
  })
}

function perDispatch({ budget, models }: Config): Budget {
  return {
    steps: budget.per_dispatch_calls,
    ms: budget.per_dispatch_minutes === null ? null : budget.per_dispatch_minutes * 60_000,
    tokens: budget.per_dispatch_tokens,
    usd: budget.per_dispatch_usd,
    context: models.max_input,
  }
}

/** Every event to the hooks that want it, without waiting for them. One that breaks is in the log: an event of it would be told to it again. */
function toHooks(
  hooks: ReadonlyMap<string, Hook>,
  failed: (failure: HookFailure) => void,
): Parameters<Context['listen']>[0] {
  const told = async (hook: Hook, event: Event): Promise<void> => {
    try {
      await hook.on_event?.(deepFreeze(event))
    } catch (thrown) {
      failed({ hook: hook.name, moment: 'on_event', message: asTirelessError(thrown).message })
    }
  }
  return (progress) => {
    if (progress.kind === 'event') for (const hook of hooks.values()) void told(hook, progress.event)
  }
}

export function queue(signals: Signals): Plugin {
  let leave = async (): Promise<void> => {}
  return definePlugin({
    name: 'queue',
    needs: ['clock', 'engine', 'bell', 'config', 'log', 'sandbox', 'documents'],
    provides: ['queue'],
    setup(host) {
      const most = (): number => host.get('config').loaded.config.kernel.max_concurrent
      // What a run is told was done has to be so in the files, too, before any run goes on.
      const ready = () => Promise.all([host.get('sandbox').trial(), host.get('documents').catchUp()])
      const made = queueOf(
        host.get('engine'),
        host.get('bell'),
        host.get('log'),
        most,
        stoppable(signals, host.get('clock')),
        ready,
      )
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}

interface Stoppable {
  readonly signals: Signals
  stop(withinMs: number): void
  over(): void
}

/** Signals from outside, and a way to be asked from inside: steps end by themselves first, and are interrupted at the deadline. */
function stoppable(given: Signals, clock: Clock): Stoppable {
  const [drain, abort, over] = [new AbortController(), new AbortController(), new AbortController()]
  const signals = {
    drain: AbortSignal.any([given.drain, drain.signal]),
    abort: AbortSignal.any([given.abort, abort.signal]),
  }
  return {
    signals,
    stop(withinMs) {
      drain.abort()
      if (withinMs === 0) abort.abort()
      else void clock.sleep(withinMs, over.signal).then(() => over.signal.aborted || abort.abort())
    },
    // Nothing is left to be interrupted; the timer must not keep the process.
    over: () => over.abort(),
  }
}

/** Draining, and the worker's epoch, which begins with the first drain: looking at a home changes nothing in it. */
function queueOf(
  engine: Engine,
  bell: Doorbell,
  log: Services['log'],
  maxConcurrent: () => number,
  { signals, stop, over }: Stoppable,
  /** What has to be done before any work begins. */
  ready: () => Promise<unknown>,
): Services['queue'] & { leave(): Promise<void> } {
  let kernel: Promise<Kernel> | undefined
  let whole = 0
  let damage: readonly string[] = []
  let own: number | undefined
  const reins: Reins = new Map()
  const held = createHeldDispatches(bell)
  const joined = async (): Promise<Kernel> => {
    const [{ epoch, lost }] = await Promise.all([joinHome(engine, `process ${process.pid}`), ready()])
    own = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    // After an unclean stop, in the background: nothing waits for it.
    if (lost > 0)
      void engine.store.verify().then(
        (found) => {
          damage = found
          for (const message of found) log.write('error', 'database damaged', { message })
        },
        () => {},
      )
    return {
      ...{ engine, bell, epoch, reins, held },
      // As it is now: the configuration may change.
      get maxConcurrent() {
        return maxConcurrent()
      },
    }
  }
  return {
    signals,
    stop(withinMs) {
      log.write('info', 'asked to stop', { within_ms: withinMs })
      stop(withinMs)
    },
    damage: () => damage,
    draining: () => whole > 0,
    epoch: () => own,
    tellRun: (dispatchId, what) => tellRein(reins, dispatchId, what),
    hold: held.hold,
    async drain(wanted) {
      kernel ??= joined()
      const share = wanted.only === undefined ? 1 : 0
      whole += share
      try {
        await drain(await kernel, { ...wanted, signals })
      } finally {
        whole -= share
        // Whoever left its work to this drain has to look again.
        bell.ring()
      }
    },
    async leave() {
      over()
      if (kernel) await leaveHome(await kernel)
    },
  }
}
