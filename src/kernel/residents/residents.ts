/**
 * All residents: the bus through which they get their input, and the loop that lets them look in time. An idle resident
 * takes no part in the loop.
 * Must not know: what a look does; where observations come from.
 * Invariants: an observation is on disk for all its residents, or for none; an error of one resident stops no other.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Bus, BusAction, Publication } from '../../ports/bus.ts'
import { commitOne, isSharedStore, type Op, type OpResults } from '../../ports/store.ts'
import { isPaused } from '../pause-setting.ts'
import { followChanges } from '../queue/follow-changes.ts'
import type { WakeSignal } from '../queue/wake-signal.ts'
import { checkPublication, checkSlice } from './check-publication.ts'
import { GoalTimers } from './goal-timers.ts'
import { Resident } from './resident.ts'
import type { ResidentDeps } from './resident-session.ts'
import type { ResidentSettings } from './resident-settings.ts'

interface ResidentsDeps extends ResidentDeps {
  readonly wakeSignal: WakeSignal
  /** Contract: works on these dispatches, beside other work, until the signal aborts. */
  drainLooks(ids: () => readonly string[], until: AbortSignal): Promise<void>
  /** Whether another process on a shared store runs the residents. */
  isElsewhere(): boolean
  /** Contract: the current settings; the configuration may change. */
  settings(): readonly ResidentSettings[]
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}

/** A long sleep is split, because the instants of goals are wall times and the wall clock may jump. */
const MAX_SLEEP_MS = 30_000
/** A setting that another process changes with each publication. */
const NEWS_SETTING = 'resident_news'
/** How long a resident that cannot start a look is left alone. */
const RETRY_MS = 1000

export class Residents implements Bus {
  readonly #deps: ResidentsDeps
  readonly #known = new Map<string, Resident>()
  readonly #goals: GoalTimers
  readonly #listeners = new Set<(action: BusAction) => void>()

  constructor(deps: ResidentsDeps) {
    this.#deps = deps
    this.#goals = new GoalTimers(deps.clock, (publication) => this.#deliver(publication))
  }

  async publish(publication: Publication): Promise<{ readonly duplicate: boolean }> {
    return this.#deliver(checkPublication(publication))
  }

  async #deliver(publication: Publication): Promise<{ readonly duplicate: boolean }> {
    const targets = [...new Set(publication.agents)].sort().map((agent) => this.#find(agent))
    const isElsewhere = this.#deps.isElsewhere()
    if (isElsewhere) for (const resident of targets) resident.forget()
    const news: readonly Op[] = isElsewhere ? [{ op: 'set', name: NEWS_SETTING, value: publication.id }] : []
    return inAllTurns(targets, async () => {
      const ops = await Promise.all(targets.map((resident) => resident.publishOps(publication)))
      const all = [...(publication.ops ?? []), ...ops.flat(), ...news]
      const published = await this.#commitOnce(all)
      if (published === 0) return { duplicate: true }
      for (const resident of targets) resident.notePublished(publication.id)
      this.#deps.wakeSignal.ring()
      return { duplicate: false }
    })
  }

  /** Contract: the number of new observations; 0 if the observation was published before. */
  async #commitOnce(ops: readonly Op[]): Promise<number> {
    try {
      const results = await commitOne<readonly Op[]>(this.#deps.store, ops)
      return ops.filter(({ op }, at) => op === 'publish' && !(results[at] as OpResults['publish']).duplicate).length
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      // It was heard before.
      if (code === 'conflict') return 0
      if (code === 'store_invalid') throw new TirelessError('usage', message)
      throw thrown
    }
  }

