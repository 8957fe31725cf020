/** Builds the context of commands from the app's services. */

import { listKeptCalls, removeKeptCall } from '../adapters/envs/host/kept-calls.ts'
import { listRootedFolder } from '../adapters/envs/host/list-folder.ts'
import { readRootedFile } from '../adapters/envs/host/read-rooted-file.ts'
import { receivedFiles } from '../adapters/envs/received-files.ts'
import { createWorkspaceFolders } from '../adapters/envs/workspace-folders.ts'
import { openAuditSeal } from '../adapters/stores/audit-seal.ts'
import { handleChatMessage, tellInterruptedCommands } from '../commands/lib/chat-commands.ts'
import type {
  AgentSetup,
  CommandContext,
  KernelState,
  OwnerSettings,
  QueueWork,
  StoredData,
} from '../commands/lib/context.ts'
import { OFFLINE_NOTICE } from '../commands/lib/model-state.ts'
import { type Config, explainConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { PeopleText } from '../domain/language.ts'
import { replayRun } from '../engine/replay/replay.ts'
import { clockNotes } from '../kernel/notify/clock-note.ts'
import { pendingEditNotes } from '../kernel/notify/pending-edit-notes.ts'
import { isOfflineModel, type ModelChoice } from '../ports/model.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'
import { isSharedStore, type Store } from '../ports/store.ts'
import { createClosedHomeContext } from './closed-home-context.ts'
import { createCommandRunner } from './command-runner.ts'
import { checkHealth, lostCommits, sandboxProblems } from './health.ts'
import { homeId } from './home-id.ts'
import { behavioursOf, knownTools } from './known-parts.ts'
import { createModelSetup } from './model-service.ts'
import { workspacePreparer } from './prepare-workspace.ts'

export function createCommandContext(host: PluginHost): CommandContext {
  const queue = host.get('queue')
  const context: CommandContext = {
    ...createClosedHomeContext(
      host.get('home'),
      host.get('config').read,
      host.get('clock'),
      queue.signals,
      host.get('models'),
    ),
    ...queue,
    ...storedData(host),
    ...queueWork(host),
    ...kernelState(host),
    ...agentSetup(host),
    ...ownerSettings(host),
    residents: host.get('residents'),
    notifier: host.get('notifier'),
    progressMessages: host.get('progressMessages'),
    channels: host.get('channels').all,
    connections: {
      stateOf: (name) => host.get('connections').stateOf(name),
      problems: () => host.get('connections').problems(),
      refresh: () => host.get('connections').refresh(),
      async run(signal) {
        await tellInterruptedCommands(context)
        await host.get('connections').run((message) => handleChatMessage(context, message), signal)
      },
    },
    sources: host.get('sources'),
    serveHttp: (how) => host.get('server').serve(context, how),
    pageAddress: () => host.get('server').address(),
    runCommand: (name, input) => createCommandRunner(context)(name, input),
  }
  return context
}

function storedData(host: PluginHost): StoredData {
  const { calls, auditKey, auditHead } = host.get('home')
  return {
    store: host.get('store'),
    documents: host.get('documents'),
    snapshots: host.get('engine').snapshots,
    workspaceFolders: createWorkspaceFolders(host.get('home')),
    clockTrust: host.get('storeClock'),
    past: host.get('past'),
    callFolders: {
      list: () => listKeptCalls(calls),
      remove: (call) => removeKeptCall(calls, call),
    },
    readWorkspaceFile: readRootedFile,
    listWorkspaceFolder: listRootedFolder,
    auditSeal: openAuditSeal({ keyFile: auditKey, headFile: auditHead }),
  }
}

/** Without the members that the service `queue` has itself. */
function queueWork(host: PluginHost): Omit<QueueWork, keyof Services['queue']> {
  const engine = host.get('engine')
  return {
    wakeSignal: host.get('bell'),
    listen: host.get('events').listen,
    prepareWorkspace: workspacePreparer(host),
    receivedFiles,
    timeLimit: () => engine.budget.ms,
    replay: (dispatch, past, records, onRequest) => replayRun(engine, dispatch, past, records, onRequest),
  }
}

function kernelState(host: PluginHost): KernelState {
  const [config, sandbox] = [host.get('config'), host.get('sandbox')]
  return {
    kernelId: config.loaded.config.kernel.id,
    homeId: isSharedStore(host.get('store')) ? homeId(host.get('home').root) : undefined,
    kernel: host.get('kernel'),
    settings: () => config.loaded.config.kernel,
    health: () => checkHealth(host),
    startNotices: () => startNotices(host),
    sandboxNotices: async () => sandboxProblems(await sandbox.trial()),
    async requireSandbox() {
      const trial = config.loaded.config.sandbox === 'required' ? await sandbox.trial() : undefined
      if (trial?.holds === false)
        throw new TirelessError('sandbox_missing', {
          what: 'the configuration requires a sandbox, and none works here',
          got: trial.why,
          fix: trial.remedy,
        })
    },
  }
}

function agentSetup(host: PluginHost): AgentSetup {
  const [{ roster }, models, engine] = [host.get('config'), host.get('models'), host.get('engine')]
  return {
    agents: () => ['default', ...roster.all().map(({ agent }) => agent.agent_id)],
    agentDirectory: roster,
    models,
    modelSetup: createModelSetup(host),
    defaultModel: () => models.get().id,
    breaker: engine.breaker,
    budgetLimits: engine.budgetLimits,
    policy: engine.policy,
    skills: host.get('skills'),
    plugins: host.get('plugins'),
    mcp: host.get('mcp'),
    tools: () => knownTools(host),
    behavioursOf: (id) => behavioursOf(host, id),
  }
}

function ownerSettings(host: PluginHost): Omit<OwnerSettings, 'runCommand'> {
  const secrets = host.get('secrets')
  return {
    changeConfig: host.get('config').change,
    configInUse: () => explainConfig(host.get('config').loaded),
    secrets: secrets.keeper,
    redact: secrets.redact,
    redactKnownSecrets: secrets.hide,
    ids: host.get('ids'),
  }
}

async function startNotices(host: PluginHost): Promise<readonly PeopleText[]> {
  const store = host.get('store')
  return [
    ...[...(await lostCommits(store)), ...host.get('sandbox').swept].map((text) => ({ text })),
    ...modelNotices(host.get('config').loaded.config, await host.get('models').choice(), await isUnused(store)),
    ...pendingEditNotes(await host.get('documents').waiting()),
    ...clockNotes(host.get('storeClock').doubt()),
  ]
}

/** The offline model is announced on the first run only; later `status` and `models list` name it. */
function modelNotices(config: Config, { id, why }: ModelChoice, isFirst: boolean): PeopleText[] {
  if (isOfflineModel(id)) return isFirst ? [OFFLINE_NOTICE] : []
  return config.models.default === null
    ? [{ text: `Using model ${id} (${why}).`, zh: `使用模型 ${id}（${why}）。` }]
    : []
}

/** True if nothing has ever been enqueued in this home. */
async function isUnused(store: Store): Promise<boolean> {
  return Object.values(await store.counts()).every((count) => count === 0)
}
