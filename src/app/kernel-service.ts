/** The kernel as a service: beats, cycles and their records. Does nothing until a command runs it. */

import { join } from 'node:path'
import { gitNews, gitSight } from '../adapters/envs/git-news.ts'
import { placePreparer, workspacePreparer } from '../adapters/envs/workspace.ts'
import { watchFile, watchFolder } from '../adapters/file-watch.ts'
import { createWatch } from '../adapters/watch.ts'
import { unattended } from '../behaviours/unattended.ts'
import type { CycleResult } from '../domain/cycle.ts'
import { languageOfAll } from '../domain/language.ts'
import type { Note } from '../domain/note.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable.ts'
import { autonomous, INSISTENCE } from '../kernel/autonomy.ts'
import { dispatchByHand } from '../kernel/by-hand.ts'
import type { Cycled } from '../kernel/cycle.ts'
import { ailments } from '../kernel/health.ts'
import { Loop } from '../kernel/loop.ts'
import { isPaused } from '../kernel/paused.ts'
import { recordBoot, recordCut, recordCycle } from '../kernel/recorder.ts'
import { prune } from '../kernel/retention.ts'
import { beatMs, nextFor } from '../kernel/rhythm.ts'
import type { Settings, Surroundings } from '../kernel/settings.ts'
import { runSingleCycle } from '../kernel/single-cycle.ts'
import { waitingNotes } from '../kernel/waiting-documents.ts'
import { type Hands, workOn } from '../kernel/work-on.ts'
import { iso } from '../ports/clock.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'
import { type Op, type Store, unlessUnreadable } from '../ports/store.ts'
import { compileSystem } from '../prompt/sections.ts'
import { removeTraces } from '../trace/remove.ts'
import { restBetweenWork } from './idle-gc.ts'
import { initDocument } from './init-document.ts'

/** Number of past cycles that health checks read. */
const HEALTH_CYCLES = 20

export function createKernelService(host: PluginHost): Services['kernel'] {
  const [clock, store, config, queue] = [host.get('clock'), host.get('store'), host.get('config'), host.get('queue')]
  const log = host.get('log')
  const settings = (): Settings => {
    const { kernel: own, models } = config.loaded.config
    return { ...own, planner: { ...own.planner, model: own.planner.model ?? models.planner } }
  }
  const notifier = host.get('notifier')
  const deps = kernelDeps(host, settings)
  const update = async (cycled: Cycled): Promise<readonly Op[]> => {
    await recordCycle(deps, cycled.result)
    // Not every file system reports changes, so check after every cycle as well.
    reloadConfig()
    await pruneOld()
    const notes = [
      ...refusedKeys(deps.breaker.refusing()),
      ...host.get('skills').changes(),
      ...host.get('mcp').notes(),
      ...waitingNotes(await deps.documents.waiting()),
    ]
    return notifier.news(cycled, [...(await healthNotes(cycled.result)), ...notes])
  }
  const pruneOld = async (): Promise<void> => {
    const { days } = config.loaded.config.retention
    if (days === null) return
    const pruned = await prune(store, clock.now() - days * 86_400_000, queue.signals.drain)
    if (pruned.length === 0) return
    log.write('info', 'old runs deleted', { runs: pruned.length, days })
    await removeTraces(host.get('home').traces, pruned)
    await host.get('engine').snapshots.forget(pruned)
  }
  const loop = new Loop(deps, update)
  let since: number | null = null
  let cut: Promise<void> | undefined
  /** `ending`: result of a cycle that is not stored yet. */
  const healthNotes = async (ending?: CycleResult): Promise<readonly Note[]> => {
    const { id, agents, enabled } = settings()
    if (!enabled || agents.length === 0) return []
    const now = clock.now()
    const cycles = (await store.cycles(id, { limit: HEALTH_CYCLES })).map((cycle) =>
      cycle.cycle_id === ending?.cycle_id ? { ...cycle, ended_at: iso(now), result: ending } : cycle,
    )
    const paused = await isPaused(store)
    // Missed beats before the last resume do not count.
    const resumed = Date.parse(String(await unlessUnreadable(store.setting('resumed'), null)))
    const activeSince = since === null ? null : Math.max(since, Number.isNaN(resumed) ? 0 : resumed)
    return ailments({ cycles, now, since: activeSince, paused, beatMs: beatMs(settings(), now) })
  }
  /** Without agents there is nothing to record. */
  const boot = async (): Promise<void> => {
    if (settings().agents.length > 0) await recordBoot(deps, initDocument(config.loaded))
    // Only before this process's first cycle: later, unfinished cycles are running ones.
    if (!cut) void logUnreadable(store, log)
    cut ??= recordCut(deps)
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
    running: () => since !== null,
    nextBeat: () => loop.nextBeat(),
    nextFor: (agentId) => nextFor(settings(), agentId, clock.now()),
    refresh: () => loop.refresh(),
    now: () => loop.now(),
    byHand: (agents, prompt, metadata) => dispatchByHand(deps, agents, prompt, metadata),
    async first() {
      const { id, enabled, agents } = settings()
      const enabledAgents = agents.filter((agent) => agent.enabled).map(({ agent_id }) => agent_id)
      const idle = !enabled || enabledAgents.length === 0 || (await isPaused(store))
      if (idle || (await store.cycles(id, { limit: 1 })).length > 0) return undefined
      return loop.now({ name: 'first', agents: enabledAgents })
    },
    async once(signal) {
      await boot()
      return runSingleCycle(drainDeps(host), (until, planned) => loop.once(until, planned), settings().timeout, signal)
    },
    async catchUp(signal) {
      await boot()
      await loop.catchUp(signal)
    },
    async run(signal) {
      await boot()
      since = clock.now()
      const watchers = [watchFile(config.file, reloadConfig), watchFolder(host.get('home').agents, reloadConfig)]
      restBetweenWork(host.get('events'), store, signal)
      try {
        await loop.run(signal)
      } finally {
        for (const watcher of watchers) watcher.close()
        since = null
      }
    },
    ailments: async () => (await healthNotes()).map(({ text }) => text),
  }
}

