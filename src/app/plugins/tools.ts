/** The plugin of the hands: what commands run in, the tools, and whatever else plugins may add to a run. */

import { rmSync } from 'node:fs'
import { systemClock } from '../../adapters/clock.ts'
import { workspaceEnvs } from '../../adapters/envs/envs.ts'
import { unconfined } from '../../adapters/envs/git.ts'
import { type CommandLimits, commandLimits } from '../../adapters/envs/host/resource-limits.ts'
import { sweepAfterCrash } from '../../adapters/envs/sandbox/crash-sweep.ts'
import { createSandbox, type Sandbox } from '../../adapters/envs/sandbox/sandbox.ts'
import { programAt } from '../../adapters/machine.ts'
import { builtinTools, type Launching, memoryTools, namedTools, webTools } from '../../adapters/tools/tools.ts'
import { planner } from '../../behaviours/planner.ts'
import { solo } from '../../behaviours/solo.ts'
import { unattended } from '../../behaviours/unattended.ts'
import { type Config, environment } from '../../config.ts'
import { TirelessError } from '../../domain/error.ts'
import { describeValue } from '../../domain/json.ts'
import { MAX_DURATION_MS } from '../../domain/limits.ts'
import { autonomous, INSISTENCE } from '../../kernel/autonomy.ts'
import { MEMORY_KINDS } from '../../memory/kinds.ts'
import type { Behaviour, Critic } from '../../ports/behaviour.ts'
import type { Egress } from '../../ports/egress.ts'
import type { Gate } from '../../ports/gate.ts'
import type { Hook } from '../../ports/hook.ts'
import type { MemoryKind } from '../../ports/memory.ts'
import type { Parser } from '../../ports/parser.ts'
import { definePlugin, type Plugin, type Services } from '../../ports/plugin.ts'
import { READ_SKILL } from '../../ports/skills.ts'
import { type AnyTool, TOOL_NAME } from '../../ports/tool.ts'
import { PARSERS } from '../../prompt/protocols/protocols.ts'
import { limitsIn, sandboxFor } from '../choose-sandbox.ts'
import { registry } from '../registry.ts'
import { startsIn } from '../server-sandbox.ts'

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
  let limits: CommandLimits | undefined
  return definePlugin({
    name: 'hands',
    needs: ['clock', 'home', 'config', 'store', 'egress', 'log'],
    provides: ['envs', 'sandbox', 'tools', 'critics', 'gates', 'behaviours', 'hooks', 'parsers', 'memories'],
    async setup(host) {
      const service = host.get('config')
      const { config } = service.loaded
      const clock = host.get('clock')
      const egress = host.get('egress')
      const { root, calls, sandbox: folder, browser } = host.get('home')
      const env = environment()
      // Processes go by the machine's own clock.
      const boxing = { folder, hidden: [root], env, clock: systemClock }
      const sandbox = sandboxFor(config, boxing)
      const inBubblewrap = sandbox && createSandbox(boxing)
      limits = commandLimits(limitsIn(config))
      // Before anything of the home is used: what a killed command has planted still lies there.
      const end = sandbox?.launcher.end
      const sweepAll = (callsDir: string) => sweepAfterCrash({ callsDir, folder, clock: systemClock, end })
      const swept = [...(await sweepAll(calls)), ...(await sweepAll(startsIn(host.get('home'))))]
      for (const line of swept) host.get('log').write('warn', 'swept after a crash', { line })
      const boxed = config.sandbox_image === null ? 'sandbox' : 'container'
      const hasAllowedHosts = (): boolean => service.loaded.config.policy.allow_hosts.length > 0
      // A container has none, whatever is allowed.
      const network = sandbox && boxed === 'sandbox' ? { egress, hasAllowedHosts } : undefined
      const shell = { where: sandbox ? boxed : 'machine', ...(network && { network }) } as const
      // Whoever was killed has left them.
      rmSync(browser, { recursive: true, force: true })
      const named = namedTools(launchingOf(egress, env, browser))
      const own = [...builtinTools(shell), ...memoryTools(host.get('store')), ...webTools(egress), ...named]
      const tools = registry('tools', [...own, ...(parts.tools ?? [])], { names: TOOL_NAME, check: checkTool })
      const exec = { ...execIn(sandbox, env), swept, servers: boxed === 'sandbox' ? sandbox : inBubblewrap }
      const offered = (): string[] => offeredIn(tools.all, service.loaded.config, exec.isOn())
      host.provide(
        'envs',
        workspaceEnvs({ callsDir: calls, clock, env, launcher: sandbox?.launcher, git: exec.git, limits }),
      )
      host.provide('sandbox', exec)
      host.provide('tools', tools)
      host.provide('critics', registry('critics', parts.critics ?? []))
      host.provide('gates', registry('gates', parts.gates ?? []))
      const alone = unattended(offered, autonomous({ ...INSISTENCE, max_attempts: config.kernel.max_attempts }))
      host.provide('behaviours', registry('behaviours', [solo(offered), planner, alone, ...(parts.behaviours ?? [])]))
      host.provide('hooks', registry('hooks', parts.hooks ?? []))
      host.provide('parsers', registry('parsers', [...PARSERS, ...(parts.parsers ?? [])]))
      host.provide('memories', registry('memories', [...MEMORY_KINDS, ...(parts.memories ?? [])]))
    },
    stop: async () => limits?.close(),
  })
}

/** A number that is none would be found out only by the call that it lets run for ever, or again and again. */
function checkTool({ name, timeoutMs, maxRetries }: AnyTool): void {
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_DURATION_MS))
    throw unusable(name, 'timeoutMs', timeoutMs, `milliseconds above 0, at most ${MAX_DURATION_MS}`)
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= MOST_RETRIES))
    throw unusable(name, 'maxRetries', maxRetries, `a whole number from 0 to ${MOST_RETRIES}`)
}

const MOST_RETRIES = 100

const unusable = (tool: string, where: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('plugin_invalid', { what: `tool ${tool} cannot be used`, where, got: describeValue(got), expected })

/** Offered to agents that name it, and not to all: few need it, and its words are in every request. */
export const isByName = (tool: string): boolean => tool === 'browser'

const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Contract: undefined where there is no Chromium. It is told nothing of our environment but where programs are. */
function launchingOf(egress: Egress, env: ReturnType<typeof environment>, folder: string): Launching | undefined {
  const { CHROMIUM, PATH = '', LANG = 'C.UTF-8' } = env
  const chromium =
    CHROMIUM || CHROMIUMS.map((name) => programAt(name, `${PATH}:/usr/bin`)).find((at) => at !== undefined)
  return chromium === undefined || chromium === ''
    ? undefined
    : { egress, chromium, folder, env: { PATH, LANG }, isRoot: process.getuid?.() === 0 }
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

/** Tools that run commands of the machine. */
const COMMANDS: readonly string[] = ['bash', 'git']

/** Whether commands can be run. Where not, bash is not offered, and known all the same: it can still say what is left of a call from before. */
function execIn(
  sandbox: Sandbox | undefined,
  env: ReturnType<typeof environment>,
): Omit<Services['sandbox'], 'swept' | 'servers'> {
  if (!sandbox) return { isOn: () => true, trial: async () => undefined, known: () => undefined, git: unconfined(env) }
  const confined = async () => ((await sandbox.trial()).holds ? sandbox.launcher : undefined)
  return {
    isOn: () => sandbox.known()?.holds ?? false,
    trial: sandbox.trial,
    known: sandbox.known,
    git: { env, confined },
  }
}
