/** Reading the log, also while another process writes it and begins new files. */

import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import type { Clock } from '../../ports/clock.ts'
import type { Entry } from './entry.ts'
import { logFile } from './files.ts'

export interface LogReader {
  last(count: number): Promise<readonly Entry[]>
  follow(count: number, signal: AbortSignal, hear: (entry: Entry) => void): Promise<void>
}

const LOOK_EVERY_MS = 200

export function logReader(folder: string, files: number, clock: Clock): LogReader {
  /** Newest files first, until there are enough; `newest` stands for the one that is written to. */
  async function last(count: number, newest?: readonly Entry[]): Promise<readonly Entry[]> {
    let found: readonly Entry[] = newest ?? []
    for (let age = newest ? 1 : 0; age < files && found.length < count; age += 1) {
      const text = await readFile(logFile({ folder }, age), 'utf8').catch(() => '')
      found = [...text.split('\n').flatMap(parsed), ...found]
    }
    return count === 0 ? [] : found.slice(-count)
  }

  return {
    last: (count) => last(count),
    async follow(count, signal, hear) {
      const tail = tailOf(logFile({ folder }, 0))
      try {
        for (const entry of await last(count, await tail.read())) hear(entry)
        while (!signal.aborted) {
          await clock.sleep(LOOK_EVERY_MS, signal)
          for (const entry of await tail.read()) hear(entry)
        }
      } finally {
        await tail.close()
      }
    },
  }
}

interface Tail {
  /** Contract: what has come since the last time. */
  read(): Promise<readonly Entry[]>
  close(): Promise<void>
}

/** One file by its name, read on from where it was; when the name passes to another file, the old one is read to its end first. */
function tailOf(path: string): Tail {
  let file: { readonly handle: FileHandle; position: number; rest: Buffer } | undefined

  async function readOn(): Promise<readonly Entry[]> {
    const handle = file ? undefined : await open(path, 'r').catch(() => undefined)
    if (handle) file = { handle, position: 0, rest: Buffer.alloc(0) }
    if (!file) return []
    const { size } = await file.handle.stat()
    const more = Buffer.alloc(Math.max(0, size - file.position))
    const { bytesRead } = await file.handle.read(more, 0, more.length, file.position)
    file.position += bytesRead
    const bytes = Buffer.concat([file.rest, more.subarray(0, bytesRead)])
    const end = bytes.lastIndexOf('\n') + 1
    file.rest = bytes.subarray(end)
    return bytes.toString('utf8', 0, end).split('\n').flatMap(parsed)
  }

  async function isReplaced(): Promise<boolean> {
    const there = await stat(path).catch(() => undefined)
    const ours = await file?.handle.stat()
    return there !== undefined && ours !== undefined && there.ino !== ours.ino
  }

  async function close(): Promise<void> {
    await file?.handle.close()
    file = undefined
  }

  return {
    close,
    async read() {
      const entries = await readOn()
      if (!(await isReplaced())) return entries
      // What was written between the two looks, then the new file.
      const rest = await readOn()
      await close()
      return [...entries, ...rest, ...(await readOn())]
    },
  }
}

/** A line that was cut short says nothing. */
function parsed(line: string): Entry[] {
  if (line === '') return []
  try {
    return [JSON.parse(line) as Entry]
  } catch {
    return []
  }
}
