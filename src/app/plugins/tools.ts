/** Plugin `tools`: environments and sandbox of commands, the tools, and the other registries of a run. */

import { rmSync } from 'node:fs'
import { removeLeftCopies } from '../../adapters/envs/copies/throw-away-copy.ts'
import { createWorkspaceEnvs } from '../../adapters/envs/envs.ts'
import { gitWithoutSandbox } from '../../adapters/envs/git.ts'
import { type CommandLimits, createCommandLimits } from '../../adapters/envs/host/resource-limits.ts'
import { cleanUpAfterCrash } from '../../adapters/envs/sandbox/clean-up-after-crash.ts'
import { makeCommandHome } from '../../adapters/envs/sandbox/launch-bubblewrap.ts'
import { createSandbox, type Sandbox } from '../../adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { findProgram } from '../../adapters/system/machine.ts'
import { todoTools } from '../../adapters/tools/todos/todo-tools.ts'
import {
  builtinTools,
  type Launching,
  memoryTools,
  optionalTools,
  residentTools,
  searchTools,
  webTools,
} from '../../adapters/tools/tools.ts'
import type { SearchAccess } from '../../adapters/tools/web-search/providers.ts'
import { answerBehaviour } from '../../behaviours/answer.ts'
import { plannerBehaviour } from '../../behaviours/planner.ts'
import { residentBehaviour } from '../../behaviours/resident/resident.ts'
import { soloBehaviour } from '../../behaviours/solo.ts'
import { unattendedBehaviour } from '../../behaviours/unattended.ts'
import { type Config, environment, resolveApiKey, searchAddress } from '../../config.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { describeValue } from '../../domain/json.ts'
import { LABEL_OF_MACHINE, LABEL_OF_WORKSPACE } from '../../domain/label.ts'
import { MAX_DURATION_MS } from '../../domain/limits.ts'
import { PAST_TOOLS } from '../../domain/past-tools.ts'
import { RESIDENT_ACTIONS } from '../../domain/resident.ts'
import { describeTools } from '../../engine/request/toolbox.ts'
import { autonomyRules, DEFAULT_ATTEMPT_LIMITS } from '../../kernel/autonomy/autonomy.ts'
import type { Behaviour } from '../../ports/behaviour.ts'
import type { Egress } from '../../ports/egress.ts'
import { WORKSPACE_GROUPS } from '../../ports/env.ts'
import { definePlugin, type Plugin, type PluginHost, type Services } from '../../ports/plugin.ts'
import { READ_SKILL_TOOL } from '../../ports/skills.ts'
import { type AnyTool, TOOL_NAME } from '../../ports/tool.ts'
import { createConfiguredSandbox, readLimits } from '../choose-sandbox.ts'
import { withEnvKinds } from '../open-env-kind.ts'
import { createRegistry } from '../registry.ts'
import { PART_REGISTRIES, providePartRegistries, type RunParts } from '../run-parts.ts'
import { startRecordsFolder } from '../server-sandbox.ts'
import type { Registry } from '../services.ts'

export function tools(parts: RunParts): Plugin {
  let limits: CommandLimits | undefined
  return definePlugin({
    name: 'tools',
    needs: ['clock', 'home', 'storedPaths', 'config', 'store', 'egress', 'log', 'secrets'],
    provides: ['envs', 'sandbox', 'tools', 'behaviours', ...PART_REGISTRIES],
    async setup(host) {
      const config = host.get('config')
      const sandboxes = createSandboxes(host)
      limits = createCommandLimits(readLimits(config.loaded.config))
      // Cleans up before anything of the home is used: a killed command may have planted files.
      const swept = await removeLeftFiles(host, sandboxes)
      const sandbox = { ...commandSandbox(sandboxes), swept, limits, servers: sandboxes.servers }
      host.provide('sandbox', sandbox)
      providePartRegistries(host, parts)
      const clock = host.get('clock')
      const workspaceEnvs = createWorkspaceEnvs({
        ...{ callsDir: host.get('home').calls, clock, env: sandboxes.env },
        ...{ launcher: sandboxes.commands?.launcher, git: sandbox.git, limits },
        copiesDir: host.get('home').copies,
        findCommandHome: (root) => makeCommandHome(host.get('home').sandbox, root, host.get('storedPaths')),
      })
      host.provide('envs', withEnvKinds(workspaceEnvs, host.get('envKinds').all, clock))
      const toolRegistry = createToolRegistry(host, sandboxes, parts.tools ?? [])
      host.provide('tools', toolRegistry)
      const offered = (): string[] => offeredTools(toolRegistry.all, config.loaded.config, sandbox.isOn())
      host.provide('behaviours', createBehaviourRegistry(config.loaded.config, offered, parts.behaviours ?? []))
    },
    stop: async () => limits?.close(),
  })
}

