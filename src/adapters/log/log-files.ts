/**
 * The log files: the newest is `tireless.jsonl`, older ones are numbered; a rotation removes the oldest.
 * Lines are written synchronously without fsync, in 3 µs each. Asynchronous writes would cost the main thread 50 µs.
 */

import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { writeAll } from '../../files/whole-files.ts'

interface LogFiles {
  readonly folder: string
  readonly maxBytes: number
  readonly count: number
}

/** `age`: 0 for the current file, 1 for the file before it, and so on. */
export function logFilePath({ folder }: Pick<LogFiles, 'folder'>, age: number): string {
  return join(folder, age === 0 ? 'tireless.jsonl' : `tireless.${age}.jsonl`)
}

interface LogAppender {
  /** Contract: appends whole lines; throws if it fails, and reopens the file at the next call. */
  append(text: string): void
  close(): void
}

export function createLogAppender(files: LogFiles): LogAppender {
  let current: { readonly fd: number; size: number } | undefined

  function openCurrent(): NonNullable<typeof current> {
    mkdirSync(files.folder, { recursive: true, mode: 0o700 })
    const fd = openSync(logFilePath(files, 0), 'a+', 0o600)
    const { size } = fstatSync(fd)
    current = { fd, size }
    // The file ends in the middle of a line if its last writer was killed or the disk was full.
    if (size > 0 && lastByte(fd, size) !== NEWLINE) writeAll(fd, '\n')
    return current
  }

  function close(): void {
    const previous = current
    current = undefined
    if (previous) closeSync(previous.fd)
  }

  return {
    close,
    append(text) {
      try {
        let file = current ?? openCurrent()
        if (file.size >= files.maxBytes) {
          close()
          rotate(files)
          file = openCurrent()
        }
        const bytes = Buffer.from(text)
        writeAll(file.fd, bytes)
        file.size += bytes.length
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
      renameSync(logFilePath(files, age), logFilePath(files, age + 1))
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
