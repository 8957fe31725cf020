/** The files of a run's trace: `manifest.json`, `events.jsonl`, `steps.jsonl` in a folder named by the run's id. */

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { replaceFile, writeAll, writeNewFile } from '../files/whole-files.ts'
import type { TraceManifest } from './manifest.ts'

export const TRACE_FILES = { manifest: 'manifest.json', events: 'events.jsonl', steps: 'steps.jsonl' } as const

export const isRunId = (text: string): boolean => /^[A-Za-z0-9_-]+$/.test(text)

/** Contract: returns the folder of the run's trace; throws `usage` for an id that could name another path. */
export function traceFolder(traces: string, run_id: string): string {
  if (!isRunId(run_id))
    throw new TirelessError('usage', {
      what: 'the run id is not valid',
      got: JSON.stringify(run_id),
      expected: 'letters, digits, - and _',
      fix: 'run `tireless trace list` to see the ids',
    })
  return join(traces, run_id)
}

export function createTraceFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** Collects lines, and writes them to the end of a file. */
export interface LineBuffer {
  add(line: string): void
  /**
   * Contract: writes the lines added since the last successful write; throws on failure and keeps them for the next
   * write.
   */
  write(): void
  /** Number of characters not written yet. */
  readonly pending: number
}

/** Contract: the first write replaces the old content of the file. */
export function lineBufferFor(file: string): LineBuffer {
  let pending = ''
  let size = 0
  let isCreated = false
  return {
    add(line) {
      pending += `${line}\n`
    },
    write() {
      if (isCreated && pending === '') return
      // Writes at a known position: if the disk was full, the next write overwrites the partial write.
      const fd = openSync(file, isCreated ? 'r+' : 'w', 0o600)
      try {
        const bytes = Buffer.from(pending)
        writeAll(fd, bytes, size)
        size += bytes.length
        pending = ''
        isCreated = true
      } finally {
        closeSync(fd)
      }
    },
    get pending() {
      return pending.length
    },
  }
}

/**
 * Contract: creates a file that only its owner can read. A file that is there already is replaced as a whole, and only
 * if `replace`; else `confirmation_needed`, which names `command`. A folder is never replaced.
 */
export function writePage(file: string, page: string, replace: boolean, command: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  // A device or a pipe keeps nothing that could be lost.
  if (found && !found.isFile() && !found.isDirectory()) {
    writeToDevice(file, page)
    return
  }
  if (replace && found?.isFile()) {
    replaceFile(file, page)
    return
  }
  if (found?.isDirectory())
    throw new TirelessError('path_refused', { what: 'is a folder', got: file, fix: 'name a file in it' })
  try {
    writeNewFile(file, page)
  } catch (thrown) {
    if (asTirelessError(thrown).code !== 'conflict') throw thrown
    throw new TirelessError('confirmation_needed', {
      what: found ? 'the file exists already, and would be replaced' : 'there is a link at this path',
      got: file,
      fix: found ? `name another file, or run tireless ${command} --yes to replace it` : 'name another file',
    })
  }
}

function writeToDevice(file: string, page: string): void {
  const handle = openSync(file, 'w')
  try {
    writeAll(handle, page)
  } finally {
    closeSync(handle)
  }
}

export function writeTraceManifest(folder: string, manifest: TraceManifest): void {
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  // The records can make it again.
  replaceFile(join(folder, TRACE_FILES.manifest), text, { mode: 0o600, isFlushed: false })
}
