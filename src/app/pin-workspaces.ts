/**
 * Which home has the files of a new session, on a store that several homes share. A folder that all homes see under the
 * same path is declared in the configuration (`workspaces.shared`); any other is on this machine only.
 */

import { readdirSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { WorkspacePin } from '../domain/session.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { homeSetting } from '../ports/store/queue.ts'
import type { Batch, Op, Store } from '../ports/store.ts'
import { pathBelow } from '../ports/stored-paths.ts'
import { homeId } from './home-id.ts'

interface PinOptions {
  /** The id and the path of this home. */
  readonly home: string
  readonly root: string
  /** Contract: the shared folders; true: all are. */
  shared(): true | readonly string[]
}

/** `needs` of a plugin that uses it: home, config. */
export function pinHere(host: PluginHost): PinOf {
  const { root } = host.get('home')
  const shared = () => host.get('config').loaded.config.workspaces.shared
  return createPinOf({ home: homeId(root), root, shared })
}

/** `isHere`: whether the session has to run in this home. */
type PinOf = (workspace: string, isHere?: boolean) => WorkspacePin | undefined

/** Who asked waits in this home, sees the run's progress there, and looks for its files there; so does a fork. */
const HERE: ReadonlySet<string> = new Set(['run', 'library', 'ask', 'fork'])

/** A folder that an agent works in: one of a session or an agent, or the inbox. */
const CAN_BE_ELSEWHERE = /^(inbox|workspaces\/[^./][^/]*)$/

/** Contract: where a new session works whose workspace was prepared in this home; undefined: in any home. */
function createPinOf({ home, root, shared }: PinOptions): PinOf {
  const roots = [...new Set([resolve(root), realpathSync(root)])]
  return (workspace, isHere = false) => {
    const sharedRoots = shared()
    if (sharedRoots === true || sharedRoots.some((one) => pathBelow(resolve(one), workspace) !== undefined))
      return undefined
    const [folder] = roots.flatMap((one) => pathBelow(one, workspace) ?? [])
    if (folder === undefined) return { home, folder: null }
    if (!isHere && CAN_BE_ELSEWHERE.test(folder) && isEmpty(workspace)) return { home: null, folder }
    // What lies in the inbox was put there on this machine, whichever home has an inbox with a session.
    return { home, folder: folder === 'inbox' ? null : folder }
  }
}

/** Adds to each new session which home has its files. The first time, the store is told the name of this machine. */
export function pinWorkspaces(store: Store, pinOf: PinOf): Store {
  const pinned = <T extends { readonly workspace: string; readonly source?: string }>(made: T): T => {
    const pin = pinOf(made.workspace, HERE.has(made.source ?? ''))
    return pin ? { ...made, pin } : made
  }
  const pinOp = (op: Op): Op => {
    if (op.op === 'enqueue') return { ...op, dispatches: op.dispatches.map(pinned) }
    return op.op === 'open_session' ? pinned(op) : op
  }
  const pinBatch = (batch: Batch): Batch => ({ ...batch, ops: batch.ops.map(pinOp) })
  const homeOf = (op: Op): string | null | undefined =>
    op.op === 'enqueue' ? op.dispatches.find(({ pin }) => pin?.home)?.pin?.home : undefined
  let isNamed = false
  return {
    ...store,
    async commit(batches) {
      const pinnedBatches = batches.map(pinBatch)
      const home = isNamed ? null : pinnedBatches.flatMap(({ ops }) => ops.map(homeOf)).find((id) => id != null)
      if (home == null) return store.commit(pinnedBatches)
      const naming: Batch = { ops: [{ op: 'set', name: homeSetting(home), value: hostname() }] }
      const [named, ...outcomes] = await store.commit([naming, ...pinnedBatches])
      isNamed = named?.ok === true
      return outcomes
    },
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
