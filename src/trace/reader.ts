/**
 * Reads a run's trace from its files. Takes no lock and repairs nothing, so it also works while another process writes
 * these files.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import type { TraceManifest } from './manifest.ts'
import type { Trace } from './trace.ts'
import { TRACE_FILES, traceFolder } from './trace-files.ts'
import type { TraceStep } from './trace-step.ts'

export interface ReadTrace extends Trace {
  /**
   * Names of the files with an invalid line. The last line may be incomplete after a crash of the writer; any other
   * invalid line was changed from outside.
   */
  readonly torn: readonly string[]
}

export interface TraceReader {
  /** Contract: returns the manifests, newest first. */
  list(limit: number): Promise<readonly TraceManifest[]>
  /** Contract: throws `usage` for an invalid run id, `not_found` if the run has no trace. */
  read(run_id: string): Promise<ReadTrace>
}

export function traceReader(folder: string): TraceReader {
  return {
    async list(limit) {
      const names = await readdir(folder).catch(() => [])
      // Run ids sort by creation time.
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
      const own = traceFolder(folder, run_id)
      const manifest = await readManifest(own)
      if (!manifest) throw new TirelessError('not_found', { what: 'this run has no trace', got: run_id })
      const events = await readLines<Event>(own, TRACE_FILES.events)
      const steps = await readLines<TraceStep>(own, TRACE_FILES.steps)
      return { manifest, events: events.lines, steps: steps.lines, torn: [...events.torn, ...steps.torn] }
    },
  }
}

async function readManifest(folder: string): Promise<TraceManifest | undefined> {
  const text = await readFile(join(folder, TRACE_FILES.manifest), 'utf8').catch(() => '')
  return parseLine<TraceManifest>(text)?.[0]
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
