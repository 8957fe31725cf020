/** Reads a run's trace from its files: takes no lock, changes and repairs nothing, also while another process writes them. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { FILES, folderOf } from './files.ts'
import type { Manifest } from './manifest.ts'
import type { Step } from './step.ts'
import type { Trace } from './trace.ts'

export interface ReadTrace extends Trace {
  /** Files with lines that cannot be read: the last one where the writer was killed, any other where somebody else wrote. */
  readonly torn: readonly string[]
}

export interface TraceReader {
  /** Contract: the manifests there are, newest first. */
  list(limit: number): Promise<readonly Manifest[]>
  /** Contract: refuses what is no run id; `not_found` where there is no trace of it. */
  read(run_id: string): Promise<ReadTrace>
}

export function traceReader(folder: string): TraceReader {
  return {
    async list(limit) {
      const names = await readdir(folder).catch(() => [])
      // Ids sort by time.
      const found = await Promise.all(
        names
          .sort()
          .reverse()
          .slice(0, limit)
          .map((name) => manifestIn(join(folder, name))),
      )
      return found.flatMap((manifest) => manifest ?? [])
    },
    async read(run_id) {
      const own = folderOf(folder, run_id)
      const manifest = await manifestIn(own)
      if (!manifest) throw new TirelessError('not_found', { what: 'there is no trace of this run', got: run_id })
      const events = await linesOf<Event>(own, FILES.events)
      const steps = await linesOf<Step>(own, FILES.steps)
      return { manifest, events: events.lines, steps: steps.lines, torn: [...events.torn, ...steps.torn] }
    },
  }
}

async function manifestIn(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, FILES.manifest), 'utf8').catch(() => '')
  return parsed<Manifest>(text)?.[0]
}

async function linesOf<T>(
  folder: string,
  name: string,
): Promise<{ readonly lines: readonly T[]; readonly torn: readonly string[] }> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '')
  const read = text.split('\n').map((line) => (line === '' ? [] : parsed<T>(line)))
  return { lines: read.flatMap((line) => line ?? []), torn: read.includes(undefined) ? [name] : [] }
}

function parsed<T>(line: string): T[] | undefined {
  try {
    return [JSON.parse(line) as T]
  } catch {
    return undefined
  }
}
