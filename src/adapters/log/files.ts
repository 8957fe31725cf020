/**
 * The files of the log: the newest is `tireless.jsonl`, older ones are numbered, the oldest goes when a new one is begun.
 * Written at once and without a sync, which costs 3 µs a line; the way through the thread pool costs the main thread 50.
 */

import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface LogFiles {
  readonly folder: string
  readonly maxBytes: number
  readonly count: number
}

/** `age` 0 is the one that is written to. */
export function logFile({ folder }: Pick<LogFiles, 'folder'>, age: number): string {
  return join(folder, age === 0 ? 'tireless.jsonl' : `tireless.${age}.jsonl`)
}

export interface Appender {
  /** Contract: whole lines; throws when it cannot, and begins anew with the next. */
  append(text: string): void
  close(): void
}

export function createAppender(files: LogFiles): Appender {
  let current: { readonly fd: number; size: number } | undefined

  function begin(): NonNullable<typeof current> {
    mkdirSync(files.folder, { recursive: true, mode: 0o700 })
    const fd = openSync(logFile(files, 0), 'a+', 0o600)
    const { size } = fstatSync(fd)
    current = { fd, size }
    // Whoever wrote last was killed, or ran out of disk, in the middle of a line.
    if (size > 0 && lastByte(fd, size) !== NEWLINE) writeAll(fd, '\n')
    return current
  }

  function close(): void {
    const was = current
    current = undefined
    if (was) closeSync(was.fd)
  }

  return {
    close,
    append(text) {
      try {
        let file = current ?? begin()
        if (file.size >= files.maxBytes) {
          close()
          rotate(files)
          file = begin()
        }
        file.size += writeAll(file.fd, text)
      } catch (thrown) {
        close()
        throw thrown
      }
    },
  }
}

function rotate(files: LogFiles): void {
  for (let age = files.count - 2; age >= 0; age -= 1)
    try {
      renameSync(logFile(files, age), logFile(files, age + 1))
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) throw thrown
    }
}

const NEWLINE = 0x0a

function lastByte(fd: number, size: number): number | undefined {
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, size - 1)
  return byte[0]
}

/** A disk that is nearly full may take a part only. */
function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from)
  return bytes.length
}
