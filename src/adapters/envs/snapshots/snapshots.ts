/**
 * Snapshots of workspaces, in one bare repository of the home: one ref for each step that wrote files. What a snapshot
 * names is on disk before a ref or a line of the log names the snapshot.
 */

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import { type Omission, readablePath, repositoryOf } from '../../../domain/path-change.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { FileVersion, LostFiles, Snapshots, StepChanges, WriteSpan } from '../../../ports/snapshots.ts'
import { PATHS_AS_THEY_ARE, type StoredPaths } from '../../../ports/stored-paths.ts'
import { copyFolder } from '../choose-workspace.ts'
import { applyChanges, type ChangingWorkspace, findProgress } from './apply-changes.ts'
import { ObjectCheck, writeWithoutLost } from './check-snapshots.ts'
import { changedFiles, readFileIn, TreeReader } from './compare-trees.ts'
import { findUncovered } from './find-uncovered.ts'
import { listPresentFiles } from './list-present-files.ts'
import { TREE_LIMITS, type TreeLimits } from './list-workspace.ts'
import { mergeWorkspace } from './merge-workspace.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import { restoreTree } from './restore-tree.ts'
import { SnapshotRefs } from './snapshot-refs.ts'
import { type KnownFiles, newKnownFiles, writeWorkspaceTree } from './workspace-tree.ts'
import { spansOf, WriterLog } from './writer-log.ts'

interface SnapshotOptions {
  /** What a snapshot takes at most; it leaves out the rest. */
  readonly limits?: TreeLimits
  /** Folder of the bare repository. */
  readonly folder: string
  /** How workspaces are named in it; default: by their absolute paths. */
  readonly paths?: StoredPaths
  readonly clock: Clock
  /** Receives the reason when a snapshot cannot be taken or removed, and what one leaves out. */
  readonly warn: (message: string, about: { readonly workspace: string }) => void
}

/** Number of workspaces whose file list is cached, so that only changed files are read again. */
const MAX_CACHED = 32
/** Paths named in one message of the log. */
const MAX_TOLD = 5
/** Longer than any command needs between a look and what it does with it. */
const MAX_LATEST = 64

export function createWorkspaceSnapshots(options: SnapshotOptions): Snapshots {
  return new WorkspaceSnapshots(options)
}

