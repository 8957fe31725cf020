/** The kernel as a service: beats, cycles and their records. Does nothing until a command runs it. */

import { join } from 'node:path'
import { createAgentWorkspacePreparer, createWorkspacePreparer } from '../adapters/envs/choose-workspace.ts'
import { describeGitChanges, gitFingerprint } from '../adapters/envs/git-changes.ts'
import { removeRunFolders } from '../adapters/envs/remove-run-folders.ts'
import { watchFile, watchFolder } from '../adapters/system/file-watch.ts'
import { createPathWatch } from '../adapters/system/watched-paths.ts'
import { unattendedBehaviour } from '../behaviours/unattended.ts'
import type { CycleResult } from '../domain/cycle.ts'
import { languageOfAgents } from '../domain/language.ts'
import type { OwnerNote } from '../domain/owner-note.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable-row.ts'
import { autonomyRules, DEFAULT_ATTEMPT_LIMITS } from '../kernel/autonomy/autonomy.ts'
import type { CycleOutcome } from '../kernel/cycle/cycle.ts'
import { recordBoot, recordCycle, recordInterruptedCycle } from '../kernel/cycle/recorder.ts'
import { runSingleCycle } from '../kernel/cycle/single-cycle.ts'
import { healthProblems } from '../kernel/health.ts'
import { KernelLoop } from '../kernel/loop.ts'
import { pendingEditNotes } from '../kernel/notify/pending-edit-notes.ts'
import { isPaused } from '../kernel/pause-setting.ts'
import { type DrainAccess, runOnly } from '../kernel/queue/drain-only.ts'
import { dispatchManually } from '../kernel/queue/manual-dispatch.ts'
import { pruneOldSessions } from '../kernel/retention.ts'
import { beatIntervalMs, nextDueForAgent } from '../kernel/schedule/beat-timing.ts'
import type { KernelDeps, KernelSettings } from '../kernel/settings.ts'
import { iso } from '../ports/clock.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'
import { fallbackIfUnreadable, type Op, type Store } from '../ports/store.ts'
import { compileSystemPrompt } from '../prompt-compiler/sections.ts'
import { removeTraces } from '../trace/remove-traces.ts'
import { startIdleCollection } from './idle-gc.ts'
import { initDocument } from './init-document.ts'

/** Number of past cycles that health checks read. */
const HEALTH_CYCLES = 20

export function createKernelService(host: PluginHost): Services['kernel'] {
  const [clock, store, config, queue] = [host.get('clock'), host.get('store'), host.get('config'), host.get('queue')]
  const log = host.get('log')
  const settings = (): KernelSettings => {
    const { kernel: own, models } = config.loaded.config
    return { ...own, planner: { ...own.planner, model: own.planner.model ?? models.planner } }
  }
  const notifier = host.get('notifier')
  const deps = kernelDeps(host, settings)
  const update = async (cycled: CycleOutcome): Promise<readonly Op[]> => {
    await recordCycle(deps, cycled.result)
    // Not every file system reports changes, so the configuration is also checked after every cycle.
    reloadConfig()
    await pruneOld()
    const notes = [
      ...refusedKeys(deps.breaker.refusingProviders()),
      ...host.get('skills').listChanged(),
      ...host.get('mcp').notes(),
      ...pendingEditNotes(await deps.documents.waiting()),
    ]
    return notifier.noticeOps(cycled, [...(await healthNotes(cycled.result)), ...notes])
  }
  const pruneOld = async (): Promise<void> => {
    const { days } = config.loaded.config.retention
    if (days === null) return
    const pruned = await pruneOldSessions(store, clock.now() - days * 86_400_000, queue.signals.drain)
    if (pruned.length === 0) return
    log.write('info', 'old runs deleted', { runs: pruned.length, days })
    await removeTraces(host.get('home').traces, pruned)
    await removeRunFolders(host.get('home').workspaces, pruned)
    await host.get('engine').snapshots.forget(pruned)
  }
  const loop = new KernelLoop(deps, update)
  let since: number | null = null
  let cut: Promise<void> | undefined
  /** `ending`: result of the cycle that is just ending and is not stored yet. */
  const healthNotes = async (ending?: CycleResult): Promise<readonly OwnerNote[]> => {
    const { id, agents, enabled } = settings()
    if (!enabled || agents.length === 0) return []
    const now = clock.now()
    const cycles = (await store.cycles(id, { limit: HEALTH_CYCLES })).map((cycle) =>
      cycle.cycle_id === ending?.cycle_id ? { ...cycle, ended_at: iso(now), result: ending } : cycle,
    )
    const paused = await isPaused(store)
    // Missed beats before the last resume do not count.
    const resumed = Date.parse(String(await fallbackIfUnreadable(store.setting('resumed'), null)))
    const activeSince = since === null ? null : Math.max(since, Number.isNaN(resumed) ? 0 : resumed)
    return healthProblems({ cycles, now, since: activeSince, paused, beatMs: beatIntervalMs(settings(), now) })
  }
  /** Records the start of the kernel, if it has agents, and a cycle that an earlier process left unfinished. */
  const boot = async (): Promise<void> => {
    if (settings().agents.length > 0) await recordBoot(deps, initDocument(config.loaded))
    // Only before this process's first cycle: later, an unfinished cycle may be one that is still running.
    if (!cut) void logUnreadable(store, log)
    cut ??= recordInterruptedCycle(deps)
    await cut
  }
  const reloadConfig = (): void => {
    const outcome = config.refresh()
    if (outcome === 'refused') log.write('warn', 'configuration refused', { message: config.refused() })
    if (outcome !== 'taken') return
    log.write('info', 'configuration reloaded', { file: config.file })
    loop.refresh()
    void host.get('mcp').refresh()
  }
  return {
    isRunning: () => since !== null,
    nextBeatAt: () => loop.nextBeat(),
    nextBeatOf: (agentId) => nextDueForAgent(settings(), agentId, clock.now()),
    reloadSchedules: () => loop.refresh(),
    runCycleNow: () => loop.requestCycle(),
    enqueueAgents: (agents, prompt, metadata) => dispatchManually(deps, agents, prompt, metadata),
    async runFirstCycle() {
      const { id, enabled, agents } = settings()
      const enabledAgents = agents.filter((agent) => agent.enabled).map(({ agent_id }) => agent_id)
      const idle = !enabled || enabledAgents.length === 0 || (await isPaused(store))
      if (idle || (await store.cycles(id, { limit: 1 })).length > 0) return undefined
      return loop.requestCycle({ name: 'first', agents: enabledAgents })
    },
    async runOneCycle(signal) {
      await boot()
      return runSingleCycle(
        drainDeps(host),
        (until, planned) => loop.runOnce(until, planned),
        settings().timeout,
        signal,
      )
    },
    async catchUp(signal) {
      await boot()
      await loop.catchUp(signal)
    },
    async run(signal) {
      await boot()
      since = clock.now()
      const watchers = [watchFile(config.file, reloadConfig), watchFolder(host.get('home').agents, reloadConfig)]
      startIdleCollection(host.get('events'), store, signal)
      try {
        await loop.run(signal)
      } finally {
        for (const watcher of watchers) watcher.close()
        since = null
      }
    },
    healthProblems: async () => (await healthNotes()).map(({ text }) => text),
  }
}

