/** The log: JSON lines in the home. Writing to it never throws, also with a full disk or a read-only folder (I9). */

import type { Event } from '../../domain/event.ts'
import type { Json } from '../../domain/json.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import { formatLogLine, isLogged, type LogFileEntry, type LogLevel, logEntryFromEvent } from './log-entry.ts'
import { createLogAppender } from './log-files.ts'
import { createLogReader, type LogFileReader } from './read-log.ts'

const MAX_BYTES = 5 * 1024 * 1024
const FILES = 5

interface LogOptions {
  readonly folder: string
  readonly clock: Clock
  /** Contract: at most `most` characters of the text, with secrets and likely secrets removed. */
  readonly redactAndTruncate: (text: string, most: number) => string
  readonly maxBytes?: number
}

export interface Log {
  /** Contract: never throws. */
  write(level: LogLevel, event: string, details: Readonly<Record<string, Json>>): void
  event(event: Event): void
  close(): void
}

export function openLog({ folder, clock, redactAndTruncate: cut, maxBytes = MAX_BYTES }: LogOptions): Log {
  const appender = createLogAppender({ folder, maxBytes, count: FILES })
  let pending: string[] = []
  let lostLines = 0

  /** Entries of one turn of the event loop are written together. */
  function enqueueEntry(entry: LogFileEntry): void {
    if (pending.length === 0) queueMicrotask(flush)
    pending.push(formatLogLine(entry, cut))
  }

  function flush(): void {
    const lines = pending
    pending = []
    if (lines.length === 0) return
    try {
      appender.append((lostLines === 0 ? '' : formatLostLine()) + lines.join(''))
      lostLines = 0
    } catch {
      lostLines += lines.length
    }
  }

  const formatLostLine = (): string =>
    formatLogLine({ ts: iso(clock.now()), level: 'warn', event: 'log lines were lost', lines: lostLines }, cut)

  return {
    write: (level, event, details) => enqueueEntry({ ...details, ts: iso(clock.now()), level, event }),
    event: (event) => isLogged(event) && enqueueEntry(logEntryFromEvent(event)),
    close() {
      flush()
      appender.close()
    },
  }
}

export function openLogReader(folder: string, clock: Clock): LogFileReader {
  return createLogReader(folder, FILES, clock)
}