interface Sandboxes {
  /** The sandbox of commands; undefined if the owner disabled the sandbox. */
  readonly commands: Sandbox | undefined
  /** The sandbox of MCP servers: bubblewrap, even if commands run in containers. */
  readonly servers: Sandbox | undefined
  readonly commandsIn: 'machine' | 'sandbox' | 'container'
  readonly env: ReturnType<typeof environment>
}

function createSandboxes(host: PluginHost): Sandboxes {
  const { config } = host.get('config').loaded
  const { root, sandbox: folder } = host.get('home')
  const env = environment()
  // Processes follow real time, so the sandbox uses the system clock, not the injected one.
  const options = { folder, hidden: [root], env, clock: systemClock, paths: host.get('storedPaths') }
  const commands = createConfiguredSandbox(config, options)
  if (!commands) return { commands, servers: undefined, commandsIn: 'machine', env }
  return config.sandbox_image === null
    ? { commands, servers: commands, commandsIn: 'sandbox', env }
    : { commands, servers: createSandbox(options), commandsIn: 'container', env }
}

/** Contract: one line for each file that commands of an earlier process left and that was removed; logs each. */
async function removeLeftFiles(host: PluginHost, { commands }: Sandboxes): Promise<readonly string[]> {
  const home = host.get('home')
  const cleanUp = (callsDir: string): Promise<readonly string[]> =>
    cleanUpAfterCrash({
      ...{ callsDir, folder: home.sandbox, paths: host.get('storedPaths') },
      ...{ clock: systemClock, end: commands?.launcher.end },
    })
  const swept = [...(await cleanUp(home.calls)), ...(await cleanUp(startRecordsFolder(home)))]
  for (const line of swept) host.get('log').write('warn', 'file removed after a crash', { line })
  // A killed process may have left the browser's folder and copies of workspaces behind.
  rmSync(home.browser, { recursive: true, force: true })
  await removeLeftCopies(home.copies)
  return swept
}

function createToolRegistry(
  host: PluginHost,
  { commandsIn, env }: Sandboxes,
  added: readonly AnyTool[],
): Registry<AnyTool> {
  const [config, egress] = [host.get('config'), host.get('egress')]
  const hasAllowedHosts = (): boolean => config.loaded.config.policy.allow_hosts.length > 0
  // Containers have no network, whatever hosts are allowed.
  const network = commandsIn === 'sandbox' ? { egress, hasAllowedHosts } : undefined
  const builtin = [
    ...builtinTools({ where: commandsIn, ...(network && { network }) }),
    ...memoryTools(host.get('store')),
    ...webTools(egress),
    ...searchTools(egress, config.loaded.config.search === null ? undefined : () => searchAccess(host)),
    ...todoTools({
      store: host.get('store'),
      egress,
      outputLabel: commandsIn === 'machine' ? LABEL_OF_MACHINE : LABEL_OF_WORKSPACE,
    }),
    ...residentTools(),
    ...optionalTools(findChromium(egress, env, host.get('home').browser)),
  ]
  return createRegistry('tools', [...builtin, ...added], {
    names: TOOL_NAME,
    methods: ['run'],
    check: checkTool,
  })
}

/** From the current configuration. Once read, the key is redacted in all output. */
function searchAccess(host: PluginHost): SearchAccess {
  const { search } = host.get('config').loaded.config
  if (search === null) throw new TirelessError('tool_failed', 'the owner removed the web search from the configuration')
  const key = (): string | undefined => {
    const { filled, know } = host.get('secrets')
    const value = resolveApiKey(search)
    const secret = value === undefined ? undefined : filled(value)
    if (secret !== undefined) know('search.api_key', secret)
    return secret
  }
  return { provider: search.provider, address: searchAddress(search), key }
}

function createBehaviourRegistry(
  { kernel }: Config,
  offered: () => string[],
  added: readonly Behaviour[],
): Registry<Behaviour> {
  const attempts = { ...DEFAULT_ATTEMPT_LIMITS, max_attempts: kernel.max_attempts }
  const builtin = [
    soloBehaviour(offered),
    plannerBehaviour,
    answerBehaviour,
    residentBehaviour(offered),
    unattendedBehaviour(offered, autonomyRules(attempts)),
  ]
  return createRegistry('behaviours', [...builtin, ...added], { methods: ['initState', 'buildSystemPrompt'] })
}

