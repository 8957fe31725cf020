/**
 * All commands: the one place where a command is registered. Each entry loads only the command's own file, so that the
 * command line starts fast; the types of all commands come from here too.
 */

import type { z } from 'zod'
import type { Command } from './command.ts'

/** In the order of the help text. A test checks that each key is the name of the command that it loads. */
const REGISTRY = {
  init: async () => (await import('../init.ts')).init,
  run: async () => (await import('../run.ts')).run,
  chat: async () => (await import('../chat.ts')).chat,
  start: async () => (await import('../start.ts')).start,
  open: async () => (await import('../open.ts')).open,
  once: async () => (await import('../cycles.ts')).once,
  pause: async () => (await import('../cycles.ts')).pause,
  resume: async () => (await import('../cycles.ts')).resume,
  stop: async () => (await import('../cycles.ts')).stop,
  'cycle now': async () => (await import('../cycles.ts')).cycleNow,
  'cycles list': async () => (await import('../cycles.ts')).cyclesList,
  'cycles show': async () => (await import('../cycles.ts')).cyclesShow,
  'agent new': async () => (await import('../agents.ts')).agentNew,
  'agent list': async () => (await import('../agents.ts')).agentList,
  'agent show': async () => (await import('../one-agent.ts')).agentShow,
  'agent run': async () => (await import('../one-agent.ts')).agentRun,
  'agent edit': async () => (await import('../agent-edit.ts')).agentEdit,
  'agent enable': async () => (await import('../agents.ts')).agentEnable,
  'agent disable': async () => (await import('../agents.ts')).agentDisable,
  'agent delete': async () => (await import('../one-agent.ts')).agentDelete,
  enqueue: async () => (await import('../queue.ts')).enqueue,
  ask: async () => (await import('../ask.ts')).ask,
  report: async () => (await import('../report.ts')).report,
  'reports list': async () => (await import('../report.ts')).reportsList,
  send: async () => (await import('../send.ts')).send,
  'messages list': async () => (await import('../messages.ts')).messagesList,
  observe: async () => (await import('../observe.ts')).observeCommand,
  status: async () => (await import('../status.ts')).status,
  'queue list': async () => (await import('../queue-list.ts')).queueList,
  'queue show': async () => (await import('../queue.ts')).queueShow,
  'queue retry': async () => (await import('../queue.ts')).queueRetry,
  'queue prioritize': async () => (await import('../queue-prioritize.ts')).queuePrioritize,
  'queue dismiss': async () => (await import('../queue-dismiss.ts')).queueDismiss,
  'queue cancel': async () => (await import('../queue.ts')).queueCancel,
  'queue pause': async () => (await import('../queue.ts')).queuePause,
  'queue resume': async () => (await import('../queue.ts')).queueResume,
  'sessions list': async () => (await import('../sessions.ts')).sessionsList,
  'sessions show': async () => (await import('../sessions.ts')).sessionsShow,
  'sessions log': async () => (await import('../sessions.ts')).sessionsLog,
  'sessions archive': async () => (await import('../sessions.ts')).sessionsArchive,
  'schedule list': async () => (await import('../schedule.ts')).scheduleList,
  'schedule add': async () => (await import('../schedule.ts')).scheduleAdd,
  'schedule pause': async () => (await import('../schedule.ts')).schedulePause,
  'schedule resume': async () => (await import('../schedule.ts')).scheduleResume,
  'schedule run': async () => (await import('../schedule.ts')).scheduleRun,
  'schedule remove': async () => (await import('../schedule.ts')).scheduleRemove,
  simulate: async () => (await import('../simulate.ts')).simulate,
  'needs list': async () => (await import('../needs.ts')).needsList,
  'needs show': async () => (await import('../needs.ts')).needsShow,
  'needs answer': async () => (await import('../needs.ts')).needsAnswer,
  'approvals list': async () => (await import('../approvals.ts')).approvalsList,
  'approvals show': async () => (await import('../approvals.ts')).approvalsShow,
  'approvals allow': async () => (await import('../approvals.ts')).approvalsAllow,
  'approvals deny': async () => (await import('../approvals.ts')).approvalsDeny,
  'grants list': async () => (await import('../approvals.ts')).grantsList,
  'grants revoke': async () => (await import('../approvals.ts')).grantsRevoke,
  'policy show': async () => (await import('../policy.ts')).policyShow,
  'policy set': async () => (await import('../policy.ts')).policySet,
  'audit verify': async () => (await import('../audit.ts')).auditVerify,
  'todo list': async () => (await import('../todo.ts')).todoList,
  'todo show': async () => (await import('../todo.ts')).todoShow,
  'todo clear': async () => (await import('../todo.ts')).todoClear,
  'unknowns list': async () => (await import('../unknowns.ts')).unknownsList,
  'unknowns resolve': async () => (await import('../unknowns.ts')).unknownsResolve,
  'channels list': async () => (await import('../channels.ts')).channelsList,
  'channels add': async () => (await import('../channel-setup.ts')).channelsAdd,
  'channels remove': async () => (await import('../channel-setup.ts')).channelsRemove,
  'channels test': async () => (await import('../channels.ts')).channelsTest,
  'channels pair': async () => (await import('../channels.ts')).channelsPair,
  'channels unpair': async () => (await import('../channels.ts')).channelsUnpair,
  'sources list': async () => (await import('../sources.ts')).sourcesList,
  'notices list': async () => (await import('../channels.ts')).noticesList,
  'budget show': async () => (await import('../budget.ts')).budgetShow,
  'budget spend': async () => (await import('../spending.ts')).budgetSpend,
  'budget set': async () => (await import('../budget.ts')).budgetSet,
  'models list': async () => (await import('../models.ts')).modelsList,
  'models test': async () => (await import('../models.ts')).modelsTest,
  'models add': async () => (await import('../model-setup.ts')).modelsAdd,
  'models offered': async () => (await import('../model-setup.ts')).modelsOffered,
  'models set': async () => (await import('../model-setup.ts')).modelsSet,
  'models remove': async () => (await import('../model-setup.ts')).modelsRemove,
  'models use': async () => (await import('../models.ts')).modelsUse,
  'tools list': async () => (await import('../tools.ts')).toolsList,
  'skills list': async () => (await import('../skills.ts')).skillsList,
  'skills show': async () => (await import('../skills.ts')).skillsShow,
  'skills scan': async () => (await import('../skills.ts')).skillsScan,
  'skills approve': async () => (await import('../skills.ts')).skillsApprove,
  'skills revoke': async () => (await import('../skills.ts')).skillsRevoke,
  'plugins list': async () => (await import('../plugins.ts')).pluginsList,
  'plugins show': async () => (await import('../plugins.ts')).pluginsShow,
  'plugins add': async () => (await import('../plugins.ts')).pluginsAdd,
  'plugins approve': async () => (await import('../plugins.ts')).pluginsApprove,
  'plugins remove': async () => (await import('../plugins.ts')).pluginsRemove,
  'plugins new': async () => (await import('../plugins.ts')).pluginsNew,
  'secrets set': async () => (await import('../secrets.ts')).secretsSet,
  'secrets list': async () => (await import('../secrets.ts')).secretsList,
  'secrets remove': async () => (await import('../secrets.ts')).secretsRemove,
  'mcp list': async () => (await import('../mcp.ts')).mcpList,
  'mcp add': async () => (await import('../mcp-setup.ts')).mcpAdd,
  'mcp remove': async () => (await import('../mcp-setup.ts')).mcpRemove,
  'mcp test': async () => (await import('../mcp.ts')).mcpTest,
  'mcp approve': async () => (await import('../mcp.ts')).mcpApprove,
  'mcp declare': async () => (await import('../mcp-setup.ts')).mcpDeclare,
  'mcp serve': async () => (await import('../mcp.ts')).mcpServe,
  'documents list': async () => (await import('../documents.ts')).documentsList,
  'state show': async () => (await import('../state.ts')).stateShow,
  'state log': async () => (await import('../state.ts')).stateLog,
  'state diff': async () => (await import('../state.ts')).stateDiff,
  'state edit': async () => (await import('../documents.ts')).stateEdit,
  'state revert': async () => (await import('../state.ts')).stateRevert,
  'state accept': async () => (await import('../state.ts')).stateAccept,
  'state take': async () => (await import('../documents.ts')).stateTake,
  'state discard': async () => (await import('../documents.ts')).stateDiscard,
  'memory list': async () => (await import('../memory.ts')).memoryList,
  'memory show': async () => (await import('../memory.ts')).memoryShow,
  'memory search': async () => (await import('../memory.ts')).memorySearch,
  'memory restore': async () => (await import('../memory.ts')).memoryRestore,
  'memory forget': async () => (await import('../memory.ts')).memoryForget,
  'trace list': async () => (await import('../trace.ts')).traceList,
  'trace show': async () => (await import('../trace.ts')).traceShow,
  'trace export': async () => (await import('../trace.ts')).traceExport,
  'workspace list': async () => (await import('../workspace.ts')).workspaceList,
  'workspace show': async () => (await import('../workspace.ts')).workspaceShow,
  'workspace log': async () => (await import('../workspace.ts')).workspaceLog,
  'workspace diff': async () => (await import('../workspace-diff.ts')).workspaceDiff,
  'workspace remove': async () => (await import('../workspace-remove.ts')).workspaceRemove,
  'workspace files': async () => (await import('../workspace-files.ts')).workspaceFiles,
  'clock accept': async () => (await import('../clock.ts')).clockAccept,
  undo: async () => (await import('../undo.ts')).undo,
  compare: async () => (await import('../compare.ts')).compare,
  replay: async () => (await import('../replay.ts')).replay,
  'config check': async () => (await import('../config.ts')).configCheck,
  'config explain': async () => (await import('../config.ts')).configExplain,
  'config schema': async () => (await import('../config.ts')).configSchema,
  about: async () => (await import('../about.ts')).about,
  doctor: async () => (await import('../doctor.ts')).doctor,
  logs: async () => (await import('../logs.ts')).logs,
  attach: async () => (await import('../attach.ts')).attach,
  backup: async () => (await import('../backup.ts')).backup,
  'backups list': async () => (await import('../backup.ts')).backupsList,
  restore: async () => (await import('../backup.ts')).restore,
  'store move': async () => (await import('../store.ts')).storeMove,
  'service install': async () => (await import('../service.ts')).serviceInstall,
  'service uninstall': async () => (await import('../service.ts')).serviceUninstall,
  'service status': async () => (await import('../service.ts')).serviceStatus,
  upgrade: async () => (await import('../upgrade.ts')).upgrade,
  completion: async () => (await import('../completion.ts')).completion,
}

