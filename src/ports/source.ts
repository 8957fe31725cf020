/** Source: turns something outside into observations. It publishes, and does nothing else (K7). */

import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'
import type { BusObservation } from './bus.ts'
import type { IncomingRequest } from './channel.ts'

export interface SourceEvent {
  /** Identifies the event within its source: a repeated id changes nothing. */
  readonly id: string
  readonly observation: BusObservation
  /** Default: untrusted, because what comes from outside may be written by anyone. */
  readonly label?: Label
  /** How far the source has come; stored in the same commit as the observation. */
  readonly mark?: Json
  /** Evidence of the sender, such as a signature, that counts once. */
  readonly proof?: string
}

export interface SourceSink {
  /**
   * Contract: resolves when the observation is on disk for every listener; a repeated id changes nothing. While a
   * listener has too many unread observations, it waits: the source must read nothing meanwhile (back-pressure).
   * `refused`: why this event cannot be stored; the source goes on with the next one. Rejects if the source must stop.
   */
  publish(event: SourceEvent): Promise<{ readonly duplicate: boolean; readonly refused?: string }>
  /**
   * Contract: replaces the latest value of a slice; in memory only, causes no look. Never throws: a value that is too
   * large or no JSON is counted as refused, and the value before it stays.
   */
  setSlice(name: string, value: Json): void
  /** Contract: the last stored mark; null at the first start. */
  mark(): Promise<Json>
  /** Contract: stores a mark without an observation; resolves when it is on disk. */
  saveMark(mark: Json): Promise<void>
}

export interface Source {
  readonly name: string
  /** The kind of source, as the configuration names it. */
  readonly type: string
  /**
   * Contract: publishes until the signal aborts, then resolves soon. Resolves earlier if nothing can come any more. A
   * rejection restarts it, later each time.
   */
  run(sink: SourceSink, signal: AbortSignal): Promise<void>
  /**
   * Contract: pure; verifies one HTTP request and returns its event. Throws `unauthorized` or `usage`; then nothing is
   * stored.
   */
  receive?(request: IncomingRequest): SourceEvent
  /** Contract: pure; verifies the request that opens a WebSocket. Throws `unauthorized` or `forbidden`. */
  connect?(request: Omit<IncomingRequest, 'body'>): SourceConnection
  /** Size limit of a body or frame in bytes, for sources with `receive` or `connect`. */
  readonly mostBytes?: number
}

/** An open WebSocket of a source. */
export interface SourceConnection {
  /** Evidence that opens one connection only; absent: the client may use it again. */
  readonly proof?: string
  /** Most frames that are read per second; the rest waits. */
  readonly framesPerSecond: number
  /** Contract: pure; returns the event of a text frame, without its id if the frame has none. Throws `usage`. */
  parse(frame: string): Omit<SourceEvent, 'id'> & { readonly id?: string }
}

export interface SourceState {
  readonly name: string
  readonly type: string
  /** The residents that read what the source publishes. */
  readonly listeners: readonly string[]
  /**
   * `waiting`: it cannot go on now, `why` says for what it waits. `failed`: it broke and is started again later.
   * `ended`: nothing can come any more. `stopped`: this process does not run sources.
   */
  readonly state: 'running' | 'waiting' | 'failed' | 'ended' | 'stopped'
  readonly why: string | null
  /** When the last event was published; null: none since this process started. */
  readonly last_event_at: string | null
  /** Events since this process started. `refused`: requests, frames, events or slices that were not taken. */
  readonly published: number
  readonly duplicates: number
  readonly refused: number
}

/** The sources of a home, for commands and the server. */
export interface Sources {
  /** Contract: all configured sources and those of plugins, sorted by name. */
  list(): readonly SourceState[]
  /** Contract: runs every source that a resident listens to, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Contract: applies a changed configuration. Sources whose configuration is the same go on undisturbed. */
  refresh(): void
  /** Contract: the source of that name if it takes requests of this kind; undefined otherwise. */
  find(name: string, kind: 'receive' | 'connect'): Pick<Source, 'mostBytes'> | undefined
  /** Contract: resolves when the event is on disk. Throws if the source refuses it, or if it cannot be stored now. */
  receive(name: string, request: IncomingRequest): Promise<{ readonly duplicate: boolean }>
  /** Contract: verifies the request; throws as `receive` does. */
  connect(name: string, request: Omit<IncomingRequest, 'body'>): Promise<OpenConnection>
}

/** A WebSocket that a source has accepted. */
export interface OpenConnection {
  readonly framesPerSecond: number
  /**
   * Contract: never rejects; resolves with the answer for the client when the event is on disk or refused. Waits while
   * a listener has too many unread observations.
   */
  receive(frame: string): Promise<Readonly<Record<string, Json>>>
  /** Aborts when the source stops or its configuration changes. */
  readonly closed: AbortSignal
}
