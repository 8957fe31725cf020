/** The kernel as a service: beats, cycles and their records. Does nothing until a command runs it. */

import { join } from 'node:path'
import { createAgentWorkspacePreparer, createWorkspacePreparer } from '../adapters/envs/choose-workspace.ts'
import { describeGitChanges, gitFingerprint } from '../adapters/envs/git-changes.ts'
import { createWorkspaceFolders } from '../adapters/envs/workspace-folders.ts'
import { watchFile, watchFolder } from '../adapters/system/file-watch.ts'
import { createPathWatch } from '../adapters/system/watched-paths.ts'
import { unattendedBehaviour } from '../behaviours/unattended.ts'
import type { KernelControl } from '../commands/lib/context.ts'
import type { Config } from '../config.ts'
import type { CycleResult } from '../domain/cycle.ts'
import { asTirelessError } from '../domain/error.ts'
import { languageOfAgents } from '../domain/language.ts'
import type { OwnerNote } from '../domain/owner-note.ts'
import { autonomyRules, DEFAULT_ATTEMPT_LIMITS } from '../kernel/autonomy/autonomy.ts'
import type { CycleOutcome } from '../kernel/cycle/cycle.ts'
import { requestCycle } from '../kernel/cycle/cycle-requests.ts'
import { recordBoot, recordCycle, recordInterruptedCycle } from '../kernel/cycle/recorder.ts'
import { runSingleCycle } from '../kernel/cycle/single-cycle.ts'
import { followOthers } from '../kernel/follow-others.ts'
import { healthProblems } from '../kernel/health.ts'
import { KernelLoop } from '../kernel/loop.ts'
import { CLOCK_NEED, clockNeed, clockNotes } from '../kernel/notify/clock-note.ts'
import { pendingEditNotes } from '../kernel/notify/pending-edit-notes.ts'
import { isPaused } from '../kernel/pause-setting.ts'
import { type DrainAccess, runOnly } from '../kernel/queue/drain-only.ts'
import { watchLostHomes } from '../kernel/queue/lost-homes.ts'
import { dispatchManually } from '../kernel/queue/manual-dispatch.ts'
import { pruneOldSessions } from '../kernel/retention.ts'
import { beatIntervalMs, nextDueForAgent } from '../kernel/schedule/beat-timing.ts'
import type { KernelDeps, KernelSettings } from '../kernel/settings.ts'
import { iso } from '../ports/clock.ts'
import { untilAborted } from '../ports/deadline.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { fallbackIfUnreadable, isSharedStore, type Op } from '../ports/store.ts'
import { compileSystemPrompt } from '../prompt-compiler/sections.ts'
import { removeTraces } from '../trace/remove-traces.ts'
import { startIdleCollection } from './idle-gc.ts'
import { initDocument } from './init-document.ts'
import { logUnreadable, refusedKeys } from './kernel-notes.ts'
import { pinHere } from './pin-workspaces.ts'

/** Number of past cycles that health checks read. */
const HEALTH_CYCLES = 20

export class KernelService implements KernelControl {
  readonly #host: PluginHost
  readonly #deps: KernelDeps
  readonly #loop: KernelLoop
  /** When `run` started; null: it does not run. */
  #since: number | null = null
  #interrupted: Promise<void> | undefined
  #isClockAsked = false

  constructor(host: PluginHost) {
    this.#host = host
    this.#deps = kernelDeps(host, () => kernelSettings(host.get('config').loaded.config))
    this.#loop = new KernelLoop(this.#deps, (cycled) => this.#afterCycle(cycled))
  }

  isRunning(): boolean {
    return this.#since !== null
  }

  nextBeatAt(): number | undefined {
    return this.#loop.nextBeat()
  }