/** Contract: never rejects. */
async function logUnreadable(store: Store, log: Services['log']): Promise<void> {
  const rows = await store.unreadable().catch(() => [])
  if (rows.length === 0) return
  const message = `${describeUnreadable(rows)}; do this: ${SET_ASIDE_REMEDY}`
  log.write('error', 'unreadable rows skipped', { message })
}

const refusedKeys = (providers: readonly string[]): readonly Note[] =>
  providers.map((provider) => ({
    about: `provider ${provider}`,
    text: `the provider ${provider} refuses its key; set the right one, then run tireless models test`,
    zh: `模型服务 ${provider} 拒绝了密钥：请设置正确的密钥，然后运行 tireless models test`,
  }))

function kernelDeps(host: PluginHost, settings: () => Settings): Surroundings {
  const paths = host.get('home')
  const log = host.get('log')
  const { git } = host.get('sandbox')
  const watch = createWatch(paths.root, {
    sight: (folder) => gitSight(folder, git),
    news: (folder, since) => gitNews(folder, git, since),
  })
  const prepareWorkspace = placePreparer(paths.root, workspacePreparer(paths.root, paths.workspaces, git))
  const behaviour = unattended(() => [], autonomous(INSISTENCE))
  return {
    store: host.get('store'),
    clock: host.get('clock'),
    ids: host.get('ids'),
    bell: host.get('bell'),
    documents: host.get('documents'),
    models: host.get('models'),
    breaker: host.get('engine').breaker,
    settings,
    look: (agent, watched) => watch.look([join(paths.root, 'agents', agent.agent_id), ...watched]),
    survey: (agent, since) => watch.survey(agent.watch, since),
    workspace: async (sessionId, wanted = null) => (await prepareWorkspace(sessionId, wanted)).path,
    work: (ids, until) => workOn(drainDeps(host), ids, until),
    hold: (ids) => host.get('queue').hold(ids),
    ended: (result) => host.get('notifier').ended(result),
    systemPrompt() {
      const state = behaviour.initState('', { language: languageOfAll(settings().agents) })
      return compileSystem(behaviour.buildSystemPrompt(state)).text
    },
    log: (level, event, details) => log.write(level, event, details),
  }
}

const drainDeps = (host: PluginHost): Hands => ({
  store: host.get('store'),
  clock: host.get('clock'),
  bell: host.get('bell'),
  drain: (wanted) => host.get('queue').drain(wanted),
})
