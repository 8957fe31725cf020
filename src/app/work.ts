/** The plugins that do the work: hands, the engine, the queue. */

import { tmpdir } from 'node:os'
import { systemClock } from '../adapters/clock.ts'
import { workspaceEnvs } from '../adapters/envs/envs.ts'
import type { Sandbox } from '../adapters/envs/sandbox/sandbox.ts'
import { programAt } from '../adapters/machine.ts'
import { builtinTools, type Launching, memoryTools, namedTools, webTools } from '../adapters/tools/tools.ts'
import { namedBehaviours } from '../behaviours/behaviours.ts'
import { planner } from '../behaviours/planner.ts'
import { solo } from '../behaviours/solo.ts'
import { unattended } from '../behaviours/unattended.ts'
import type { Context } from '../commands/command.ts'
import { type Config, capsOf, environment } from '../config.ts'
import { dayIn } from '../domain/day.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import type { Budget } from '../domain/task.ts'
import type { Signals } from '../engine/advance.ts'
import { Breaker } from '../engine/chain.ts'
import type { Engine } from '../engine/run.ts'
import { autonomous, INSISTENCE } from '../kernel/autonomy.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome, type Reins, tellRein } from '../kernel/drain.ts'
import { MEMORY_KINDS } from '../memory/kinds.ts'
import type { Behaviour, Critic } from '../ports/behaviour.ts'
import type { Egress } from '../ports/egress.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook } from '../ports/hook.ts'
import type { MemoryKind } from '../ports/memory.ts'
import type { Parser } from '../ports/parser.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import { READ_SKILL } from '../ports/skills.ts'
import { type AnyTool, TOOL_NAME } from '../ports/tool.ts'
import { PARSERS } from '../prompt/protocols/protocols.ts'
import { policyOf } from './policy.ts'
import { sandboxFor } from './sandbox.ts'
import type { Registry } from './services.ts'

/** What a run is made with, beyond what is built in. */
export interface Parts {
  readonly tools?: readonly AnyTool[]
  readonly critics?: readonly Critic[]
  readonly gates?: readonly Gate[]
  readonly behaviours?: readonly Behaviour[]
  readonly hooks?: readonly Hook[]
  readonly parsers?: readonly Parser[]
  readonly memories?: readonly MemoryKind[]
}

export function hands(parts: Parts): Plugin {
  return definePlugin({
    name: 'hands',
    needs: ['clock', 'home', 'config', 'store', 'egress'],
    provides: ['envs', 'sandbox', 'tools', 'critics', 'gates', 'behaviours', 'hooks', 'parsers', 'memories'],
    setup(host) {
      const service = host.get('config')
      const { config } = service.loaded
      const clock = host.get('clock')
      const egress = host.get('egress')
      const { root, calls, sandbox: folder } = host.get('home')
      const env = environment()
      // A container has none, whatever is allowed.
      const hasNetwork = (): boolean =>
        config.sandbox_image === null && service.loaded.config.policy.allow_hosts.length > 0
      const toAllowed = (socket: string) => egress.proxy(egress.isListed, socket)
      const wayOut = () => (hasNetwork() ? toAllowed : undefined)
      // Processes go by the machine's own clock.
      const sandbox = sandboxFor(config, { folder, hidden: [root], env, clock: systemClock, wayOut })
      const boxed = config.sandbox_image === null ? 'sandbox' : 'container'
      const shell = { where: sandbox ? boxed : 'machine', hasNetwork } as const
      const named = namedTools(launchingOf(egress, env))
      const own = [...builtinTools(shell), ...memoryTools(host.get('store')), ...webTools(egress), ...named]
      const tools = registry('tools', [...own, ...(parts.tools ?? [])], TOOL_NAME)
      const exec = execIn(sandbox)
      const offered = (): string[] => offeredIn(tools.all, service.loaded.config, exec.isOn())
      host.provide('envs', workspaceEnvs({ callsDir: calls, clock, env, launcher: sandbox?.launcher }))
      host.provide('sandbox', exec)
      host.provide('tools', tools)
      host.provide('critics', registry('critics', parts.critics ?? []))
      host.provide('gates', registry('gates', parts.gates ?? []))
      const alone = unattended(
        () => offered().filter((name) => name !== 'ask_user'),
        autonomous({ ...INSISTENCE, max_attempts: config.kernel.max_attempts }),
      )
      host.provide('behaviours', registry('behaviours', [solo(offered), planner, alone, ...(parts.behaviours ?? [])]))
      host.provide('hooks', registry('hooks', parts.hooks ?? []))
      host.provide('parsers', registry('parsers', [...PARSERS, ...(parts.parsers ?? [])]))
      host.provide('memories', registry('memories', [...MEMORY_KINDS, ...(parts.memories ?? [])]))
    },
  })
}

/** Offered to agents that name it, and not to all: few need it, and its words are in every request. */
const isByName = (tool: string): boolean => tool === 'browser'

