/**
 * The source `files`: an event for each file that is created, changed or deleted. The mark has the fingerprints of all
 * files that were reported, so changes made while no process ran are found at the start. Event ids follow from the
 * fingerprints, so an interrupted report is repeated without duplicates.
 */

import { hash } from 'node:crypto'
import type { Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Source, SourceEvent, SourceSink } from '../../ports/source.ts'
import { type FileTree, type ScanOptions, scanFiles } from './scan-files.ts'

interface FilesOptions extends ScanOptions {
  readonly name: string
  readonly settleMs: number
  readonly pollMs: number
  readonly label: Label
  readonly clock: Clock
  /** Contract: calls `onChange` when something may have changed below the folder; may miss changes; never throws. */
  watch(path: string, onChange: () => void): { close(): void }
}

/** Least time between two looks, even if `settle` is shorter: files that do not count may change all the time. */
const LEAST_PAUSE_MS = 100

type Prints = Map<string, string>

interface Change {
  readonly path: string
  readonly change: 'created' | 'changed' | 'deleted'
  readonly size: number | null
  /** Fingerprint after the change; before it, for a deleted file. */
  readonly print: string
}

export function filesSource(options: FilesOptions): Source {
  const { name, paths, watch } = options
  return {
    ...{ name, type: 'files' },
    async run(sink, signal) {
      const bell = new Bell()
      const watchers = [...new Set(paths.map(watchedFolder))].map((path) => watch(path, () => bell.ring()))
      try {
        const known = await knownPrints(sink, options)
        await reportChanges(options, known, { sink, signal, bell })
      } finally {
        for (const watcher of watchers) watcher.close()
      }
    },
  }
}

/** The longest part of a path without a glob. */
const watchedFolder = (path: string): string => path.replace(/\/[^/]*[*?[\]{}].*$/, '') || '/'

/** Contract: the fingerprints of the last report. At the first start, existing files are no news. */
async function knownPrints(sink: SourceSink, options: FilesOptions): Promise<Prints> {
  const mark = await sink.mark()
  if (typeof mark === 'object' && mark !== null && !Array.isArray(mark))
    return new Map(Object.entries(mark).map(([path, print]) => [path, String(print)]))
  const known = printsOf(await scanFiles(options))
  await sink.saveMark(Object.fromEntries(known))
  return known
}

const printsOf = (tree: FileTree): Prints => new Map([...tree].map(([path, { print }]) => [path, print]))

async function reportChanges(
  options: FilesOptions,
  known: Prints,
  { sink, signal, bell }: { readonly sink: SourceSink; readonly signal: AbortSignal; readonly bell: Bell },
): Promise<void> {
  const { clock, settleMs, pollMs, label } = options
  const pauseMs = Math.max(settleMs, LEAST_PAUSE_MS)
  let unsettled: readonly Change[] = []
  while (!signal.aborted) {
    const changes = findChanges(known, await scanFiles(options))
    const settled = changes.filter(({ path, print }) =>
      unsettled.some((before) => before.path === path && before.print === print),
    )
    for (const { path, change, print } of settled)
      if (change === 'deleted') known.delete(path)
      else known.set(path, print)
    // Only the last event has the mark: it is as large as the list of files.
    for (const [index, change] of settled.entries())
      await sink.publish(eventOf(change, label, index === settled.length - 1 ? Object.fromEntries(known) : undefined))
    unsettled = changes.filter((change) => !settled.includes(change))
    await clock.sleep(pauseMs, signal)
    if (unsettled.length === 0) await bell.wait(clock, pollMs - pauseMs, signal)
  }
}

function findChanges(known: Prints, tree: FileTree): readonly Change[] {
  const present = [...tree].flatMap(([path, { size, print }]): Change[] => {
    const before = known.get(path)
    if (before === print) return []
    return [{ path, size, print, change: before === undefined ? 'created' : 'changed' }]
  })
  const deleted = [...known].flatMap(([path, print]): Change[] =>
    tree.has(path) ? [] : [{ path, size: null, print, change: 'deleted' }],
  )
  return [...present, ...deleted]
}

function eventOf({ path, change, size, print }: Change, label: Label, mark: Json | undefined): SourceEvent {
  return {
    id: hash('sha256', `${change} ${print} ${path}`),
    observation: { type: 'system_event', name: 'file_changed', payload: { path, change, size } },
    label,
    ...(mark === undefined ? {} : { mark }),
  }
}

/** Wakes one waiter; a ring before the wait is not lost. */
class Bell {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    if (!this.#rung) {
      this.#wake = () => over.abort()
      await clock.sleep(ms, AbortSignal.any([signal, over.signal]))
    }
    this.#rung = false
    this.#wake = undefined
  }
}
