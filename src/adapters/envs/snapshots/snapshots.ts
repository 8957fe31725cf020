/**
 * Snapshots of workspaces, in one bare repository of the home: one ref for each step that wrote files. They are
 * not fsynced: if a snapshot is lost, a fork starts from the present files instead.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asTirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { FileVersion, Snapshots, StepChanges } from '../../../ports/snapshots.ts'
import { copyFolder } from '../choose-workspace.ts'
import { changedPaths, readFileIn } from './compare-trees.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import {
  type KnownFiles,
  restoreTree,
  TREE_LIMITS,
  type TreeLimits,
  WorkspaceTooLargeError,
  writeWorkspaceTree,
} from './workspace-tree.ts'

interface SnapshotOptions {
  /** A workspace above these limits gets no snapshots. */
  readonly limits?: TreeLimits
  /** Folder of the bare repository. */
  readonly folder: string
  readonly clock: Clock
  /** Receives the reason when a snapshot cannot be taken or removed. */
  readonly warn: (message: string, about: { readonly workspace: string }) => void
}

/** Number of workspaces whose file list is cached, so that only changed files are read again. */
const MAX_CACHED = 32

export function createWorkspaceSnapshots(options: SnapshotOptions): Snapshots {
  return new WorkspaceSnapshots(options)
}

class WorkspaceSnapshots implements Snapshots {
  readonly #options: SnapshotOptions
  readonly #refs: SnapshotRefs
  readonly #cache = new FileListCache()
  #opened: Promise<ObjectStore> | undefined
  /** Workspaces that are too large. This process does not try again, because each attempt reads many files. */
  readonly #tooLarge = new Set<string>()
  // Pruning must not run while a snapshot is being written.
  readonly #running = new Set<Promise<unknown>>()
  #pruned: Promise<void> = Promise.resolve()

  constructor(options: SnapshotOptions) {
    this.#options = options
    this.#refs = new SnapshotRefs(options.folder)
  }

  take: Snapshots['take'] = (workspace, { run_id, turn }) =>
    this.#afterPruning(async () => {
      if (this.#tooLarge.has(workspace)) return
      const { clock, limits = TREE_LIMITS, warn } = this.#options
      try {
        const known = this.#cache.filesOf(workspace)
        const tree = await writeWorkspaceTree(await this.#objects(), workspace, known, { now: clock.now(), limits })
        this.#refs.write(run_id, turn, tree)
      } catch (thrown) {
        if (thrown instanceof WorkspaceTooLargeError) this.#tooLarge.add(workspace)
        // Removes the run's other snapshots too: otherwise a later fork would use an older snapshot for this step.
        await this.#refs.remove(run_id).catch(() => {})
        warn(asTirelessError(thrown).message, { workspace })
      }
    })

  hasAny: Snapshots['hasAny'] = async (run_id) => this.#refs.hasAny(run_id)

  copyTo: Snapshots['copyTo'] = (target, { workspace, step, as }) =>
    this.#afterPruning(async () => {
      await copyFolder(workspace, target)
      const trees = await this.#refs.treesOf(step.run_id)
      const upTo = trees.filter(({ turn }) => turn <= step.turn)
      // The first snapshot precedes every write of the run, so it is also right for all earlier steps.
      const found = upTo.at(-1) ?? trees[0]
      if (!found) return 'now'
      await restoreTree(await this.#objects(), found.tree, target)
      for (const { turn, tree } of upTo.length > 0 ? upTo : [found])
        this.#refs.write(as, Math.min(turn, step.turn), tree)
      return 'kept'
    })

  changesOf: Snapshots['changesOf'] = (run_id) =>
    this.#afterPruning(async () => {
      const trees = await this.#refs.treesOf(run_id)
      const objects = await this.#objects()
      const changes: StepChanges[] = []
      for (const [i, { turn, tree }] of trees.entries()) {
        const before = trees[i - 1]
        if (before) changes.push({ turn, paths: await changedPaths(objects, before.tree, tree) })
      }
      return changes
    })

  versionsOf: Snapshots['versionsOf'] = (run_id, path) =>
    this.#afterPruning(async () => {
      const objects = await this.#objects()
      const trees = await this.#refs.treesOf(run_id)
      const versions: FileVersion[] = []
      for (const { turn, tree } of trees) versions.push({ turn, content: await readFileIn(objects, tree, path) })
      return versions
    })

  forget: Snapshots['forget'] = (run_ids) => {
    this.#pruned = this.#pruned.then(async () => {
      await Promise.all(this.#running)
      try {
        for (const run_id of run_ids) await this.#refs.remove(run_id)
        await (await this.#objects()).prune(await this.#refs.allTrees())
      } catch (thrown) {
        const { folder, warn } = this.#options
        warn(`cannot remove old snapshots: ${asTirelessError(thrown).message}`, { workspace: folder })
      }
    })
    return this.#pruned
  }

  #objects(): Promise<ObjectStore> {
    this.#opened ??= openObjectStore(this.#options.folder)
    return this.#opened
  }

  async #afterPruning<T>(work: () => Promise<T>): Promise<T> {
    await this.#pruned
    const done = work()
    const settled = done.catch(() => {}).finally(() => this.#running.delete(settled))
    this.#running.add(settled)
    return done
  }
}

/** The refs of the repository: for each step that wrote, the tree of its snapshot. */
class SnapshotRefs {
  readonly #folder: string

  constructor(repository: string) {
    this.#folder = join(repository, 'refs', 'steps')
  }

  hasAny(run_id: string): boolean {
    return existsSync(join(this.#folder, run_id))
  }

  write(run_id: string, turn: number, tree: string): void {
    mkdirSync(join(this.#folder, run_id), { recursive: true, mode: 0o700 })
    writeFileSync(join(this.#folder, run_id, String(turn)), `${tree}\n`)
  }

  remove(run_id: string): Promise<void> {
    return rm(join(this.#folder, run_id), { recursive: true, force: true })
  }

  /** The snapshots of a run, oldest first. */
  async treesOf(run_id: string): Promise<readonly { readonly turn: number; readonly tree: string }[]> {
    const folder = join(this.#folder, run_id)
    const names = await readdir(folder).catch(() => [])
    const turns = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const read = async (turn: number) => ({ turn, tree: (await readFile(join(folder, String(turn)), 'utf8')).trim() })
    const found = await Promise.all(turns.sort((a, b) => a - b).map(read))
    // A killed process may have left an incomplete ref.
    return found.filter(({ tree }) => /^[0-9a-f]{40}$/.test(tree))
  }

  async allTrees(): Promise<readonly string[]> {
    const runs = await readdir(this.#folder).catch(() => [])
    const trees = await Promise.all(runs.map((run_id) => this.treesOf(run_id)))
    return trees.flat().map(({ tree }) => tree)
  }
}

/** The file lists of the workspaces that were used last. */
class FileListCache {
  readonly #lists = new Map<string, KnownFiles>()

  filesOf(workspace: string): KnownFiles {
    const files: KnownFiles = this.#lists.get(workspace) ?? new Map()
    this.#lists.delete(workspace)
    this.#lists.set(workspace, files)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > MAX_CACHED && oldest !== undefined) this.#lists.delete(oldest)
    return files
  }
}
