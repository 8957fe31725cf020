/**
 * Runs the sources of a home: starts each one that a resident listens to, restarts it later each time if it breaks, and
 * publishes its events.
 * Must not know: what a source watches, what listeners do with an observation.
 * Invariants: a broken source harms no other one; an event counts as published only when it is on disk; a source that
 * outruns its listeners waits (back-pressure), it never drops an event.
 */

import { asTirelessError } from '../../domain/error.ts'
import { untilAborted, withDeadline } from '../../ports/deadline.ts'
import { runAsOwner } from '../../ports/fault-owner.ts'
import type { OpenConnection, Source, SourceState, Sources } from '../../ports/source.ts'
import { NO_EVENTS_YET, type PublisherDeps, SourcePublisher, unavailable } from './source-publisher.ts'

export interface SourceEntry {
  readonly source: Source
  /** Changes whenever the configuration of the source does. */
  readonly fingerprint: string
}

interface SupervisorDeps extends PublisherDeps {
  /** Whether another process on a shared store runs the sources. */
  isElsewhere(): boolean
  /** The current sources, by name. */
  entries(): ReadonlyMap<string, SourceEntry>
  log(level: 'info' | 'warn', event: string, details: Readonly<Record<string, string | number>>): void
}

/** The first restart comes after this time; then the wait doubles, up to the longest. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 5 * 60_000
/** A source that ran this long counts as healthy: its next failure is its first. */
const HEALTHY_MS = 60_000
/** How long a source may take to stop. */
const STOP_MS = 5000

const ELSEWHERE = 'the process that leads the kernel runs it'
const UNHEARD = 'no resident lists it in `sources`'

interface Running {
  readonly fingerprint: string
  readonly publisher: SourcePublisher
  readonly stop: AbortController
  done: Promise<void>
}

export class SourceSupervisor implements Sources {
  readonly #deps: SupervisorDeps
  readonly #running = new Map<string, Running>()
  /** Sources that stop, by name: their successor starts after them. */
  readonly #stopping = new Map<string, Promise<void>>()
  #signal: AbortSignal | undefined

  constructor(deps: SupervisorDeps) {
    this.#deps = deps
  }

  list(): readonly SourceState[] {
    return [...this.#deps.entries()]
      .map(([name, { source }]) => {
        const running = this.#running.get(name)?.publisher
        const listeners = this.#deps.listeners(name)
        if (running) return { ...running.state(), listeners }
        const isUnheard = this.#signal !== undefined && listeners.length === 0
        const why = isUnheard ? UNHEARD : this.#deps.isElsewhere() ? ELSEWHERE : null
        const state = isUnheard ? ('waiting' as const) : ('stopped' as const)
        return { ...NO_EVENTS_YET, name, type: source.type, listeners, state, why }
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.refresh()
    await untilAborted(signal)
    const all = [...this.#running.values()].map(({ done }) => done)
    await withDeadline({ clock: this.#deps.clock, ms: STOP_MS }, () =>
      Promise.all([...all, ...this.#stopping.values()]),
    )
    this.#running.clear()
    this.#signal = undefined
  }

  refresh(): void {
    if (!this.#signal || this.#signal.aborted) return
    const wanted = this.#deps.entries()
    for (const [name, running] of this.#running)
      if (wanted.get(name)?.fingerprint !== running.fingerprint || this.#deps.listeners(name).length === 0)
        this.#stop(name, running)
    for (const [name, entry] of wanted)
      if (!this.#running.has(name) && this.#deps.listeners(name).length > 0) this.#start(name, entry, this.#signal)
  }

  find(name: string, kind: 'receive' | 'connect'): Pick<Source, 'mostBytes'> | undefined {
    const source = this.#deps.entries().get(name)?.source
    return source?.[kind] ? source : undefined
  }

  async receive(...[name, request]: Parameters<Sources['receive']>): Promise<{ readonly duplicate: boolean }> {
    return this.#named(name).receive(request)
  }

  async connect(...[name, request]: Parameters<Sources['connect']>): Promise<OpenConnection> {
    return this.#named(name).connect(request)
  }

  #named(name: string): SourcePublisher {
    const publisher = this.#running.get(name)?.publisher
    if (publisher) return publisher
    const isHeard = this.#deps.listeners(name).length > 0
    const entry = this.#deps.entries().get(name)
    // A request may come to any process; what it says is stored for the residents.
    if (entry && isHeard && this.#deps.isElsewhere())
      return new SourcePublisher(entry.source, this.#deps, new AbortController().signal)
    throw unavailable(isHeard ? 'this source does not run now' : 'no resident listens to this source')
  }

  #stop(name: string, running: Running): void {
    this.#running.delete(name)
    running.stop.abort()
    const done = running.done.finally(() => {
      if (this.#stopping.get(name) === done) this.#stopping.delete(name)
    })
    this.#stopping.set(name, done)
  }

  #start(name: string, { source, fingerprint }: SourceEntry, until: AbortSignal): void {
    const stop = new AbortController()
    const signal = AbortSignal.any([until, stop.signal])
    const publisher = new SourcePublisher(source, this.#deps, signal)
    const before = this.#stopping.get(name) ?? Promise.resolve()
    const running: Running = { fingerprint, publisher, stop, done: Promise.resolve() }
    running.done = before.then(() => this.#supervise(source, publisher, signal))
    this.#running.set(name, running)
  }

  /** Contract: resolves when the source has ended; never rejects. */
  async #supervise(source: Source, publisher: SourcePublisher, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let failures = 0
    while (!signal.aborted) {
      const startedAt = clock.monotonic()
      publisher.setState('running')
      try {
        await runAsOwner({ who: `source ${source.name}` }, () => source.run(publisher, signal))
        if (!signal.aborted) publisher.setState('ended')
        return
      } catch (thrown) {
        if (signal.aborted) return
        failures = clock.monotonic() - startedAt >= HEALTHY_MS ? 1 : failures + 1
        const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
        const message = this.#deps.redact(asTirelessError(thrown).message)
        publisher.setState('failed', `${message}; next attempt in ${Math.ceil(wait / 1000)} s`)
        log('warn', 'source failed', { source: source.name, message, retry_in_ms: wait })
        await clock.sleep(wait, signal)
      }
    }
  }
}
