/**
 * Todos: every move is legal, and no todo with checks is DONE unless the runtime has seen each of them pass, on a copy
 * of the workspace, since the todo last became COMPLETE.
 */

import type { Todo, TodoStatus } from '../../../src/domain/todo.ts'
import type { TodoAction } from '../../../src/domain/todo-delta.ts'
import type { Batch, BatchOutcome } from '../../../src/ports/store.ts'
import type { World } from '../world.ts'

/** The table of docs/behaviours.md and O8, written down a second time. */
const LEGAL: Readonly<Record<TodoStatus, readonly TodoStatus[]>> = {
  WAIT: ['IN_PROGRESS', 'COMPLETE', 'FAILED'],
  IN_PROGRESS: ['COMPLETE', 'FAILED', 'WAIT'],
  COMPLETE: ['DONE', 'CHECK_FAILED', 'IN_PROGRESS'],
  FAILED: ['IN_PROGRESS', 'COMPLETE'],
  CHECK_FAILED: ['IN_PROGRESS', 'COMPLETE', 'FAILED'],
  DONE: [],
}
const LEGAL_FOR_BENCH: readonly TodoStatus[] = ['DONE', 'CHECK_FAILED']

export class Todos {
  readonly #world: World
  readonly #bySession = new Map<string, readonly Todo[]>()
  /** The event at which a todo last became COMPLETE, or was added. */
  readonly #completedAt = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** The todos of a session, in the order of its plan. */
  of(session_id: string): readonly Todo[] {
    return this.#bySession.get(session_id) ?? []
  }

  /** Contract: called with every applied group of commits. */
  onCommit(batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    const ops = batches.flatMap((batch, i) => (outcomes[i]?.ok ? batch.ops : []))
    const deltas = ops.flatMap((op) => (op.op === 'todos' ? [op] : []))
    for (const session_id of new Set(deltas.map((op) => op.session_id))) {
      const actions = deltas.filter((op) => op.session_id === session_id).flatMap((op) => op.actions)
      const before = new Map(this.of(session_id).map((todo) => [todo.code, todo]))
      const now = this.#read(session_id)
      this.#bySession.set(session_id, now)
      for (const todo of now) {
        const moves = actions.filter((action) => movesTodo(action, todo.code)).length
        this.#checkMove(session_id, before.get(todo.code), todo, moves)
      }
      for (const code of before.keys())
        if (!now.some((todo) => todo.code === code)) this.#fail(session_id, `${code} was deleted`)
    }
  }

  #read(session_id: string): readonly Todo[] {
    const n = this.#world.mirror.byId.get(session_id)?.n ?? 0
    const rows = this.#world.db.prepare('SELECT body FROM todos WHERE session = ? ORDER BY n').all(n)
    return rows.map(({ body }) => JSON.parse(String(body)) as Todo)
  }

  #checkMove(session_id: string, was: Todo | undefined, is: Todo, moves: number): void {
    const key = `${session_id} ${is.code}`
    if (!was) this.#completedAt.set(key, this.#world.events)
    const from = was?.status ?? 'WAIT'
    if (from === is.status) return
    if (!canReach(is.type, from, is.status, moves)) this.#fail(session_id, `${is.code}: ${from} → ${is.status}`)
    if (is.status === 'COMPLETE') this.#completedAt.set(key, this.#world.events)
    if (is.status === 'CHECK_FAILED') this.#world.counters.add('todo failed its check')
    if (is.status !== 'DONE') return
    this.#world.counters.add(is.proof === 'proved' ? 'todo done (proved)' : 'todo done (asserted)')
    const root = [...this.#world.mirror.dispatches.values()].find(
      ({ session }) => session === this.#world.mirror.byId.get(session_id)?.n,
    )?.workspace
    for (const one of is.checks)
      if (one.kind === 'file' && !this.#hasSeen(root ?? '', one.contains ?? '', key))
        this.#world.fail(
          'no DONE without evidence',
          `${key} is DONE; no check saw ${one.contains} since it was COMPLETE`,
        )
  }

  #hasSeen(root: string, wanted: string, key: string): boolean {
    return this.#world.workspaces.hasSeen(root, wanted, this.#completedAt.get(key) ?? 0)
  }

  #fail(session_id: string, message: string): void {
    this.#world.fail('todo moves', `${session_id}: ${message}`)
  }
}

const movesTodo = (action: TodoAction, code: string): boolean =>
  action.kind === 'release' || (action.kind === 'change' && action.code === code)

function canReach(type: Todo['type'], from: TodoStatus, to: TodoStatus, moves: number): boolean {
  const legal = [...LEGAL[from], ...(type === 'Bench' && from === 'WAIT' ? LEGAL_FOR_BENCH : [])]
  return moves > 0 && legal.some((via) => via === to || canReach(type, via, to, moves - 1))
}