/**
 * An invalid number would be noticed only when a call runs for ever or is retried without end; a schema that cannot be
 * shown to a model would fail every run.
 */
function checkTool(tool: AnyTool): void {
  const { name, args, effect, parameters, timeoutMs, maxRetries } = tool
  if (typeof effect !== 'function' && (typeof effect !== 'object' || effect === null))
    throw invalidTool(name, 'effect', effect, 'an effect, or a function that returns one')
  if (typeof args?.safeParse !== 'function') throw invalidTool(name, 'args', args, 'a zod schema')
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_DURATION_MS))
    throw invalidTool(name, 'timeoutMs', timeoutMs, `milliseconds above 0, at most ${MAX_DURATION_MS}`)
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= MAX_RETRIES))
    throw invalidTool(name, 'maxRetries', maxRetries, `a whole number from 0 to ${MAX_RETRIES}`)
  try {
    // Without its texts: those of built-in tools are read when a model needs them.
    const bare = { name, args, description: '', ...(parameters && { parameters }) } as AnyTool
    JSON.stringify(describeTools(new Map([[name, bare]])))
  } catch (thrown) {
    throw new TirelessError('plugin_invalid', {
      what: `invalid tool ${name}`,
      where: parameters === undefined ? 'args' : 'parameters',
      got: asTirelessError(thrown).message,
      expected: 'a schema that JSON Schema can express',
      fix: 'use text and numbers, such as z.iso.datetime() for a date, or set `parameters`',
    })
  }
}

const MAX_RETRIES = 100

const invalidTool = (tool: string, where: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('plugin_invalid', { what: `invalid tool ${tool}`, where, got: describeValue(got), expected })

/**
 * True for a tool that is offered only to agents and behaviours that list it. Few agents need the browser, the past or
 * todos, and the description of an offered tool is in every request.
 */
const OFFERED_BY_NAME: ReadonlySet<string> = new Set([
  ...['browser', 'route', 'spawn_agent', 'learn'],
  ...RESIDENT_ACTIONS,
  ...PAST_TOOLS,
])
export const isOfferedByName = (tool: string): boolean => OFFERED_BY_NAME.has(tool) || tool.startsWith('todo_')

/** The first one draws no windows, and so needs half of the time. */
const CHROMIUM_NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome', 'google-chrome-stable'],
]

/** Contract: undefined if there is no Chromium. Chromium gets only PATH and LANG of the environment. */
function findChromium(egress: Egress, env: ReturnType<typeof environment>, folder: string): Launching | undefined {
  const { CHROMIUM, PATH = '', LANG = 'C.UTF-8' } = env
  const chromium =
    CHROMIUM || CHROMIUM_NAMES.map((name) => findProgram(name, `${PATH}:/usr/bin`)).find((at) => at !== undefined)
  return chromium === undefined || chromium === ''
    ? undefined
    : { egress, chromium, folder, env: { PATH, LANG }, isRoot: process.getuid?.() === 0 }
}

/** Tools through which agents use MCP servers. */
const MCP_TOOLS = ['tool_search', 'tool_call']

/** Names of the tools that an agent gets if it does not list its own. */
function offeredTools(tools: ReadonlyMap<string, AnyTool>, config: Config, exec: boolean): string[] {
  const hasServers = Object.keys(config.mcp_servers).length > 0
  return (
    [...tools.values()]
      // A tool that works only in an env of a plugin is offered there, or by name.
      .filter(({ lazy, needs = [] }) => !lazy && needs.every((group) => WORKSPACE_GROUPS.includes(group)))
      .map(({ name }) => name)
      .filter((name) => !isOfferedByName(name) && name !== READ_SKILL_TOOL && (!COMMAND_TOOLS.includes(name) || exec))
      .filter((name) => hasServers || !MCP_TOOLS.includes(name))
  )
}

/** Tools that run commands on the machine. */
const COMMAND_TOOLS: readonly string[] = ['bash', 'git']

/** If commands cannot run, bash is not offered but stays known, because it reports on interrupted calls. */
function commandSandbox({
  commands: sandbox,
  env,
}: Sandboxes): Omit<Services['sandbox'], 'swept' | 'servers' | 'limits'> {
  if (!sandbox)
    return { isOn: () => true, trial: async () => undefined, known: () => undefined, git: gitWithoutSandbox(env) }
  const confined = async () => ((await sandbox.trial()).holds ? sandbox.launcher : undefined)
  return {
    isOn: () => sandbox.known()?.holds ?? false,
    trial: sandbox.trial,
    known: sandbox.known,
    git: { env, findLauncher: confined },
  }
}
