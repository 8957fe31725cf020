/** The files of a run's trace: `manifest.json`, `events.jsonl`, `steps.jsonl` in a folder with the run's id as its name. */

import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { Manifest } from './manifest.ts'

export const FILES = { manifest: 'manifest.json', events: 'events.jsonl', steps: 'steps.jsonl' } as const

export const isRunId = (text: string): boolean => /^[A-Za-z0-9_-]+$/.test(text)

/** Contract: refuses what could name anything but a folder right below. */
export function folderOf(traces: string, run_id: string): string {
  if (!isRunId(run_id))
    throw new TirelessError('usage', {
      what: 'this is no run id',
      got: JSON.stringify(run_id),
      expected: 'letters, digits, - and _',
      fix: 'see: trace list',
    })
  return join(traces, run_id)
}

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** Lines on their way into a file. */
export interface Lines {
  add(line: string): void
  /** Contract: what was added since it last came through, after what did; throws when it cannot, and loses nothing by it. */
  write(): void
  /** How much waits to be written, in characters. */
  readonly held: number
}

/** Contract: what the file held before is gone with the first write. */
export function linesInto(file: string): Lines {
  let pending = ''
  let size = 0
  let begun = false
  return {
    add(line) {
      pending += `${line}\n`
    },
    write() {
      if (begun && pending === '') return
      // By position: where a full disk took a part only, the next try goes over it.
      const fd = openSync(file, begun ? 'r+' : 'w', 0o600)
      try {
        const bytes = Buffer.from(pending)
        for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from, bytes.length - from, size + from)
        size += bytes.length
        pending = ''
        begun = true
      } finally {
        closeSync(fd)
      }
    },
    get held() {
      return pending.length
    },
  }
}

/** Contract: a page for whoever asked for it, readable for nobody else until they say so. */
export function writePage(file: string, page: string): Promise<void> {
  return writeFile(file, page, { mode: 0o600 })
}

/** Contract: the old one or the new one, whole, at every instant. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const file = join(folder, FILES.manifest)
  writeFileSync(`${file}.new`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