  setSlice(agents: readonly string[], name: string, value: Json): void {
    const slice = checkSlice(name, value)
    for (const resident of this.#current())
      if (agents.includes(resident.settings.agent_id)) resident.setSlice(slice.name, slice.value)
  }

  snapshot(agent: string): ReturnType<Bus['snapshot']> {
    return this.#find(agent).snapshot()
  }

  onAction(listener: (action: BusAction) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  names(): readonly string[] {
    return this.#deps.settings().map(({ agent_id }) => agent_id)
  }

  isResident(agent: string): boolean {
    return this.names().includes(agent)
  }

  /** Contract: agent ids of the residents that listen to the source. */
  listenersOf(source: string): readonly string[] {
    const { settings } = this.#deps
    return settings().flatMap(({ agent_id, sources }) => (sources.includes(source) ? [agent_id] : []))
  }

  async describe() {
    const residents = this.#current()
    if (this.#deps.isElsewhere()) for (const resident of residents) resident.forget()
    await Promise.all(residents.map((resident) => resident.load()))
    return residents.map((resident) => resident.describe())
  }

  /** Contract: lets all residents with unread input look once, now. */
  async lookNow(): Promise<void> {
    for (const resident of this.#current()) await resident.look()
  }

  /** Contract: resolves when the signal aborts; rejects only if the store has failed. */
  async run(signal: AbortSignal): Promise<void> {
    const { wakeSignal, drainLooks } = this.#deps
    const failed = new AbortController()
    const stop = AbortSignal.any([signal, failed.signal])
    let draining: Promise<void> | undefined
    // Another process may have run them before.
    if (isSharedStore(this.#deps.store)) for (const resident of this.#known.values()) resident.forget()
    const stopFollowing = this.#followNews()
    try {
      while (!stop.aborted) {
        const since = wakeSignal.ringCount()
        const isPausedNow = this.names().length > 0 && (await isPaused(this.#deps.store))
        await this.#step(isPausedNow)
        // Looks have slots of their own: the world does not wait for long tasks.
        if (!draining && this.names().length > 0) {
          draining = drainLooks(() => this.#looks(), stop)
          draining.catch((thrown) => failed.abort(thrown))
        }
        await this.#sleep(since, isPausedNow, stop)
      }
    } finally {
      stopFollowing()
    }
    await draining
  }

  /** What other processes on a shared store publish. */
  #followNews(): () => void {
    const { store, wakeSignal } = this.#deps
    let known: Json | undefined
    return followChanges(store, async () => {
      const news = await store.setting(NEWS_SETTING)
      if (known !== undefined && news !== known) {
        for (const resident of this.#current()) await resident.recount()
        wakeSignal.ring()
      }
      known = news
    })
  }

  /** Until something happens, or until the next look or reminder. */
  async #sleep(since: number, isPausedNow: boolean, stop: AbortSignal): Promise<void> {
    const { clock, wakeSignal, settings } = this.#deps
    const due = this.#current().flatMap((resident) => resident.dueAt() ?? [])
    const next = Math.min(...due, this.#goals.nextDue(settings()) ?? Number.POSITIVE_INFINITY)
    const awake = new AbortController()
    const either = AbortSignal.any([stop, awake.signal])
    const ms = isPausedNow ? RETRY_MS : Math.max(0, next - clock.monotonic())
    await Promise.race([
      wakeSignal.wait(since, either),
      ...(next === Number.POSITIVE_INFINITY ? [] : [clock.sleep(Math.min(ms, MAX_SLEEP_MS), either)]),
    ])
    awake.abort()
  }

  #looks = (): readonly string[] => this.#current().flatMap(({ lookId }) => lookId ?? [])

  /** A paused kernel starts no look; what is under way ends. */
  async #step(isPausedNow: boolean): Promise<void> {
    const { clock } = this.#deps
    if (!isPausedNow) await this.#goals.publishDue(this.#deps.settings())
    for (const resident of this.#current()) {
      await this.#guarded(resident, async () => {
        await resident.load()
        if (resident.lookId !== undefined) {
          const action = await resident.settle()
          if (action) this.#tell(action)
        }
        const due = resident.dueAt()
        if (due !== undefined && due <= clock.monotonic() && !isPausedNow) await resident.look()
      })
    }
  }

  /** One resident's trouble is its own, unless the store has failed. */
  async #guarded({ settings, postpone }: Resident, task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (code === 'store_failed') throw thrown
      this.#deps.log('error', 'resident failed', { agent_id: settings.agent_id, message })
      postpone(RETRY_MS, message)
    }
  }

  #tell(action: BusAction): void {
    for (const listener of this.#listeners) {
      try {
        listener(action)
      } catch (thrown) {
        this.#deps.log('warn', 'listener of the bus failed', { message: asTirelessError(thrown).message })
      }
    }
  }

  #find(agent: string): Resident {
    const found = this.#current().find(({ settings }) => settings.agent_id === agent)
    if (found) return found
    const ids = this.names()
    throw new TirelessError('not_found', {
      what: 'no such resident',
      got: agent,
      expected:
        ids.length === 0 ? 'an entry of `residents` in the configuration; there is none' : `one of ${ids.join(', ')}`,
    })
  }

  /** The residents of the configuration; a changed one goes on with its new settings. */
  #current(): readonly Resident[] {
    return this.#deps.settings().map((settings) => {
      const resident = this.#known.get(settings.agent_id) ?? new Resident(this.#deps, settings)
      this.#known.set(settings.agent_id, resident)
      if (resident.settings !== settings) resident.configure(settings)
      return resident
    })
  }
}

/** Contract: runs the task while it is the turn of all the residents, which are in a fixed order. */
function inAllTurns<T>([first, ...others]: readonly Resident[], task: () => Promise<T>): Promise<T> {
  return first ? first.inTurn(() => inAllTurns(others, task)) : task()
}
