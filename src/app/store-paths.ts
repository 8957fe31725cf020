/** Wrappers of the store that let a home move: its paths in the database are those of where it is now. */

import { workspaceKey } from '../domain/label.ts'
import type { MessageFile, OutboxMessage } from '../domain/message.ts'
import type { Session } from '../domain/session.ts'
import type { KeptByUndo, NewUndo, Undo } from '../domain/undo.ts'
import type { Op, Store } from '../ports/store.ts'
import type { StoredPaths } from '../ports/stored-paths.ts'

/** A path from the database, or on its way there. */
type ChangePath = (path: string) => string

/** Wraps a store of one home: paths below the home are relative to it in the database, and absolute for all others. */
export function withRelativePaths(store: Store, { toStored, fromStored }: StoredPaths): Store {
  const session = (found: Session): Session => changeWorkspace(found, fromStored)
  const filter = <T extends { readonly workspace?: string | undefined }>(wanted: T): T =>
    wanted.workspace === undefined ? wanted : { ...wanted, workspace: toStored(wanted.workspace) }
  return {
    ...store,
    commit: (batches) =>
      store.commit(batches.map((batch) => ({ ...batch, ops: batch.ops.map((op) => changeOp(op, toStored)) }))),
    session: (id) => store.session(id).then((found) => found && session(found)),
    sessions: (wanted) => store.sessions(wanted).then((found) => found.map(session)),
    sessionWindow: (wanted) =>
      store.sessionWindow(wanted).then(({ items, total }) => ({ items: items.map(session), total })),
    workspaces: () => store.workspaces().then((found) => found.map((one) => changeWorkspace(one, fromStored))),
    sessionsIn: async (workspaces, page) => {
      const found = await store.sessionsIn(workspaces.map(toStored), page)
      return new Map([...found].map(([workspace, ids]) => [fromStored(workspace), ids]))
    },
    allTodos: (wanted) => store.allTodos(filter(wanted)),
    todoWindow: (wanted) => store.todoWindow(filter(wanted)),
    label: (of) => store.label(changeKey(of, toStored)),
    labels: (prefix) =>
      store
        .labels(changeKey(prefix, toStored))
        .then((found) => found.map((one) => ({ ...one, of: changeKey(one.of, fromStored) }))),
    ...readMessages(store, (message) => changeFiles(message, fromStored)),
    ...readUndos(store, (undo) => changeUndo(undo, fromStored)),
  }
}

/**
 * Wraps a store that several homes share: its paths are absolute, and what was stored in a former place of this home is
 * in this one now. Sessions and labels follow the home when the store is opened.
 */
export function withOwnPaths(store: Store, { fromEarlier }: StoredPaths, homeId: string): Store {
  const undo = (one: Undo): Undo => (one.home === undefined || one.home === homeId ? changeUndo(one, fromEarlier) : one)
  const message = (one: OutboxMessage): OutboxMessage => changeFiles(one, fromEarlier)
  return { ...store, ...readUndos(store, undo), ...readMessages(store, message) }
}

const readUndos = (store: Store, change: (undo: Undo) => Undo): Pick<Store, 'undo' | 'undos' | 'unfinishedUndos'> => ({
  undo: (id) => store.undo(id).then((found) => found && change(found)),
  undos: (page) => store.undos(page).then((found) => found.map(change)),
  unfinishedUndos: () => store.unfinishedUndos().then((found) => found.map(change)),
})

const readMessages = (
  store: Store,
  change: (message: OutboxMessage) => OutboxMessage,
): Pick<Store, 'outbox' | 'dueMessages'> => ({
  outbox: (wanted) => store.outbox(wanted).then((found) => found.map(change)),
  dueMessages: (now) => store.dueMessages(now).then((found) => found.map(change)),
})

function changeOp(op: Op, change: ChangePath): Op {
  switch (op.op) {
    case 'enqueue':
      return { ...op, dispatches: op.dispatches.map((one) => changeWorkspace(one, change)) }
    case 'open_session':
      return changeWorkspace(op, change)
    case 'label':
      return { ...op, of: changeKey(op.of, change) }
    case 'undo_begin':
      return { ...op, undo: changeUndo(op.undo, change) }
    case 'undo_stop':
    case 'undo_end':
      return { ...op, kept: changeKept(op.kept, change) }
    case 'post':
      return { ...op, message: changeFiles(op.message, change) }
    default:
      return op
  }
}

const changeWorkspace = <T extends { readonly workspace: string }>(one: T, change: ChangePath): T => ({
  ...one,
  workspace: change(one.workspace),
})

const changeUndo = <T extends NewUndo & Pick<Undo, 'kept'>>(undo: T, change: ChangePath): T => ({
  ...undo,
  workspaces: undo.workspaces.map((one) => changeWorkspace(one, change)),
  ...(undo.kept !== undefined && { kept: changeKept(undo.kept, change) }),
})

/** Of a document, `workspace` is null. */
const changeKept = (kept: readonly KeptByUndo[], change: ChangePath): readonly KeptByUndo[] =>
  kept.map((one) => ({ ...one, workspace: one.workspace === null ? null : change(one.workspace) }))

function changeFiles<T extends { readonly files?: OutboxMessage['files'] }>(message: T, change: ChangePath): T {
  const { files } = message
  return files === undefined ? message : { ...message, files: files.map((file) => changeFile(file, change)) }
}

const changeFile = (file: MessageFile, change: ChangePath): MessageFile => ({
  ...file,
  path: change(file.path),
  ...(file.root !== undefined && { root: change(file.root) }),
})

/** The key of a workspace's label contains its path; other keys do not. */
function changeKey(key: string, change: ChangePath): string {
  const prefix = workspaceKey('')
  const path = key.slice(prefix.length)
  return key.startsWith(prefix) && path !== '' ? workspaceKey(change(path)) : key
}
