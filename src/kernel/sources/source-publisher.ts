/**
 * Publishes the events of one source, and counts them.
 * Must not know: what the source watches.
 * Invariants: an event is answered when it is on disk for every listener; its mark and the proof of its sender are in
 * the same commit; text from outside is untrusted unless the source says otherwise (I12).
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { describeValue, type Json } from '../../domain/json.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { Bus } from '../../ports/bus.ts'
import type { IncomingRequest } from '../../ports/channel.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type {
  OpenConnection,
  Source,
  SourceConnection,
  SourceEvent,
  SourceSink,
  SourceState,
} from '../../ports/source.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'

export interface PublisherDeps {
  readonly clock: Clock
  readonly ids: Ids
  readonly store: Store
  readonly bus: Pick<Bus, 'publish' | 'setSlice'>
  /** The residents that listen to a source. */
  listeners(source: string): readonly string[]
  redact(text: string): string
}

/** While a listener has too many unread observations, the next attempt comes after this time, doubled each time. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export const NO_EVENTS_YET = { why: null, last_event_at: null, published: 0, duplicates: 0, refused: 0 }

export const unavailable = (what: string): TirelessError =>
  new TirelessError('source_unavailable', { what, fix: 'its owner can see why: tireless sources list' })

/** Errors of one event; the source itself is sound. */
const REFUSALS = ['usage', 'unauthorized', 'forbidden']

export class SourcePublisher implements SourceSink {
  readonly #source: Source
  readonly #deps: PublisherDeps
  readonly #signal: AbortSignal
  #state: Omit<SourceState, 'listeners'>

  constructor(source: Source, deps: PublisherDeps, signal: AbortSignal) {
    this.#source = source
    this.#deps = deps
    this.#signal = signal
    this.#state = { ...NO_EVENTS_YET, name: source.name, type: source.type, state: 'running' }
  }

  state(): Omit<SourceState, 'listeners'> {
    return this.#state
  }

  setState(state: SourceState['state'], why: string | null = null): void {
    this.#state = { ...this.#state, state, why }
  }

  async publish(event: SourceEvent): Promise<{ readonly duplicate: boolean; readonly refused?: string }> {
    try {
      return await this.#publishPatiently(event)
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (!REFUSALS.includes(code)) throw thrown
      this.#count('refused')
      // The source goes on, so it must not meet the same event again after a restart.
      if (event?.mark !== undefined) await this.saveMark(event.mark)
      return { duplicate: false, refused: message }
    }
  }

  setSlice(name: string, value: Json): void {
    try {
      this.#deps.bus.setSlice(this.#listeners(), name, value)
    } catch {
      this.#count('refused')
    }
  }

  mark(): Promise<Json> {
    return this.#deps.store.setting(this.#markName)
  }

  async saveMark(mark: Json): Promise<void> {
    await commitOne(this.#deps.store, [{ op: 'set', name: this.#markName, value: mark }])
  }

  /** Contract: answers at once; the sender repeats what could not be stored now. */
  async receive(request: IncomingRequest): Promise<{ readonly duplicate: boolean }> {
    return this.#counting(() => {
      const event = this.#verified(() => this.#source.receive?.(request))
      return this.#publishOnce(event)
    })
  }

  async connect(request: Omit<IncomingRequest, 'body'>): Promise<OpenConnection> {
    return this.#counting(async () => {
      const { framesPerSecond, parse, proof } = this.#verified(() => this.#source.connect?.(request))
      if (proof !== undefined) await this.#useProof(proof)
      return { framesPerSecond, closed: this.#signal, receive: (frame) => this.#receiveFrame(parse, frame) }
    })
  }

  async #receiveFrame(parse: SourceConnection['parse'], frame: string): Promise<Readonly<Record<string, Json>>> {
    let id: string | undefined
    try {
      return await this.#counting(async () => {
        const event = parse(frame)
        id = event.id
        const { duplicate } = await this.#publishPatiently({ ...event, id: id ?? this.#deps.ids.next() })
        return { ...(id === undefined ? {} : { id }), ok: true, duplicate }
      })
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      return { ...(id === undefined ? {} : { id }), error: { code, message: this.#deps.redact(message) } }
    }
  }

  /** An unverified sender must not see internal errors, such as that of a missing secret. */
  #verified<T>(verify: () => T | undefined): T {
    try {
      const verified = verify()
      if (verified !== undefined) return verified
    } catch (thrown) {
      if (REFUSALS.includes(asTirelessError(thrown).code)) throw thrown
    }
    throw unavailable('this source cannot check requests now')
  }

  async #counting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      this.#count('refused')
      throw thrown
    }
  }

  async #publishPatiently(event: SourceEvent): Promise<{ readonly duplicate: boolean }> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (this.#signal.aborted) throw new TirelessError('aborted', 'the source stops')
      try {
        const published = await this.#publishOnce(event)
        if (this.#state.state === 'waiting') this.setState('running')
        return published
      } catch (thrown) {
        const { code, message } = asTirelessError(thrown)
        if (code !== 'bus_full') throw thrown
        this.setState('waiting', message)
        await this.#deps.clock.sleep(pause, this.#signal)
      }
    }
  }

  async #publishOnce(event: SourceEvent): Promise<{ readonly duplicate: boolean }> {
    const { id, observation, label = UNTRUSTED_LABEL, mark, proof } = checkId(event)
    const agents = this.#listeners()
    if (agents.length === 0) throw unavailable('no resident listens to this source')
    const { clock, bus } = this.#deps
    const ops: readonly Op[] = [
      ...(mark === undefined ? [] : [{ op: 'set', name: this.#markName, value: mark } as const]),
      ...(proof === undefined ? [] : [this.#hear(proof)]),
    ]
    const name = `${this.#source.name} ${id}`
    const { duplicate } = await bus.publish({ agents, id: name, observation, label, ops })
    // A repeated observation changes nothing, so its mark is not stored with it.
    if (duplicate && mark !== undefined) await this.saveMark(mark)
    this.#state = { ...this.#state, last_event_at: iso(clock.now()) }
    this.#count(duplicate ? 'duplicates' : 'published')
    return { duplicate }
  }

  async #useProof(proof: string): Promise<void> {
    try {
      await commitOne(this.#deps.store, [this.#hear(proof)])
    } catch (thrown) {
      if (asTirelessError(thrown).code !== 'conflict') throw thrown
      throw new TirelessError('unauthorized', {
        ...{ what: 'this signature was used before', expected: 'one signature per connection' },
        fix: 'sign the current time again; the timestamp counts seconds',
      })
    }
  }

  #hear(proof: string): Op {
    return {
      ...{ op: 'hear', channel: `source ${this.#source.name}`, message_id: proof, now: this.#deps.clock.borneOut() },
    } as const
  }

  get #markName(): string {
    return `source:${this.#source.name}`
  }

  #listeners(): readonly string[] {
    return this.#deps.listeners(this.#source.name)
  }

  #count(what: 'published' | 'duplicates' | 'refused'): void {
    this.#state = { ...this.#state, [what]: this.#state[what] + 1 }
  }
}

/** The id becomes a part of a text here; everything else is checked by the bus. */
function checkId(event: SourceEvent): SourceEvent {
  const { id } = (event ?? {}) as Partial<SourceEvent>
  if (typeof id === 'string' && id !== '') return event
  throw new TirelessError('usage', {
    ...{ what: 'the id of an event is not valid', got: describeValue(id), expected: 'text that is not empty' },
  })
}
