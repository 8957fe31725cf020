/**
 * Reads a run's trace from its files. Takes no lock and repairs nothing, so it also works while another process writes
 * them.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { FILES, folderOf } from './files.ts'
import type { Manifest } from './manifest.ts'
import type { Step } from './step.ts'
import type { Trace } from './trace.ts'

export interface ReadTrace extends Trace {
  /** Files with invalid lines: the last line after a crash of the writer; any other line was changed from outside. */
  readonly torn: readonly string[]
}

export interface TraceReader {
  /** Contract: the manifests, newest first. */
  list(limit: number): Promise<readonly Manifest[]>
  /** Contract: throws `usage` for an invalid run id, `not_found` where the run has no trace. */
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
          .map((name) => readManifest(join(folder, name))),
      )
      return found.flatMap((manifest) => manifest ?? [])
    },
    async read(run_id) {
      const own = folderOf(folder, run_id)
      const manifest = await readManifest(own)
      if (!manifest) throw new TirelessError('not_found', { what: 'this run has no trace', got: run_id })
      const events = await readLines<Event>(own, FILES.events)
      const steps = await readLines<Step>(own, FILES.steps)
      return { manifest, events: events.lines, steps: steps.lines, torn: [...events.torn, ...steps.torn] }
    },
  }
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, FILES.manifest), 'utf8').catch(() => '')
  return parseLine<Manifest>(text)?.[0]
}

async function readLines<T>(
  folder: string,
  name: string,
): Promise<{ readonly lines: readonly T[]; readonly torn: readonly string[] }> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '')
  const read = text.split('\n').map((line) => (line === '' ? [] : parseLine<T>(line)))
  return { lines: read.flatMap((line) => line ?? []), torn: read.includes(undefined) ? [name] : [] }
}

function parseLine<T>(line: string): T[] | undefined {
  try {
    return [JSON.parse(line) as T]
  } catch {
    return undefined
  }
}
