/**
 * Workspaces with a few files and the snapshots of them. Every write leaves another content, so that its writer is
 * known. Undo never overwrites what a later run wrote.
 */

import { progressOf } from '../../../src/adapters/envs/snapshots/change-progress.ts'
import type { PathChange, PathState } from '../../../src/domain/path-change.ts'
import { NO_SNAPSHOTS, type PathLeft, type Snapshots, type WriteSpan } from '../../../src/ports/snapshots.ts'
import { sessionIdOf } from '../ground-truth.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

type Files = ReadonlyMap<string, string>

/** Few files, so that runs write the same ones. */
const NUMBER_OF_FILES = 2

export class VersionedFiles {
  readonly #world: World
  readonly #files = new Map<string, Files>()
  /** The run that left a content. */
  readonly #writers = new Map<string, string>()
  readonly #snapshots = new Map<string, Files>()
  readonly #spans: WriteSpan[] = []
  #ticks = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The tool `edit` writes. */
  write(root: string, n: number, call: string): void {
    const state = `f 644 ${call}`
    this.#writers.set(state, this.#world.mirror.byId.get(sessionIdOf(call))?.run ?? '')
    this.#set(root, `file${n % NUMBER_OF_FILES}`, state)
  }

  hasWritten(run: string): boolean {
    return this.#spans.some(({ writer }) => writer === run)
  }

  of(proc: SimProcess): Snapshots {
    return {
      ...NO_SNAPSHOTS,
      take: (workspace, { run_id, before, recovered }) =>
        this.#world.io(proc, 'copy', 'snapshot', () =>
          this.#take(workspace, run_id, recovered ? 'recovered' : before ? 'before' : 'after'),
        ),
      look: (workspace) => this.#world.io(proc, 'copy', 'look', () => this.#snapshot(workspace, 'present')),
      spans: async (writers) => this.#spans.filter(({ writer }) => writers?.includes(writer) ?? true),
      compare: async (before, after) => this.#compare(before, after),
      progress: async (workspace, changes) =>
        new Map(changes.map((change) => [change.path, progressOf(change, this.#stateAt(workspace, change.path))])),
      restore: async (workspace, changes, id) => {
        const left: PathLeft[] = []
        for (const change of changes) {
          const isChanged = await this.#world.io(proc, 'restore', change.path, () =>
            this.#restore(proc, workspace, change, id),
          )
          if (!isChanged) left.push({ path: change.path, why: 'changed_since', error: null })
        }
        return left
      },
    }
  }

  #set(root: string, path: string, state: PathState): void {
    const files = new Map(this.#files.get(root))
    if (state === null) files.delete(path)
    else files.set(path, state)
    this.#files.set(root, files)
  }

  #snapshot(root: string, kind: string): string {
    this.#ticks += 1
    const id = `${kind}-${this.#ticks}`
    this.#snapshots.set(id, this.#files.get(root) ?? new Map())
    return id
  }

  /** As the real one: a span starts with a snapshot before a write, and each later one of its writer ends it anew. */
  #take(workspace: string, writer: string, kind: 'before' | 'recovered' | 'after'): string {
    const id = this.#snapshot(workspace, 'snapshot')
    const at = this.#spans.findLastIndex((span) => span.writer === writer && span.workspace === workspace)
    const last = this.#spans[at]
    if (kind === 'recovered' && last)
      this.#spans.push({ ...last, before: last.after, after: id, from: last.to, to: this.#ticks, isUncertain: true })
    if (kind !== 'after' || !last)
      this.#spans.push({ ...{ writer, workspace, before: id, after: id }, from: this.#ticks, to: this.#ticks })
    else this.#spans[at] = { ...last, after: id, to: this.#ticks }
    return id
  }

  #compare(before: string, after: string): readonly PathChange[] {
    const [was, is] = [before, after].map((id) => this.#snapshots.get(id) ?? new Map<string, string>())
    const paths = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].sort()
    return paths
      .map((path) => ({ path, before: was?.get(path) ?? null, after: is?.get(path) ?? null }))
      .filter((change) => change.before !== change.after)
  }

  /** A process that lost the home may still write; nothing can keep it from that. */
  #restore(proc: SimProcess, workspace: string, change: PathChange, id: string): boolean {
    const { path, after } = change
    const progress = progressOf(change, this.#stateAt(workspace, path))
    if (progress !== 'to_do') return progress === 'done'
    const present = this.#files.get(workspace)?.get(path)
    const writer = present === undefined ? undefined : this.#writers.get(present)
    if (present !== undefined && present !== after && !proc.superseded && !this.#runsOf(id).includes(writer ?? ''))
      this.#world.fail('undo', `${id} changes ${path} of ${workspace}, which ${writer} wrote later`)
    this.#world.counters.add('file taken back')
    this.#set(workspace, path, after)
    return true
  }

  #stateAt(workspace: string, path: string): PathState {
    return this.#files.get(workspace)?.get(path) ?? null
  }

  #runsOf(id: string): readonly string[] {
    const row = this.#world.db.prepare('SELECT body FROM undos WHERE id = ?').get(id)
    return (JSON.parse(String(row?.body ?? '{}')) as { readonly runs?: readonly string[] }).runs ?? []
  }
}
