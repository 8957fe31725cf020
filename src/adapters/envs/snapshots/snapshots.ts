/**
 * Snapshots of workspaces in one bare repository of the home: a ref for each step that wrote. Not fsynced: a snapshot that is lost costs a
 * fork its files, nothing else.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asTirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Snapshots } from '../../../ports/snapshots.ts'
import { copyFolder } from '../workspace.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import { type KnownFiles, layOut, TooLarge, TREE_LIMITS, type TreeLimits, writeWorkspace } from './workspace-tree.ts'

export interface SnapshotOptions {
  /** A larger workspace has no snapshots. */
  readonly limits?: TreeLimits
  /** The bare repository. */
  readonly folder: string
  readonly clock: Clock
  /** Told why a snapshot is missing. */
  readonly warn: (message: string, about: { readonly workspace: string }) => void
}

/** Workspaces whose files are remembered, so that only what changed is read again. */
const MOST_REMEMBERED = 32

export function workspaceSnapshots({ folder, clock, warn, limits = TREE_LIMITS }: SnapshotOptions): Snapshots {
  let opened: Promise<ObjectStore> | undefined
  const objects = (): Promise<ObjectStore> => {
    opened ??= openObjectStore(folder)
    return opened
  }
  const remembered = new Map<string, KnownFiles>()
  /** Not tried again in this process: each try would read up to the limits. */
  const tooLarge = new Set<string>()
  // Pruning must not meet a snapshot that is half written.
  const underWay = new Set<Promise<unknown>>()
  let pruned: Promise<void> = Promise.resolve()
  const besidePruning = async <T>(work: () => Promise<T>): Promise<T> => {
    await pruned
    const done = work()
    const settled = done.catch(() => {}).finally(() => underWay.delete(settled))
    underWay.add(settled)
    return done
  }
  const refsOf = (run_id: string): string => join(folder, 'refs', 'steps', run_id)

  function filesOf(workspace: string): KnownFiles {
    const files: KnownFiles = remembered.get(workspace) ?? new Map()
    remembered.delete(workspace)
    remembered.set(workspace, files)
    const [oldest] = remembered.keys()
    if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
    return files
  }

  function point(run_id: string, turn: number, tree: string): void {
    mkdirSync(refsOf(run_id), { recursive: true, mode: 0o700 })
    writeFileSync(join(refsOf(run_id), String(turn)), `${tree}\n`)
  }

  /** By turn, oldest first. */
  async function treesOf(run_id: string): Promise<readonly { readonly turn: number; readonly tree: string }[]> {
    const names = await readdir(refsOf(run_id)).catch(() => [])
    const turns = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const read = async (turn: number) => ({
      turn,
      tree: (await readFile(join(refsOf(run_id), String(turn)), 'utf8')).trim(),
    })
    const found = await Promise.all(turns.sort((a, b) => a - b).map(read))
    // A kill may have left one half written.
    return found.filter(({ tree }) => /^[0-9a-f]{40}$/.test(tree))
  }

  return {
    take: (workspace, { run_id, turn }) =>
      besidePruning(async () => {
        if (tooLarge.has(workspace)) return
        try {
          const when = { now: clock.now(), limits }
          point(run_id, turn, await writeWorkspace(await objects(), workspace, filesOf(workspace), when))
        } catch (thrown) {
          if (thrown instanceof TooLarge) tooLarge.add(workspace)
          // A later fork must not take an older snapshot for this step's.
          await rm(refsOf(run_id), { recursive: true, force: true }).catch(() => {})
          warn(asTirelessError(thrown).message, { workspace })
        }
      }),
    hasAny: async (run_id) => existsSync(refsOf(run_id)),
    copyTo: (target, { workspace, step, as }) =>
      besidePruning(async () => {
        await copyFolder(workspace, target)
        const trees = await treesOf(step.run_id)
        const upTo = trees.filter(({ turn }) => turn <= step.turn)
        // The first was taken before the run wrote anything, so it holds for every step before it, too.
        const found = upTo.at(-1) ?? trees[0]
        if (!found) return 'now'
        await layOut(await objects(), found.tree, target)
        for (const { turn, tree } of upTo.length > 0 ? upTo : [found]) point(as, Math.min(turn, step.turn), tree)
        return 'kept'
      }),
    forget(run_ids) {
      pruned = pruned.then(async () => {
        await Promise.all(underWay)
        try {
          for (const run_id of run_ids) await rm(refsOf(run_id), { recursive: true, force: true })
          const left = await readdir(join(folder, 'refs', 'steps')).catch(() => [])
          const trees = (await Promise.all(left.map(treesOf))).flat().map(({ tree }) => tree)
          await (await objects()).prune(trees)
        } catch (thrown) {
          warn(`old snapshots were not removed: ${asTirelessError(thrown).message}`, { workspace: folder })
        }
      })
      return pruned
    },
  }
}