  nextBeatOf(agentId: string): number | undefined {
    return nextDueForAgent(this.#deps.settings(), agentId, this.#deps.clock.now())
  }

  reloadSchedules(): void {
    this.#loop.refresh()
  }

  runCycleNow(): Promise<CycleOutcome> {
    return this.#loop.requestCycle()
  }

  runCycleElsewhere(signal: AbortSignal): ReturnType<KernelControl['runCycleElsewhere']> {
    return requestCycle({ ...this.#deps, kernelId: this.#deps.settings().id }, signal)
  }

  enqueueAgents(...work: Parameters<KernelControl['enqueueAgents']>): ReturnType<KernelControl['enqueueAgents']> {
    return dispatchManually(this.#deps, ...work)
  }

  async runFirstCycle(): Promise<CycleOutcome | undefined> {
    const { store, settings } = this.#deps
    const { id, enabled, agents } = settings()
    const enabledAgents = agents.filter((agent) => agent.enabled).map(({ agent_id }) => agent_id)
    const idle = !enabled || enabledAgents.length === 0 || (await isPaused(store))
    if (idle || (await store.cycles(id, { limit: 1 })).length > 0) return undefined
    return this.#loop.requestCycle({ name: 'first', agents: enabledAgents })
  }

  async runOneCycle(signal: AbortSignal): Promise<CycleOutcome> {
    await this.#boot()
    const { timeout } = this.#deps.settings()
    return this.#host
      .get('leadership')
      .withinTerm(() =>
        runSingleCycle(drainDeps(this.#host), (until, planned) => this.#loop.runOnce(until, planned), timeout, signal),
      )
  }

  async catchUp(signal: AbortSignal): Promise<void> {
    await this.#boot()
    await this.#loop.catchUp(signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#boot()
    this.#since = this.#deps.clock.now()
    const stopFollowing = followOthers(this.#deps, this.#loop)
    const over = new AbortController()
    const either = AbortSignal.any([signal, over.signal])
    try {
      const looping = this.#loop.run(either).finally(() => over.abort())
      await Promise.all([looping, this.#watchHomes(either).finally(() => over.abort())])
    } finally {
      stopFollowing()
      this.#since = null
      // If it runs again, another process may have led meanwhile, and left a cycle unfinished.
      this.#interrupted = undefined
    }
  }

  /** Contract: until the signal aborts. */
  async #watchHomes(signal: AbortSignal): Promise<void> {
    const [config, notifier] = [this.#host.get('config'), this.#host.get('notifier')]
    if (!this.#host.get('queue').isShared()) return untilAborted(signal)
    await watchLostHomes(
      {
        ...{ store: this.#deps.store, clock: this.#deps.clock, log: this.#deps.log },
        everyMs: config.loaded.config.kernel.lease,
        graceMs: () => config.loaded.config.workspaces.grace,
        language: () => notifier.language(),
        tell: (id, text) => notifier.post({ id, to: null, text, urgent: false }),
      },
      signal,
    )
  }

  async watchConfig(signal: AbortSignal): Promise<void> {
    const [config, home] = [this.#host.get('config'), this.#host.get('home')]
    const reload = (): void => this.#reloadConfig()
    const watchers = [watchFile(config.file, reload), watchFolder(home.agents, reload)]
    startIdleCollection(this.#host.get('events'), this.#deps.store, signal)
    await untilAborted(signal)
    for (const watcher of watchers) watcher.close()
  }

  isElsewhere(): boolean {
    return this.#host.get('queue').isShared() && !this.#host.get('leadership').isLeading
  }

  async asLeader(work: () => Promise<void>): Promise<void> {
    const [queue, leadership] = [this.#host.get('queue'), this.#host.get('leadership')]
    try {
      await queue.requireLead()
    } catch (thrown) {
      if (asTirelessError(thrown).code === 'conflict') return
      throw thrown
    }
    // A program that goes on would otherwise keep the lead from a kernel that starts later.
    await leadership.withinTerm(work).finally(() => queue.releaseLead())
  }

  async healthProblems(): Promise<readonly string[]> {
    return (await healthNotes(this.#deps, this.#since)).map(({ text }) => text)
  }

  /** Records the start of the kernel, if it has agents, and a cycle that an earlier process left unfinished. */
  async #boot(): Promise<void> {
    const { settings, store } = this.#deps
    await this.#host.get('queue').requireLead()
    if (settings().agents.length > 0) await recordBoot(this.#deps, initDocument(this.#host.get('config').loaded))
    // Only before this process's first cycle: later, an unfinished cycle may be one that is still running.
    if (!this.#interrupted) void logUnreadable(store, this.#host.get('log'))
    this.#interrupted ??= recordInterruptedCycle(this.#deps)
    // What failed is tried again at the next start.
    this.#interrupted.catch(() => (this.#interrupted = undefined))
    await this.#interrupted
  }

  /** Contract: the writes by which the owner is told about the cycle, its health and what needs attention. */
  async #afterCycle(cycled: CycleOutcome): Promise<readonly Op[]> {
    await recordCycle(this.#deps, cycled.result)
    // Not every file system reports changes, so the configuration is also checked after every cycle.
    this.#reloadConfig()
    await deleteOldRuns(this.#host)
    await this.#askAboutClock()
    const notes = [
      ...refusedKeys(this.#deps.breaker.refusingProviders()),
      ...this.#host.get('connections').problems(),
      ...this.#host.get('skills').listChanged(),
      ...this.#host.get('mcp').notes(),
      ...pendingEditNotes(await this.#deps.documents.waiting()),
      ...clockNotes(this.#host.get('storeClock').doubt()),
    ]
    const health = await healthNotes(this.#deps, this.#since, cycled.result)
    return this.#host.get('notifier').noticeOps(cycled, [...health, ...notes])
  }

  /** Once while the clock is in doubt; an answer is not asked for again. */
  async #askAboutClock(): Promise<void> {
    const [note] = clockNotes(this.#host.get('storeClock').doubt())
    const needs = this.#host.get('needs')
    if (note !== undefined && !this.#isClockAsked) await needs.open(clockNeed(note))
    else if (note === undefined && (await this.#deps.store.openNeed(CLOCK_NEED))) await needs.withdraw(CLOCK_NEED)
    this.#isClockAsked = note !== undefined
  }

  #reloadConfig(): void {
    const [config, log] = [this.#host.get('config'), this.#host.get('log')]
    const outcome = config.refresh()
    if (outcome === 'refused') log.write('warn', 'configuration refused', { message: config.refused() })
    if (outcome !== 'taken') return
    log.write('info', 'configuration reloaded', { file: config.file })
    this.#loop.refresh()
    void this.#host.get('mcp').refresh()
    this.#host.get('sources').refresh()
    this.#host.get('connections').refresh()
  }
}

function kernelSettings({ kernel, models }: Config): KernelSettings {
  return { ...kernel, planner: { ...kernel.planner, model: kernel.planner.model ?? models.planner } }
}

async function deleteOldRuns(host: PluginHost): Promise<void> {
  const folders = createWorkspaceFolders(host.get('home'))
  for (const { workspace, bytes } of await folders.deleteExpired(host.get('clock').borneOut()))
    host.get('log').write('info', 'removed workspace deleted', { workspace, bytes })
  const { days } = host.get('config').loaded.config.retention
  if (days === null) return
  const before = host.get('storeClock').cutoff(days)
  if (before === undefined) return
  const pruned = await pruneOldSessions(host.get('store'), before, host.get('queue').signals.drain)
  if (pruned.length === 0) return
  host.get('log').write('info', 'old runs deleted', { runs: pruned.length, days })
  await removeTraces(host.get('home').traces, pruned)
  const { snapshots } = host.get('engine')
  await folders.deleteOfRuns(await Promise.all(pruned.map((run) => withMerge(snapshots, run))))
  await snapshots.forget(pruned)
}

/** A copy of a sub-agent whose work was not taken over holds the only files of that work. */
async function withMerge(snapshots: Snapshots, run_id: string): Promise<{ run_id: string; isMerged: boolean }> {
  const isUnchanged = (await snapshots.changesOf(run_id).catch(() => undefined))?.length === 0
  return { run_id, isMerged: isUnchanged || (await snapshots.spans([`merge-${run_id}`])).length > 0 }
}

/**
 * `since`: when the kernel started to run, null if it does not. `ending`: result of the cycle that is just ending and
 * is not stored yet.
 */
async function healthNotes(
  { store, clock, settings }: KernelDeps,
  since: number | null,
  ending?: CycleResult,
): Promise<readonly OwnerNote[]> {
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

function kernelDeps(host: PluginHost, settings: () => KernelSettings): KernelDeps {
  const paths = host.get('home')
  const log = host.get('log')
  const { git } = host.get('sandbox')
  const watch = createPathWatch(paths.root, {
    fingerprint: (folder) => gitFingerprint(folder, git),
    describeChanges: (folder, since) => describeGitChanges(folder, git, since),
  })
  const prepareWorkspace = createAgentWorkspacePreparer(
    host.get('storedPaths'),
    createWorkspacePreparer(paths.root, paths.workspaces, git),
  )
  const isShared = isSharedStore(host.get('store'))
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
    noticeTarget: () => host.get('notifier').target(),
    watchFingerprint: (agent, watched) => watch.fingerprint([join(paths.root, 'agents', agent.agent_id), ...watched]),
    survey: (agent, since) => watch.survey(agent.watch, since),
    prepareWorkspace: async (sessionId, wanted = null) => (await prepareWorkspace(sessionId, wanted)).path,
    // Its path is known when a worker has claimed the session; commands and tools start in it.
    nameWorkspace: (path) => (isShared && pinHere(host)(path)?.home === null ? '.' : undefined),
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