type Registry = typeof REGISTRY

export type CommandName = keyof Registry

/** Help texts of the groups, by the first word of their commands. */
export const GROUP_DESCRIPTIONS: Readonly<Record<GroupName, string>> = {
  agent: 'create, list, show, run, change and delete agents',
  approvals: 'review tool calls that wait for your approval',
  audit: 'verify the log of policy decisions',
  backups: 'list copies of the home',
  budget: 'show spending and change limits',
  channels: 'set up channels to people: add, test, pair and remove them',
  clock: 'say that the clock of this machine is right',
  config: 'check and explain the configuration',
  cycle: 'run a cycle of the kernel',
  cycles: 'list past cycles of the kernel',
  documents: 'list the documents of the kernel, such as STATE.md',
  grants: 'list and revoke lasting permissions of agents',
  mcp: 'use tools of MCP servers, or serve this home over MCP',
  memory: 'list, show, search, restore and delete what agents remember',
  messages: 'list the messages of a chat',
  models: 'list, add, test and choose models',
  needs: 'list what waits for you, and answer it',
  notices: 'list messages sent to people',
  plugins: 'add, approve, list and remove plugins; write a new one',
  policy: 'show and change what agents may do without asking',
  queue: 'list, cancel, retry, pause and prioritize dispatches',
  reports: 'list the days of which there is a report',
  schedule: 'list schedules; add, pause, run and remove your own',
  secrets: 'store secrets for the configuration and tools',
  service: 'run the kernel of this home at login',
  sessions: 'list, show and archive sessions',
  skills: 'show, scan and approve skills and AGENTS.md files',
  sources: 'list what residents hear from outside',
  state: 'show, compare, edit, revert and accept documents such as STATE.md',
  store: 'move the records of the home between its own file and PostgreSQL',
  todo: 'list, show and clear todos of sessions',
  tools: 'list what agents can be given to work with',
  trace: 'inspect and export what runs did',
  unknowns: 'decide the outcome of interrupted calls',
  workspace: 'inspect and remove the folders of agents, and what runs changed in them',
}

export type GroupName = CommandName extends infer Name
  ? Name extends `${infer First} ${string}`
    ? First
    : never
  : never

type CommandOf<Name extends CommandName> = Awaited<ReturnType<Registry[Name]>>

/** What a caller passes to the command, before defaults are filled in. */
export type CommandInput<Name extends CommandName> = z.input<CommandOf<Name>['input']>

export type CommandOutput<Name extends CommandName> = z.output<CommandOf<Name>['output']>

export const COMMAND_NAMES = Object.keys(REGISTRY) as readonly CommandName[]

const isCommandName = (name: string): name is CommandName => Object.hasOwn(REGISTRY, name)

/** Contract: the command of exactly this name, or undefined. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return isCommandName(name) ? REGISTRY[name]() : undefined
}

/** Contract: the command with the longest name that the words start with, or undefined. */
export function findCommand(words: readonly string[]): Promise<Command | undefined> {
  const names = words.map((_, i) => words.slice(0, i + 1).join(' '))
  return loadCommand(names.findLast(isCommandName) ?? '')
}

/** Contract: every command, in the order of the help text. */
export const loadCommands = (): Promise<readonly Command[]> =>
  Promise.all(COMMAND_NAMES.map((name) => REGISTRY[name]()))
