/**
 * The events of one task for any number of readers. The events of a run can be computed from its records, so a reader
 * that is late or slow gets them from there, and its buffer stays small.
 */

import type { Progress } from '../commands/lib/progress.ts'
import type { Event } from '../domain/event.ts'
import type { TaskWait } from './task-wait.ts'

/** An event of the run, a piece of progress that is not stored (such as text as it arrives), or a wait. */
export type TaskEvent =
  | Extract<Progress, { kind: 'event' | 'delta' }>
  | { readonly kind: 'wait'; readonly wait: TaskWait }

/** A reader that is further behind loses deltas, never events. */
const MAX_BUFFERED = 1000

export class TaskEvents implements AsyncIterable<TaskEvent> {
  /** Contract: the events of the run so far, from its records. */
  readonly #readPast: () => Promise<readonly Event[]>
  readonly #readers = new Set<EventReader>()
  #hasEnded = false
  /** The wait that was told last: it is in no record, so a reader that comes later gets it from here. */
  #lastWait: TaskEvent | undefined

  constructor(readPast: () => Promise<readonly Event[]>) {
    this.#readPast = readPast
  }

  push(event: TaskEvent): void {
    this.#lastWait = event.kind === 'wait' ? event : undefined
    for (const reader of this.#readers) reader.push(event)
  }

  /** No more events follow. */
  end(): void {
    this.#hasEnded = true
    for (const reader of this.#readers) reader.end()
    this.#readers.clear()
  }

  [Symbol.asyncIterator](): AsyncIterator<TaskEvent, undefined> {
    const reader = new EventReader(this.#readPast)
    if (this.#hasEnded) reader.end()
    else {
      this.#readers.add(reader)
      if (this.#lastWait) reader.push(this.#lastWait)
    }
    return {
      next: () => reader.next(),
      return: async () => {
        this.#readers.delete(reader)
        reader.leave()
        return { done: true, value: undefined }
      },
    }
  }
}

class EventReader {
  readonly #readPast: () => Promise<readonly Event[]>
  #buffer: TaskEvent[] = []
  /** The number of the last event that was read. */
  #lastSeq = 0
  #isBehind = true
  #hasEnded = false
  /** True: the last look at the records, after the end, was taken. Another part of the program may run the task. */
  #isComplete = false
  #hasLeft = false
  #wake = Promise.withResolvers<void>()
  /** Calls of `next` are answered in their order. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(readPast: () => Promise<readonly Event[]>) {
    this.#readPast = readPast
  }

  push(event: TaskEvent): void {
    if (this.#buffer.length >= MAX_BUFFERED) {
      this.#buffer = []
      this.#isBehind = true
    }
    this.#buffer.push(event)
    this.#wake.resolve()
  }

  end(): void {
    this.#hasEnded = true
    this.#wake.resolve()
  }

  leave(): void {
    this.#hasLeft = true
    this.#buffer = []
    this.#wake.resolve()
  }

  next(): Promise<IteratorResult<TaskEvent, undefined>> {
    const result = this.#turn.then(() => this.#next())
    this.#turn = result.catch(() => {})
    return result
  }

  async #next(): Promise<IteratorResult<TaskEvent, undefined>> {
    while (!this.#hasLeft) {
      if (this.#isBehind) await this.#catchUp()
      const value = this.#buffer.shift()
      if (value === undefined) {
        if (this.#isComplete) break
        if (this.#hasEnded) this.#isBehind = this.#isComplete = true
        else await this.#untilPushed()
      } else if (value.kind !== 'event') return { done: false, value }
      else if (value.event.seq > this.#lastSeq + 1) {
        this.#buffer.unshift(value)
        this.#isBehind = true
      } else if (value.event.seq > this.#lastSeq) {
        this.#lastSeq = value.event.seq
        return { done: false, value }
      }
    }
    return { done: true, value: undefined }
  }

  async #untilPushed(): Promise<void> {
    await this.#wake.promise
    this.#wake = Promise.withResolvers()
  }

  /** Puts the events that the reader has missed in front of the buffer. */
  async #catchUp(): Promise<void> {
    this.#isBehind = false
    const past = (await this.#readPast()).filter(({ seq }) => seq > this.#lastSeq)
    const last = past.at(-1)?.seq ?? 0
    const later = this.#buffer.filter((event) => event.kind !== 'event' || event.event.seq > last)
    this.#buffer = [...past.map((event) => ({ kind: 'event', event }) as const), ...later]
    // A gap that the records do not fill stays one.
    const first = this.#buffer.find((event) => event.kind === 'event')
    if (first?.kind === 'event') this.#lastSeq = Math.max(this.#lastSeq, first.event.seq - 1)
  }
}