const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Contract: undefined where there is no Chromium. It is told nothing of our environment but where programs are. */
function launchingOf(egress: Egress, env: ReturnType<typeof environment>): Launching | undefined {
  const { CHROMIUM, PATH = '', LANG = 'C.UTF-8' } = env
  const chromium =
    CHROMIUM || CHROMIUMS.map((name) => programAt(name, `${PATH}:/usr/bin`)).find((at) => at !== undefined)
  return chromium === undefined || chromium === ''
    ? undefined
    : { egress, chromium, env: { PATH, LANG, HOME: tmpdir() }, isRoot: process.getuid?.() === 0 }
}

/** How tools of servers are reached. */
const MCP_TOOLS = ['tool_search', 'tool_call']

/** Those that every agent has, unless it is limited to some. */
function offeredIn(tools: ReadonlyMap<string, AnyTool>, config: Config, exec: boolean): string[] {
  const served = Object.keys(config.mcp_servers).length > 0
  return [...tools.values()]
    .filter(({ lazy }) => !lazy)
    .map(({ name }) => name)
    .filter((name) => !isByName(name) && name !== READ_SKILL && (!COMMANDS.includes(name) || exec))
    .filter((name) => served || !MCP_TOOLS.includes(name))
}

export function registry<T extends { readonly name: string }>(
  kind: string,
  first: readonly T[],
  names = /./,
): Registry<T> {
  const all = new Map<string, T>()
  const replaceable = new Set<string>()
  const put = (item: T): void => {
    // In its place: the order of tools is the order in every prompt.
    if (replaceable.has(item.name)) all.set(item.name, item)
    else add(item)
    replaceable.add(item.name)
  }
  const add = (...items: readonly T[]): void => {
    for (const item of items) {
      if (!names.test(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `${kind} cannot have such a name`,
          got: JSON.stringify(item.name),
          expected: String(names),
        })
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `two ${kind} have one name`,
          got: item.name,
          fix: 'rename one',
        })
      all.set(item.name, item)
    }
  }
  add(...first)
  return { all, add, put }
}

/** Tools that run commands of the machine. */
const COMMANDS: readonly string[] = ['bash', 'git']

/** Whether commands can be run. Where not, bash is not offered, and known all the same: it can still say what is left of a call from before. */
function execIn(sandbox: Sandbox | undefined): Services['sandbox'] {
  if (!sandbox) return { isOn: () => true, trial: async () => undefined, known: () => undefined }
  return { isOn: () => sandbox.known()?.holds ?? false, trial: sandbox.trial, known: sandbox.known }
}

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
      host.get('events').listen(toHooks(hooks, log))
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
        parsers: host.get('parsers').all,
        memories: host.get('memories').all,
        critics: () => [...critics.values()],
        gates: () => [...gates.values()],
        hooks: () => [...hooks.values()],
        sink: host.get('events').sink,
        secrets: host.get('secrets'),
        skills: host.get('skills'),
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
function toHooks(hooks: ReadonlyMap<string, Hook>, log: Services['log']): Parameters<Context['listen']>[0] {
  const told = async (hook: Hook, event: Event): Promise<void> => {
    try {
      await hook.on_event?.(event)
    } catch (thrown) {
      log.write('warn', 'hook failed', {
        hook: hook.name,
        moment: 'on_event',
        message: asTirelessError(thrown).message,
      })
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
    needs: ['engine', 'bell', 'config', 'log', 'sandbox'],
    provides: ['queue'],
    setup(host) {
      const most = (): number => host.get('config').loaded.config.kernel.max_concurrent
      const { trial } = host.get('sandbox')
      const made = queueOf(host.get('engine'), host.get('bell'), host.get('log'), most, stoppable(signals), trial)
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}

/** Signals from outside, and a way to be asked from inside. */
function stoppable(given: Signals): { readonly signals: Signals; stop(): void } {
  const own = new AbortController()
  return { signals: { ...given, drain: AbortSignal.any([given.drain, own.signal]) }, stop: () => own.abort() }
}

/** Draining, and the worker's epoch, which begins with the first drain: looking at a home changes nothing in it. */
function queueOf(
  engine: Engine,
  bell: Doorbell,
  log: Services['log'],
  maxConcurrent: () => number,
  { signals, stop }: { readonly signals: Signals; stop(): void },
  /** What has to be known before any work begins. */
  known: () => Promise<unknown>,
): Services['queue'] & { leave(): Promise<void> } {
  let kernel: Promise<Kernel> | undefined
  let whole = 0
  let damage: readonly string[] = []
  let own: number | undefined
  const reins: Reins = new Map()
  const joined = async (): Promise<Kernel> => {
    const [{ epoch, lost }] = await Promise.all([joinHome(engine, `process ${process.pid}`), known()])
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
      ...{ engine, bell, epoch, reins },
      // As it is now: the configuration may change.
      get maxConcurrent() {
        return maxConcurrent()
      },
    }
  }
  return {
    signals,
    stop,
    damage: () => damage,
    draining: () => whole > 0,
    epoch: () => own,
    tellRun: (dispatchId, what) => tellRein(reins, dispatchId, what),
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
      if (kernel) await leaveHome(await kernel)
    },
  }
}
