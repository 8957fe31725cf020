/**
 * Which facts an undo changes: those that the chosen runs wrote end, those that they replaced are known again. Pure.
 * Must not know: how facts are stored.
 */

import type { Fact, FactStatus } from '../../domain/fact.ts'
import type { FactChange, Undo } from '../../domain/undo.ts'

export interface FactConflict {
  readonly fact: Fact
  /** The fact that took its place; undefined if it is no longer kept. */
  readonly by: Fact | undefined
}

interface FactUndo {
  readonly changes: readonly FactChange[]
  readonly conflicts: readonly FactConflict[]
}

interface Current {
  readonly status: FactStatus
  readonly ended_by: string | null
}

/** Contract: pure; `all` newest first, `isChosen` says whether a chosen run wrote the fact. */
export function planFactUndo(
  all: readonly Fact[],
  isChosen: (fact: Fact) => boolean,
  { undo, now }: { readonly undo: string; readonly now: number },
): FactUndo {
  const current = new Map<string, Current>(all.map(({ id, status, ended_by }) => [id, { status, ended_by }]))
  const replacedBy = Map.groupBy(all, ({ ended_by }) => ended_by)
  const conflicts: FactConflict[] = []
  for (const fact of all.filter(isChosen)) {
    const { status, ended_by } = current.get(fact.id) ?? fact
    if (status === 'superseded') conflicts.push({ fact, by: all.find(({ id }) => id === ended_by) })
    if (status !== 'known') continue
    current.set(fact.id, { status: 'undone', ended_by: undo })
    for (const earlier of replacedBy.get(fact.id) ?? [])
      if (isRestorable(earlier, now)) current.set(earlier.id, { status: 'known', ended_by: null })
  }
  return { changes: changesTo(all, current), conflicts }
}

const isRestorable = ({ status, expires_at }: Fact, now: number): boolean =>
  (status === 'superseded' || status === 'dropped') && (expires_at === null || Date.parse(expires_at) > now)

function changesTo(all: readonly Fact[], current: ReadonlyMap<string, Current>): readonly FactChange[] {
  return all.flatMap(({ id, status }) => {
    const next = current.get(id)
    return !next || next.status === status ? [] : [{ id, from: status, to: next.status, ended_by: next.ended_by }]
  })
}

/** Contract: pure; the changes that take an undo's changes back. A fact that changed since is a conflict. */
export function planFactRedo(all: readonly Fact[], { facts }: Undo): FactUndo {
  const byId = new Map(all.map((fact) => [fact.id, fact]))
  const undone = facts.filter(({ to }) => to === 'undone').map(({ id }) => id)
  const conflicts: FactConflict[] = []
  const changes = facts.flatMap(({ id, from, to }) => {
    const fact = byId.get(id)
    if (!fact) return []
    if (fact.status !== to && to === 'known') {
      conflicts.push({ fact, by: all.find((other) => other.id === fact.ended_by) })
      return []
    }
    // What took the place of a fact that ends again: the fact of the same key that comes back.
    const successor = undone.find(
      (other) => byId.get(other)?.key === fact.key && byId.get(other)?.agent_id === fact.agent_id,
    )
    return [{ id, from: to, to: from, ended_by: from === 'known' ? null : (successor ?? null) }]
  })
  const taken = changes.filter(({ to }) => to === 'known').flatMap(({ id }) => knownRival(all, changes, byId.get(id)))
  return { changes, conflicts: [...conflicts, ...taken] }
}

/** Another fact of the key that is known now, and would stay so. */
function knownRival(
  all: readonly Fact[],
  changes: readonly FactChange[],
  fact: Fact | undefined,
): readonly FactConflict[] {
  if (!fact) return []
  const rival = all.find(
    ({ id, status, agent_id, key }) =>
      status === 'known' &&
      id !== fact.id &&
      agent_id === fact.agent_id &&
      key === fact.key &&
      !changes.some((change) => change.id === id),
  )
  return rival ? [{ fact, by: rival }] : []
}
