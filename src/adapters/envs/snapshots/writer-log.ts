/**
 * When each writer's snapshots were taken, and of which workspace: one file per writer, one line per snapshot. The refs
 * of the repository say what a step left behind; these lines say what a writer did, and what others did in between.
 */

import { mkdirSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { appendToFile, isDraft, replaceFile } from '../../../files/whole-files.ts'
import type { WriteSpan } from '../../../ports/snapshots.ts'
import type { StoredPaths } from '../../../ports/stored-paths.ts'

interface TakenSnapshot {
  /**
   * `recovered`: as `before`, after a crash in a write of this writer. `missed`: the snapshot at this place could not
   * be taken.
   */
  readonly kind: 'before' | 'after' | 'recovered' | 'missed'
  readonly turn: number
  /** Empty for one that was missed. */
  readonly tree: string
  readonly at: number
  readonly workspace: string
  /** Files with more than one link; absent: none, or of an `after`. */
  readonly linked?: Readonly<Record<string, string>>
}

/** A line of the file. Versions before wrote the absolute path of the workspace as `workspace`. */
type LogLine = Omit<TakenSnapshot, 'workspace'> & ({ readonly in: string } | { readonly workspace: string })

export class WriterLog {
  readonly #folder: string
  readonly #paths: StoredPaths
  /** The last snapshot of each writer and workspace in this process. */
  readonly #last = new Map<string, string>()
  #lastAt = 0

  constructor(repository: string, paths: StoredPaths) {
    this.#folder = join(repository, 'writers')
    this.#paths = paths
  }

  /**
   * Contract: the line is on disk when this returns. A `before` that equals the writer's last snapshot is no new line:
   * no other writer wrote in between.
   */
  add(writer: string, taken: TakenSnapshot): void {
    const place = `${writer}\n${taken.workspace}`
    if (taken.kind === 'before' && this.#last.get(place) === taken.tree) return
    // Without a `before`, this would count what others did since the last snapshot as work of this writer.
    if (taken.kind === 'after' && this.#last.get(place) === MISSED) return
    // Two snapshots never have the same time, so that their order is known.
    this.#lastAt = Math.max(taken.at, this.#lastAt + 1)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const { workspace, ...rest } = taken
    const line: LogLine = { ...rest, at: this.#lastAt, in: this.#paths.toStored(workspace) }
    appendToFile(join(this.#folder, writer), `${JSON.stringify(line)}\n`)
    if (taken.kind !== 'missed') this.#last.set(place, taken.tree)
  }

  /**
   * Contract: never throws; what this process knows of it is enough until the run ends. `isFirst`: it was to precede
   * the next write (`before`, `recovered`).
   */
  miss(writer: string, missed: Omit<TakenSnapshot, 'kind' | 'tree'>, isFirst: boolean): void {
    if (isFirst) this.#last.set(`${writer}\n${missed.workspace}`, MISSED)
    try {
      this.add(writer, { ...missed, kind: 'missed', tree: MISSED })
    } catch {
      // The disk that has no room for a snapshot may have none for this line.
    }
  }

  /** Contract: lines that name a tree of `changed` name the other one instead, or go if there is none. */
  async replaceTrees(writer: string, changed: ReadonlyMap<string, string | undefined>): Promise<void> {
    const file = join(this.#folder, writer)
    /** Workspaces whose last `before` or `recovered` is gone: what follows would count as work since an earlier one. */
    const isOpen = new Map<string, boolean>()
    const lines = (await readFile(file, 'utf8')).split('\n').flatMap((text) => {
      const line = parseLine(text)
      if (line === undefined) return [text]
      const { kind, workspace } = this.#takenFrom(line)
      const tree = changed.has(line.tree) ? changed.get(line.tree) : line.tree
      if (kind === 'before' || kind === 'recovered') isOpen.set(workspace, tree !== undefined)
      if (tree === undefined || (kind === 'after' && isOpen.get(workspace) === false)) return []
      return [tree === line.tree ? text : JSON.stringify({ ...line, tree })]
    })
    replaceFile(file, lines.join('\n'))
    this.#last.clear()
  }

  async remove(writer: string): Promise<void> {
    for (const place of this.#last.keys()) if (place.startsWith(`${writer}\n`)) this.#last.delete(place)
    await rm(join(this.#folder, writer), { force: true })
  }

  async writers(): Promise<readonly string[]> {
    return (await readdir(this.#folder).catch(() => [])).filter((name) => !isDraft(name)).toSorted()
  }

  /** Contract: in the order of the lines; one that a killed process left incomplete is skipped. */
  async read(writer: string): Promise<readonly TakenSnapshot[]> {
    const text = await readFile(join(this.#folder, writer), 'utf8').catch(() => '')
    return text.split('\n').flatMap((stored) => {
      const line = parseLine(stored)
      return line ? [this.#takenFrom(line)] : []
    })
  }

  #takenFrom(line: LogLine): TakenSnapshot {
    if ('workspace' in line) return { ...line, workspace: this.#paths.fromEarlier(line.workspace) }
    const { in: folder, ...rest } = line
    return { ...rest, workspace: this.#paths.fromStored(folder) }
  }
}

const MISSED = ''

function parseLine(text: string): LogLine | undefined {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return undefined
  }
}

/** Contract: pure; a `before` starts a new span. A line without a `before` ahead of it says nothing of what changed. */
export function spansOf(writer: string, lines: readonly TakenSnapshot[]): readonly WriteSpan[] {
  const taken = lines.filter(({ kind }) => kind !== 'missed')
  const workspaces = Map.groupBy(taken, ({ workspace }) => workspace)
  return [...workspaces.values()].flatMap((own) => spansInOne(writer, own))
}

function spansInOne(writer: string, lines: readonly TakenSnapshot[]): readonly WriteSpan[] {
  const spans: WriteSpan[] = []
  let open: { readonly first: TakenSnapshot; last: TakenSnapshot } | undefined
  const close = (): void => {
    if (!open || open.last === open.first) return
    spans.push(spanOf(writer, open.first, open.last))
  }
  for (const line of lines) {
    if (line.kind === 'after') {
      if (open) open.last = line
      continue
    }
    close()
    if (line.kind === 'recovered' && open && open.last.tree !== line.tree)
      spans.push({ ...spanOf(writer, open.last, line), isUncertain: true })
    open = { first: line, last: line }
  }
  close()
  return spans
}

const spanOf = (writer: string, first: TakenSnapshot, last: TakenSnapshot): WriteSpan => ({
  writer,
  workspace: first.workspace,
  from: first.at,
  to: last.at,
  before: first.tree,
  after: last.tree,
  ...(first.linked === undefined ? {} : { linked: first.linked }),
})