/** Contract: never rejects. */
async function logUnreadable(store: Store, log: Services['log']): Promise<void> {
  const rows = await store.unreadable().catch(() => [])
  if (rows.length === 0) return
  const message = `${describeUnreadable(rows)}; do this: ${SET_ASIDE_REMEDY}`
  log.write('error', 'unreadable rows skipped', { message })
}

const refusedKeys = (providers: readonly string[]): readonly OwnerNote[] =>
  providers.map((provider) => ({
    about: `provider ${provider}`,
    text: `the provider ${provider} refuses its key; set the right one, then run tireless models test`,
    zh: `模型服务 ${provider} 拒绝了密钥：请设置正确的密钥，然后运行 tireless models test`,
  }))

function kernelDeps(host: PluginHost, settings: () => KernelSettings): KernelDeps {
  const paths = host.get('home')
  const log = host.get('log')
  const { git } = host.get('sandbox')
  const watch = createPathWatch(paths.root, {
    fingerprint: (folder) => gitFingerprint(folder, git),
    describeChanges: (folder, since) => describeGitChanges(folder, git, since),
  })
  const prepareWorkspace = createAgentWorkspacePreparer(
    paths.root,
    createWorkspacePreparer(paths.root, paths.workspaces, git),
  )
  const behaviour = unattendedBehaviour(() => [], autonomyRules(DEFAULT_ATTEMPT_LIMITS))
  return {
    store: host.get('store'),
    clock: host.get('clock'),
    ids: host.get('ids'),
    wakeSignal: host.get('bell'),
    documents: host.get('documents'),
    models: host.get('models'),
    breaker: host.get('engine').breaker,
    settings,
    watchFingerprint: (agent, watched) => watch.fingerprint([join(paths.root, 'agents', agent.agent_id), ...watched]),
    survey: (agent, since) => watch.survey(agent.watch, since),
    prepareWorkspace: async (sessionId, wanted = null) => (await prepareWorkspace(sessionId, wanted)).path,
    runDispatches: (ids, until) => runOnly(drainDeps(host), ids, until),
    hold: (ids) => host.get('queue').hold(ids),
    onCycleEnd: (result) => host.get('notifier').pingAfterCycle(result),
    systemPrompt() {
      const state = behaviour.initState('', { language: languageOfAgents(settings().agents) })
      return compileSystemPrompt(behaviour.buildSystemPrompt(state)).text
    },
    log: (level, event, details) => log.write(level, event, details),
  }
}

const drainDeps = (host: PluginHost): DrainAccess => ({
  store: host.get('store'),
  clock: host.get('clock'),
  wakeSignal: host.get('bell'),
  drain: (wanted) => host.get('queue').drain(wanted),
})
