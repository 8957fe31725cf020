/**
 * Snapshots of workspaces, in one bare repository of the home: one ref for each step that wrote files. They are
 * not fsynced: if a snapshot is lost, a fork starts from the present files instead.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asTirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Snapshots } from '../../../ports/snapshots.ts'
import { copyFolder } from '../choose-workspace.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import {
  type KnownFiles,
  restoreTree,
  TREE_LIMITS,
  type TreeLimits,
  WorkspaceTooLargeError,
  writeWorkspaceTree,
} from './workspace-tree.ts'

export interface SnapshotOptions {
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

export function createWorkspaceSnapshots({ folder, clock, warn, limits = TREE_LIMITS }: SnapshotOptions): Snapshots {
  let opened: Promise<ObjectStore> | undefined
  const objects = (): Promise<ObjectStore> => {
    opened ??= openObjectStore(folder)
    return opened
  }
  const cache = new Map<string, KnownFiles>()
  /** Workspaces that are too large. This process does not try again, because each attempt reads many files. */
  const tooLarge = new Set<string>()
  // Pruning must not run while a snapshot is being written.
  const running = new Set<Promise<unknown>>()
  let pruned: Promise<void> = Promise.resolve()
  const afterPruning = async <T>(work: () => Promise<T>): Promise<T> => {
    await pruned
    const done = work()
    const settled = done.catch(() => {}).finally(() => running.delete(settled))
    running.add(settled)
    return done
  }
  const refsOf = (run_id: string): string => join(folder, 'refs', 'steps', run_id)

  function cachedFiles(workspace: string): KnownFiles {
    const files: KnownFiles = cache.get(workspace) ?? new Map()
    cache.delete(workspace)
    cache.set(workspace, files)
    const [oldest] = cache.keys()
    if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest)
    return files
  }

  function writeRef(run_id: string, turn: number, tree: string): void {
    mkdirSync(refsOf(run_id), { recursive: true, mode: 0o700 })
    writeFileSync(join(refsOf(run_id), String(turn)), `${tree}\n`)
  }

  /** The snapshots of a run, oldest first. */
  async function treesOf(run_id: string): Promise<readonly { readonly turn: number; readonly tree: string }[]> {
    const names = await readdir(refsOf(run_id)).catch(() => [])
    const turns = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const read = async (turn: number) => ({
      turn,
      tree: (await readFile(join(refsOf(run_id), String(turn)), 'utf8')).trim(),
    })
    const found = await Promise.all(turns.sort((a, b) => a - b).map(read))
    // A killed process may have left an incomplete ref.
    return found.filter(({ tree }) => /^[0-9a-f]{40}$/.test(tree))
  }

  return {
    take: (workspace, { run_id, turn }) =>
      afterPruning(async () => {
        if (tooLarge.has(workspace)) return
        try {
          const options = { now: clock.now(), limits }
          writeRef(run_id, turn, await writeWorkspaceTree(await objects(), workspace, cachedFiles(workspace), options))
        } catch (thrown) {
          if (thrown instanceof WorkspaceTooLargeError) tooLarge.add(workspace)
          // Removes the run's other snapshots too: otherwise a later fork would use an older snapshot for this step.
          await rm(refsOf(run_id), { recursive: true, force: true }).catch(() => {})
          warn(asTirelessError(thrown).message, { workspace })
        }
      }),
    hasAny: async (run_id) => existsSync(refsOf(run_id)),
    copyTo: (target, { workspace, step, as }) =>
      afterPruning(async () => {
        await copyFolder(workspace, target)
        const trees = await treesOf(step.run_id)
        const upTo = trees.filter(({ turn }) => turn <= step.turn)
        // The first snapshot precedes every write of the run, so it is also right for all earlier steps.
        const found = upTo.at(-1) ?? trees[0]
        if (!found) return 'now'
        await restoreTree(await objects(), found.tree, target)
        for (const { turn, tree } of upTo.length > 0 ? upTo : [found]) writeRef(as, Math.min(turn, step.turn), tree)
        return 'kept'
      }),
    forget(run_ids) {
      pruned = pruned.then(async () => {
        await Promise.all(running)
        try {
          for (const run_id of run_ids) await rm(refsOf(run_id), { recursive: true, force: true })
          const left = await readdir(join(folder, 'refs', 'steps')).catch(() => [])
          const trees = (await Promise.all(left.map(treesOf))).flat().map(({ tree }) => tree)
          await (await objects()).prune(trees)
        } catch (thrown) {
          warn(`cannot remove old snapshots: ${asTirelessError(thrown).message}`, { workspace: folder })
        }
      })
      return pruned
    },
  }
}
