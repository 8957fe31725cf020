/**
 * Snapshots of workspaces, in one bare repository of the home: one ref for each step that wrote files. They are
 * not fsynced: if a snapshot is lost, a fork starts from the present files instead.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { PathState } from '../../../domain/path-change.ts'
import { readablePath, repositoryOf } from '../../../domain/path-change.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { FileVersion, Snapshots, StepChanges, WriteSpan } from '../../../ports/snapshots.ts'
import { PATHS_AS_THEY_ARE, type StoredPaths } from '../../../ports/stored-paths.ts'
import { copyFolder } from '../choose-workspace.ts'
import { applyChanges, type ChangingWorkspace, findProgress } from './apply-changes.ts'
import { changedFiles, readFileIn, TreeReader } from './compare-trees.ts'
import { listPresentFiles } from './list-present-files.ts'
import { mergeWorkspace } from './merge-workspace.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import { restoreTree } from './restore-tree.ts'
import { SnapshotRefs } from './snapshot-refs.ts'
import {
  type KnownFiles,
  TREE_LIMITS,
  type TreeLimits,
  WorkspaceTooLargeError,
  writeWorkspaceTree,
} from './workspace-tree.ts'
import { spansOf, WriterLog } from './writer-log.ts'

interface SnapshotOptions {
  /** A workspace above these limits gets no snapshots. */
  readonly limits?: TreeLimits
  /** Folder of the bare repository. */
  readonly folder: string
  /** How workspaces are named in it; default: by their absolute paths. */
  readonly paths?: StoredPaths
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
  readonly #log: WriterLog
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
    this.#log = new WriterLog(options.folder, options.paths ?? PATHS_AS_THEY_ARE)
  }

  take: Snapshots['take'] = (workspace, { run_id, turn, before, recovered }) =>
    this.#afterPruning(async () => {
      if (this.#tooLarge.has(workspace)) return undefined
      const { clock, limits = TREE_LIMITS, warn } = this.#options
      try {
        const known = this.#cache.filesOf(workspace)
        const tree = await writeWorkspaceTree(await this.#objects(), workspace, known, { now: clock.now(), limits })
        const isFirst = before === true || recovered === true
        if (!isFirst || !this.#refs.hasAny(run_id)) this.#refs.write(run_id, turn, tree)
        const kind = recovered ? 'recovered' : before ? 'before' : 'after'
        const linked = kind === 'after' || known.linked.size === 0 ? {} : { linked: Object.fromEntries(known.linked) }
        this.#log.add(run_id, { kind, turn, tree, at: clock.now(), workspace, ...linked })
        return tree
      } catch (thrown) {
        if (thrown instanceof WorkspaceTooLargeError) this.#tooLarge.add(workspace)
        // Removes the run's other snapshots too: otherwise a later fork would use an older snapshot for this step.
        await this.#remove(run_id).catch(() => {})
        warn(asTirelessError(thrown).message, { workspace })
        return undefined
      }
    })

  look: Snapshots['look'] = (workspace) =>
    this.#afterPruning(async () => {
      const { clock, limits = TREE_LIMITS } = this.#options
      const known = this.#cache.filesOf(workspace)
      try {
        return await writeWorkspaceTree(await this.#objects(), workspace, known, { now: clock.now(), limits })
      } catch {
        return undefined
      }
    })

  progress: Snapshots['progress'] = (workspace, changes, id) =>
    this.#afterPruning(async () => findProgress(await this.#changing(workspace, id), changes))

  restore: Snapshots['restore'] = (workspace, changes, id, only) =>
    this.#afterPruning(async () => applyChanges(await this.#changing(workspace, id), changes, only))

  hasAny: Snapshots['hasAny'] = async (run_id) => this.#refs.hasAny(run_id)

  copyTo: Snapshots['copyTo'] = (target, { workspace, step, as }) =>
    this.#afterPruning(async () => {
      await copyFolder(workspace, target)
      const trees = await this.#refs.treesOf(step.run_id)
      const upTo = trees.filter(({ turn }) => turn <= step.turn)
      // The first snapshot precedes every write of the run, so it is also right for all earlier steps.
      const found = upTo.at(-1) ?? trees[0]
      if (!found) return 'now'
      // Snapshots of earlier versions have no repositories, and say nothing of what they left out.
      const keep = (await this.#log.read(step.run_id)).length === 0 ? ['.git', 'node_modules'] : []
      await restoreTree(await this.#objects(), found.tree, target, keep)
      for (const { turn, tree } of upTo.length > 0 ? upTo : [found])
        this.#refs.write(as, Math.min(turn, step.turn), tree)
      return 'kept'
    })

  changesOf: Snapshots['changesOf'] = (run_id) =>
    this.#afterPruning(async () => {
      const trees = await this.#refs.treesOf(run_id)
      const reader = await this.#reader()
      const changes: StepChanges[] = []
      for (const [i, { turn, tree }] of trees.entries()) {
        const before = trees[i - 1]
        if (before) changes.push({ turn, paths: await changedFiles(reader, before.tree, tree) })
      }
      return changes
    })

  filesMadeBy: Snapshots['filesMadeBy'] = async (run_id) => {
    const made = new Map<string, boolean>()
    try {
      for (const { before, after } of await this.spans([run_id]))
        for (const { path, after: state } of await this.compare(before, after))
          if (repositoryOf(path) === undefined) made.set(readablePath(path), state !== null && !state.startsWith('d'))
    } catch {
      // A snapshot is lost or damaged; snapshots are not fsynced.
      return []
    }
    return [...made]
      .filter(([, isFile]) => isFile)
      .map(([path]) => path)
      .sort()
  }

  versionsOf: Snapshots['versionsOf'] = (run_id, path) =>
    this.#afterPruning(async () => {
      const reader = await this.#reader()
      const trees = await this.#refs.treesOf(run_id)
      const versions: FileVersion[] = []
      for (const { turn, tree } of trees) versions.push({ turn, content: await readFileIn(reader, tree, path) })
      return versions
    })

  spans: Snapshots['spans'] = async (writers) => {
    const found: WriteSpan[] = []
    for (const writer of writers ?? (await this.#log.writers()))
      found.push(...spansOf(writer, await this.#log.read(writer)))
    return found.toSorted((a, b) => a.from - b.from)
  }

  compare: Snapshots['compare'] = (before, after) =>
    this.#afterPruning(async () => {
      const changes = await (await this.#reader()).changes(before, after)
      return [...changes].map(([path, change]) => ({ path, ...change })).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    })

  omittedFrom: Snapshots['omittedFrom'] = (snapshot) =>
    this.#afterPruning(async () => (await this.#reader()).omitted(snapshot))

  contentOf: Snapshots['contentOf'] = (state) => this.#afterPruning(async () => (await this.#reader()).content(state))

  merge: Snapshots['merge'] = async ({ run_id, from, into }) => {
    const writer = mergeWriter(run_id)
    const [base] = await this.#refs.treesOf(run_id)
    const theirs = await this.#tree(from)
    const ours = await this.#tree(into)
    if (!base || theirs === undefined || ours === undefined) return undefined
    try {
      const merged = await this.#afterPruning(async () =>
        mergeWorkspace({
          ...{ store: await this.#objects(), file: this.#planFile(run_id), into, name: run_id.slice(0, SHORT_ID) },
          trees: { base: base.tree, ours, theirs },
          begin: (isRepeated) =>
            this.#log.add(writer, {
              kind: isRepeated ? 'recovered' : 'before',
              turn: 0,
              tree: ours,
              at: this.#options.clock.now(),
              workspace: into,
            }),
        }),
      )
      await this.take(into, { run_id: writer, turn: 1 })
      return merged
    } catch (thrown) {
      this.#options.warn(`cannot merge: ${asTirelessError(thrown).message}`, { workspace: into })
      return undefined
    }
  }

  presentFiles: Snapshots['presentFiles'] = listPresentFiles

  forget: Snapshots['forget'] = (run_ids) => {
    this.#pruned = this.#pruned.then(async () => {
      await Promise.all(this.#running)
      try {
        for (const run_id of run_ids.flatMap((id) => [id, `merge-${id}`])) await this.#remove(run_id)
        await (await this.#objects()).prune([...(await this.#refs.allTrees()), ...(await this.#loggedTrees())])
      } catch (thrown) {
        const { folder, warn } = this.#options
        warn(`cannot remove old snapshots: ${asTirelessError(thrown).message}`, { workspace: folder })
      }
    })
    return this.#pruned
  }

  async #remove(run_id: string): Promise<void> {
    for (const writer of [run_id, mergeWriter(run_id)]) {
      await this.#refs.remove(writer)
      await this.#log.remove(writer)
    }
    await rm(this.#planFile(run_id), { force: true })
  }

  #planFile(run_id: string): string {
    return join(this.#options.folder, 'merges', run_id)
  }

  /** The id of the workspace's tree; undefined if it cannot be stored. */
  #tree(workspace: string): Promise<string | undefined> {
    return this.#afterPruning(async () => {
      const { clock, limits = TREE_LIMITS, warn } = this.#options
      try {
        const known = this.#cache.filesOf(workspace)
        return await writeWorkspaceTree(await this.#objects(), workspace, known, { now: clock.now(), limits })
      } catch (thrown) {
        warn(asTirelessError(thrown).message, { workspace })
        return undefined
      }
    })
  }

  async #loggedTrees(): Promise<readonly string[]> {
    const lines = await Promise.all((await this.#log.writers()).map((writer) => this.#log.read(writer)))
    return lines.flat().map(({ tree }) => tree)
  }

  async #changing(root: string, id: string): Promise<ChangingWorkspace> {
    const reader = await this.#reader()
    const contentOf = async (state: PathState): Promise<Uint8Array | null> => {
      try {
        return await reader.content(state)
      } catch (cause) {
        throw new TirelessError('internal', 'its stored content is missing or damaged', { cause })
      }
    }
    return { root, id, contentOf }
  }

  async #reader(): Promise<TreeReader> {
    return new TreeReader(await this.#objects())
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

/** The writer of a merge, and how much of the run's id names the folder of its conflicts. */
const mergeWriter = (run_id: string): string => `merge-${run_id}`
const SHORT_ID = 8

const newKnownFiles = (): KnownFiles => ({
  files: new Map(),
  objectFolders: new Map(),
  largeGit: new Set(),
  linked: new Map(),
})

/** The file lists of the workspaces that were used last. */
class FileListCache {
  readonly #lists = new Map<string, KnownFiles>()

  filesOf(workspace: string): KnownFiles {
    const files: KnownFiles = this.#lists.get(workspace) ?? newKnownFiles()
    this.#lists.delete(workspace)
    this.#lists.set(workspace, files)
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > MAX_CACHED && oldest !== undefined) this.#lists.delete(oldest)
    return files
  }
}
