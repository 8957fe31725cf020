/**
 * The log: JSON lines in the home, for whoever looks for what happened. Told in passing: neither a full disk nor a folder that cannot be
 * written ever fails whoever tells (I9).
 */

import type { Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { type Clock, iso } from '../ports/clock.ts'
import { type Entry, entryOf, isWorthALine, type Level, lineOf } from './log/entry.ts'
import { createAppender } from './log/files.ts'
import { type LogReader, logReader } from './log/read.ts'

const MAX_BYTES = 5 * 1024 * 1024
const FILES = 5

export interface LogOptions {
  readonly folder: string
  readonly clock: Clock
  /** Contract: at most so many characters of a text, without what is secret or looks it. */
  readonly cut: (text: string, most: number) => string
  readonly maxBytes?: number
}

export interface Log {
  /** Contract: never throws. */
  write(level: Level, event: string, details: Readonly<Record<string, Json>>): void
  event(event: Event): void
  close(): void
}

export function openLog({ folder, clock, cut, maxBytes = MAX_BYTES }: LogOptions): Log {
  const appender = createAppender({ folder, maxBytes, count: FILES })
  let waiting: string[] = []
  let lost = 0

  /** What is told in one go is written in one. */
  function add(entry: Entry): void {
    if (waiting.length === 0) queueMicrotask(write)
    waiting.push(lineOf(entry, cut))
  }

  function write(): void {
    const lines = waiting
    waiting = []
    if (lines.length === 0) return
    try {
      appender.append((lost === 0 ? '' : lostLine()) + lines.join(''))
      lost = 0
    } catch {
      lost += lines.length
    }
  }

  const lostLine = (): string =>
    lineOf({ ts: iso(clock.now()), level: 'warn', event: 'lines of the log were lost', lines: lost }, cut)

  return {
    write: (level, event, details) => add({ ...details, ts: iso(clock.now()), level, event }),
    event: (event) => isWorthALine(event) && add(entryOf(event)),
    close() {
      write()
      appender.close()
    },
  }
}

export function readLog(folder: string, clock: Clock): LogReader {
  return logReader(folder, FILES, clock)
}
