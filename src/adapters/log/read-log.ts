/** Reads the log, also while another process writes and rotates it. */

import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import type { Clock } from '../../ports/clock.ts'
import type { LogFileEntry, LogLevel } from './log-entry.ts'
import { logFilePath } from './log-files.ts'

/** Least important level, text in any case, and the id of the entry to start at. */
interface LogFileQuery {
  readonly limit: number
  readonly level?: LogLevel | undefined
  readonly text?: string | undefined
  readonly before?: string | undefined
  readonly after?: string | undefined
}

export interface LogFileReader {
  search(query: LogFileQuery): Promise<{ readonly items: readonly LogFileEntry[]; readonly more: boolean }>
  last(count: number): Promise<readonly LogFileEntry[]>
  follow(count: number, signal: AbortSignal, onEntry: (entry: LogFileEntry) => void): Promise<void>
}

const POLL_MS = 200

export function createLogReader(folder: string, files: number, clock: Clock): LogFileReader {
  /**
   * Reads the newest files first, until there are enough entries. `newest`: entries of the current file, if already
   * read.
   */
  async function last(count: number, newest?: readonly LogFileEntry[]): Promise<readonly LogFileEntry[]> {
    let found: readonly LogFileEntry[] = newest ?? []
    for (let age = newest ? 1 : 0; age < files && found.length < count; age += 1) {
      const text = await readFile(logFilePath({ folder }, age), 'utf8').catch(() => '')
      found = [...text.split('\n').flatMap(parseLine), ...found]
    }
    return count === 0 ? [] : found.slice(-count)
  }

  return {
    search: (query) => searchFiles(folder, files, query),
    last: (count) => last(count),
    async follow(count, signal, onEntry) {
      const tail = openTail(logFilePath({ folder }, 0))
      try {
        for (const entry of await last(count, await tail.read())) onEntry(entry)
        while (!signal.aborted) {
          await clock.sleep(POLL_MS, signal)
          for (const entry of await tail.read()) onEntry(entry)
        }
      } finally {
        await tail.close()
      }
    },
  }
}

const LEVELS: readonly LogLevel[] = ['info', 'warn', 'error']

/** Reads the newest files first, until there are enough entries. A file keeps its number when it is renamed. */
async function searchFiles(
  folder: string,
  files: number,
  { limit, level = 'info', text = '', before, after }: LogFileQuery,
): Promise<{ readonly items: readonly LogFileEntry[]; readonly more: boolean }> {
  const wanted = text.toLowerCase()
  const found: LogFileEntry[] = []
  let isPast = before === undefined
  for (let age = 0; age < files; age += 1) {
    for (const { id, line } of (await readLines(logFilePath({ folder }, age))).toReversed()) {
      if (id === after) return { items: found.toReversed(), more: false }
      const isMatch = isPast && (wanted === '' || line.toLowerCase().includes(wanted))
      isPast ||= id === before
      const [entry] = isMatch ? parseLine(line) : []
      if (!entry || LEVELS.indexOf(entry.level) < LEVELS.indexOf(level)) continue
      if (found.length === limit) return { items: found.toReversed(), more: true }
      found.push({ ...entry, id })
    }
  }
  return { items: found.toReversed(), more: false }
}

/** The id of a line: the number of its file and its place there. */
async function readLines(path: string): Promise<readonly { readonly id: string; readonly line: string }[]> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (!handle) return []
  try {
    const { ino } = await handle.stat()
    let at = 0
    return (await handle.readFile('utf8')).split('\n').map((line) => {
      const id = `${ino}-${at}`
      at += line.length + 1
      return { id, line }
    })
  } finally {
    await handle.close()
  }
}

interface Tail {
  /** Contract: the entries written since the previous call. */
  read(): Promise<readonly LogFileEntry[]>
  close(): Promise<void>
}

/** Reads a file incrementally. When a rotation replaces it, the old file is read to its end first. */
function openTail(path: string): Tail {
  let file: { readonly handle: FileHandle; position: number; rest: Buffer } | undefined

  async function readMore(): Promise<readonly LogFileEntry[]> {
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
    return bytes.toString('utf8', 0, end).split('\n').flatMap(parseLine)
  }

  async function isReplaced(): Promise<boolean> {
    const current = await stat(path).catch(() => undefined)
    const opened = await file?.handle.stat()
    return current !== undefined && opened !== undefined && current.ino !== opened.ino
  }

  async function close(): Promise<void> {
    await file?.handle.close()
    file = undefined
  }

  return {
    close,
    async read() {
      const entries = await readMore()
      if (!(await isReplaced())) return entries
      // Reads the last lines of the old file, written before the rotation, and then the new file.
      const rest = await readMore()
      await close()
      return [...entries, ...rest, ...(await readMore())]
    },
  }
}

/** Incomplete lines are skipped. */
function parseLine(line: string): LogFileEntry[] {
  if (line === '') return []
  try {
    return [JSON.parse(line) as LogFileEntry]
  } catch {
    return []
  }
}