class WorkspaceSnapshots implements Snapshots {
  readonly #options: SnapshotOptions
  readonly #refs: SnapshotRefs
  readonly #log: WriterLog
  readonly #cache = new FileListCache()
  #opened: Promise<ObjectStore> | undefined
  /** What was said to be left out, by workspace. */
  readonly #told = new Map<string, string>()
  /** Trees that nothing on disk names yet, newest last: pruning keeps them. */
  readonly #latest: string[] = []
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
      const { clock, warn } = this.#options
      const isFirst = before === true || recovered === true
      try {
        const tree = await this.#write(workspace, { isThorough: isFirst })
        if (isFirst) this.#tellLeftOut(workspace)
        if (!isFirst || !this.#refs.hasAny(run_id)) this.#refs.write(run_id, turn, tree)
        const kind = recovered ? 'recovered' : before ? 'before' : 'after'
        const { linked } = this.#cache.filesOf(workspace)
        const named = isFirst && linked.size > 0 ? { linked: Object.fromEntries(linked) } : {}
        this.#log.add(run_id, { kind, turn, tree, at: clock.now(), workspace, ...named })
        return tree
      } catch (thrown) {
        this.#log.miss(run_id, { turn, at: clock.now(), workspace }, isFirst)
        warn(asTirelessError(thrown).message, { workspace })
        return undefined
      }
    })

  look: Snapshots['look'] = (workspace) =>
    this.#afterPruning(() => this.#write(workspace, { isThorough: true }).catch(() => undefined))

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
      const lines = await this.#log.read(step.run_id)
      const isMissed = lines.some(
        ({ kind, turn }) => kind === 'missed' && turn <= step.turn && turn > (found?.turn ?? turn),
      )
      if (!found || isMissed) return 'now'
      // Snapshots of earlier versions have no repositories, and say nothing of what they left out.
      const keep = lines.length === 0 ? ['.git', 'node_modules'] : []
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
      // A snapshot is lost or damaged.
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

  omittedFrom: Snapshots['omittedFrom'] = (...snapshots) =>
    this.#afterPruning(async () => {
      const reader = await this.#reader()
      const found = new Map<string, Omission>()
      for (const snapshot of new Set(snapshots))
        for (const [path, why] of await reader.omitted(snapshot)) found.set(path, why)
      return found
    })

  uncovered: Snapshots['uncovered'] = (workspace) => findUncovered(workspace, this.#options.limits ?? TREE_LIMITS)

  lostOf: Snapshots['lostOf'] = (changes) =>
    this.#afterPruning(async () => {
      const store = await this.#objects()
      const lost: string[] = []
      for (const { path, after } of changes) {
        const id = after === null || after.startsWith('d') ? undefined : after.split(' ').at(-1)
        if (id !== undefined && !(await store.isIntact(id))) lost.push(path)
      }
      return lost
    })

  contentOf: Snapshots['contentOf'] = (state) => this.#afterPruning(async () => (await this.#reader()).content(state))

  merge: Snapshots['merge'] = async ({ run_id, from, into }) => {
    const writer = mergeWriter(run_id)
    const [base] = await this.#refs.treesOf(run_id)
    const theirs = await this.#completeTree(from)
    const ours = await this.#completeTree(into)
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

  forget: Snapshots['forget'] = (run_ids) =>
    this.#alone(async () => {
      try {
        for (const run_id of run_ids.flatMap((id) => [id, `merge-${id}`])) await this.#remove(run_id)
        const named = [...(await this.#refs.allTrees()), ...(await this.#namedTrees()).map(({ tree }) => tree)]
        await (await this.#objects()).prune([...named, ...this.#latest])
      } catch (thrown) {
        const { folder, warn } = this.#options
        warn(`cannot remove old snapshots: ${asTirelessError(thrown).message}`, { workspace: folder })
      } finally {
        // Whatever was removed, no list may name it.
        this.#cache.clear()
      }
    })

  check: Snapshots['check'] = (fix) => {
    const find = async () => ({ ...(await this.#findLost()), isFixed: false, repaired: 0 })
    // Runs go on meanwhile; only a repair must not meet a snapshot that is being written.
    if (!fix) return this.#afterPruning(find)
    return this.#alone(async () => {
      const before = await find()
      if (before.lost.length === 0) return before
      const store = await this.#objects()
      store.distrust()
      this.#cache.clear()
      // What was lost may still be in a workspace; a snapshot of it writes damaged and missing objects again.
      for (const workspace of new Set((await this.#namedTrees()).map((named) => named.workspace)))
        if (existsSync(workspace)) await this.#write(workspace, { isThorough: true }).catch(() => undefined)
      const after = await this.#findLost()
      await this.#takeOut(after.trees)
      return { ...after, isFixed: true, repaired: before.lost.length - after.lost.length }
    })
  }

  /** The newest snapshots come first; equal ones count once. */
  async #findLost() {
    const check = new ObjectCheck(await this.#objects())
    const [trees, lost] = [new Map<string, readonly string[] | null>(), new Map<string, Set<string> | null>()]
    const named = [...(await this.#namedTrees()), ...(await this.#refs.named())]
    let checked = 0
    for (const { writer, tree } of named) {
      if (check.isOver && !trees.has(tree)) continue
      checked += 1
      const paths = await check.lostPaths(tree)
      if (paths?.length === 0) continue
      trees.set(tree, paths)
      const known = lost.get(writer)
      lost.set(writer, paths === null || known === null ? null : new Set([...(known ?? []), ...paths]))
    }
    const files = [...lost].map(
      ([writer, paths]): LostFiles => ({ writer, paths: paths && [...paths].map(readablePath).sort() }),
    )
    return { ...check.found, snapshots: named.length, checked, lost: files, trees: [...trees.keys()] }
  }

  async #takeOut(trees: readonly string[]): Promise<void> {
    const store = await this.#objects()
    const changed = new Map<string, string | undefined>()
    for (const tree of trees) changed.set(tree, await writeWithoutLost(store, tree))
    if (changed.size === 0) return
    for (const writer of await this.#log.writers()) await this.#log.replaceTrees(writer, changed)
    await this.#refs.replaceTrees(changed)
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

  /** Contract: the id of the workspace's tree. */
  async #write(workspace: string, { isThorough }: { readonly isThorough: boolean }): Promise<string> {
    const { clock, limits = TREE_LIMITS } = this.#options
    const known = this.#cache.filesOf(workspace)
    const tree = await writeWorkspaceTree(await this.#objects(), workspace, known, {
      now: clock.now(),
      limits,
      isThorough,
    })
    this.#latest.push(tree)
    if (this.#latest.length > MAX_LATEST) this.#latest.shift()
    return tree
  }

  /** Contract: once for what is left out, and again when it is something else. */
  #tellLeftOut(workspace: string): void {
    const { leftOut } = this.#cache.filesOf(workspace)
    const paths = [...leftOut].slice(0, MAX_TOLD).map(([path, why]) => `${readablePath(path)} (${why})`)
    const text = paths.length === 0 ? '' : `left out ${leftOut.size} paths: ${paths.join(', ')}`
    if (text !== '' && this.#told.get(workspace) !== text) this.#options.warn(text, { workspace })
    this.#told.set(workspace, text)
  }

  /** The id of the workspace's tree; undefined if it cannot be stored as a whole: work would be lost in a merge. */
  #completeTree(workspace: string): Promise<string | undefined> {
    return this.#afterPruning(async () => {
      try {
        const tree = await this.#write(workspace, { isThorough: true })
        const omitted = await (await this.#reader()).omitted(tree)
        if (![...omitted.values()].includes('too_large')) return tree
        throw new TirelessError('workspace_refused', 'the workspace is too large to be merged')
      } catch (thrown) {
        this.#options.warn(asTirelessError(thrown).message, { workspace })
        return undefined
      }
    })
  }

  /** Every snapshot in the log, newest first. */
  async #namedTrees(): Promise<
    readonly { readonly writer: string; readonly tree: string; readonly workspace: string }[]
  > {
    const writers = await this.#log.writers()
    const lines = await Promise.all(
      writers.map(async (writer) => (await this.#log.read(writer)).map((line) => ({ ...line, writer }))),
    )
    return lines
      .flat()
      .filter(({ kind }) => kind !== 'missed')
      .toSorted((a, b) => b.at - a.at)
  }

  async #changing(root: string, id: string): Promise<ChangingWorkspace> {
    const reader = await this.#reader()
    return { root, id, contentOf: (state) => reader.content(state) }
  }

  async #reader(): Promise<TreeReader> {
    return new TreeReader(await this.#objects())
  }

  #objects(): Promise<ObjectStore> {
    this.#opened ??= openObjectStore(this.#options.folder, () => this.#options.clock.now())
    // What failed is tried again: a full disk may have room later.
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }

  /** Contract: runs while no snapshot is written or read. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#pruned.then(async () => {
      await Promise.all(this.#running)
      return work()
    })
    this.#pruned = done.then(
      () => {},
      () => {},
    )
    return done
  }

  async #afterPruning<T>(work: () => Promise<T>): Promise<T> {
    for (let awaited: Promise<void> | undefined; awaited !== this.#pruned; ) {
      awaited = this.#pruned
      await awaited
    }
    const done = work()
    const settled = done.catch(() => {}).finally(() => this.#running.delete(settled))
    this.#running.add(settled)
    return done
  }
}

/** The writer of a merge, and how much of the run's id names the folder of its conflicts. */
const mergeWriter = (run_id: string): string => `merge-${run_id}`
const SHORT_ID = 8

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

  clear(): void {
    this.#lists.clear()
  }
}
