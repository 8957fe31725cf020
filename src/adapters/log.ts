/**
 * The log: JSON lines in the home, for whoever looks for what happened. Told in passing: neither a full disk nor a folder that cannot be
 * written ever fails whoever tells (I9).
 */

import type { Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { type Clock, iso } from '../ports/clock.ts'
import { type Entry, entryOf, isRoutine, type Level, lineOf } from './log/entry.ts'
import { createAppender } from './log/files.ts'
import { type LogReader, logReader } from './log/read.ts'
import { cutter } from './log/redact.ts'

const MAX_BYTES = 5 * 1024 * 1024
const FILES = 5

export interface LogOptions {
  readonly folder: string
  readonly clock: Clock
  /** Texts that must not be written. */
  readonly secrets: readonly string[]
  readonly maxBytes?: number
}

export interface Log {
  /** Contract: never throws. */
  write(level: Level, event: string, details: Readonly<Record<string, Json>>): void
  event(event: Event): void
  /** Contract: that text is in no line from now on. */
  hide(secret: string): void
  close(): void
}

export function openLog({ folder, clock, secrets, maxBytes = MAX_BYTES }: LogOptions): Log {
  const appender = createAppender({ folder, maxBytes, count: FILES })
  const hidden = new Set(secrets)
  let cut = cutter([...hidden])
  let lost = 0

  function add(entry: Entry): void {
    try {
      const line = lineOf(entry, cut)
      appender.append(lost === 0 ? line : lostLine(entry.ts, lost) + line)
      lost = 0
    } catch {
      lost += 1
    }
  }

  const lostLine = (ts: string, lines: number): string =>
    lineOf({ ts, level: 'warn', event: 'lines of the log were lost', lines }, cut)

  return {
    write: (level, event, details) => add({ ...details, ts: iso(clock.now()), level, event }),
    event: (event) => isRoutine(event) || add(entryOf(event)),
    hide(secret) {
      if (hidden.has(secret)) return
      hidden.add(secret)
      cut = cutter([...hidden])
    },
    close: () => appender.close(),
  }
}

export function readLog(folder: string, clock: Clock): LogReader {
  return logReader(folder, FILES, clock)
}
