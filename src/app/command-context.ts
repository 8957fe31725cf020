/** Builds the context of commands from the app's services. */

import { createAgentWorkspacePreparer, createWorkspacePreparer } from '../adapters/envs/choose-workspace.ts'
import { listKeptCalls, removeKeptCall } from '../adapters/envs/host/kept-calls.ts'
import { openAuditSeal } from '../adapters/stores/sqlite/audit-seal.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import { OFFLINE_NOTICE } from '../commands/lib/model-state.ts'
import type { Config } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import { replayRun } from '../engine/replay/replay.ts'
import { pendingEditNotes } from '../kernel/notify/pending-edit-notes.ts'
import { isOfflineModel, type ModelChoice } from '../ports/model.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { Store } from '../ports/store.ts'
import { createClosedHomeContext } from './closed-home-context.ts'
import { checkHealth, lostCommits, sandboxProblems } from './health.ts'

export function createCommandContext(host: PluginHost): CommandContext {
  const config = host.get('config')
  const { kernel } = config.loaded.config
  const paths = host.get('home')
  const queue = host.get('queue')
  const models = host.get('models')
  const engine = host.get('engine')
  const documents = host.get('documents')
  const sandbox = host.get('sandbox')
  const mcp = host.get('mcp')
  const { redact } = host.get('secrets')
  const prepare = createWorkspacePreparer(paths.root, paths.workspaces, sandbox.git)
  const prepareFor = createAgentWorkspacePreparer(paths.root, prepare)
  const workspaceOf = (agentId: string): string | null =>
    config.roster.all().find(({ agent }) => agent.agent_id === agentId)?.agent.workspace ?? null
  const context: CommandContext = {
    ...createClosedHomeContext(paths, config.read, host.get('clock'), queue.signals, models),
    ...queue,
    store: host.get('store'),
    documents,
    ids: host.get('ids'),
    wakeSignal: host.get('bell'),
    redact,
    redactKnownSecrets: host.get('secrets').hide,
    secrets: host.get('secrets').keeper,
    skills: host.get('skills'),
    listen: host.get('events').listen,
    kernelId: kernel.id,
    agents: () => ['default', ...config.roster.all().map(({ agent }) => agent.agent_id)],
    agentDirectory: config.roster,
    settings: () => config.loaded.config.kernel,
    timeLimit: () => engine.budget.ms,
    prepareWorkspace: (sessionId, wanted) =>
      typeof wanted === 'object' ? prepareFor(sessionId, workspaceOf(wanted.agent)) : prepare(sessionId, wanted),
    startNotices: async () => [
      ...(await lostCommits(host.get('store'))),
      ...sandbox.swept,
      ...modelNotices(config.loaded.config, await models.choice(), await isUnused(host.get('store'))),
      ...pendingEditNotes(await documents.waiting()).map(({ text }) => text),
    ],
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
    models,
    mcp,
    kernel: host.get('kernel'),
    notifier: host.get('notifier'),
    channels: host.get('channels').all,
    budgetLimits: engine.budgetLimits,
    policy: engine.policy,
    changeConfig: config.change,
    breaker: engine.breaker,
    defaultModel: () => models.get().id,
    replay: (dispatch, past, records) => replayRun(host.get('engine'), dispatch, past, records),
    snapshots: engine.snapshots,
    serveHttp: (how) => host.get('server').serve(context, how),
    auditSeal: openAuditSeal({ keyFile: paths.auditKey, headFile: paths.auditHead }),
    callFolders: {
      list: () => listKeptCalls(paths.calls),
      remove: (call) => removeKeptCall(paths.calls, call),
    },
    health: () => checkHealth(host),
  }
  return context
}

/** The offline model is announced on the first run only; later `status` and `models list` name it. */
function modelNotices(config: Config, { id, why }: ModelChoice, isFirst: boolean): string[] {
  if (isOfflineModel(id)) return isFirst ? [OFFLINE_NOTICE] : []
  return config.models.default === null ? [`Using model ${id} (${why}).`] : []
}

/** True if nothing has ever been enqueued in this home. */
async function isUnused(store: Store): Promise<boolean> {
  return Object.values(await store.counts()).every((count) => count === 0)
}
