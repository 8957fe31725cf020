/** Checks all journals in one pass: each entry must follow the last one of its session. */

import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import type { StoredRow } from './columns.ts'
import { parseEntry } from './journal-entries.ts'

interface JournalChain {
  readonly id: string
  readonly head: unknown
  readonly last: unknown
  /** `entry`: the last entry read. `seq`: the expected number of the next record. */
  entry: unknown
  seq: number
  why?: string
}

export class JournalChains {
  readonly #chains = new Map<unknown, JournalChain>()
  readonly #orphans: UnreadableRow[] = []

  addSession({ n, session_id, head, last }: StoredRow): void {
    this.#chains.set(n, { id: String(session_id), head, last, entry: null, seq: 1 })
  }

  /** Call it for all entries in write order, after all sessions were added. */
  addEntry(entry: StoredRow): void {
    const chain = this.#chains.get(entry.session)
    if (!chain) this.#orphans.push({ table: 'journal', key: String(entry.n), why: 'its session is missing' })
    else followEntry(chain, entry)
  }

  /** Contract: call it after the last entry. */
  findBad(): readonly UnreadableRow[] {
    const bad = [...this.#chains.values()].flatMap((chain): UnreadableRow[] => {
      const why = chain.why ?? describeEnd(chain)
      return why === undefined ? [] : [{ table: 'sessions', key: chain.id, why: `its journal: ${why}` }]
    })
    return [...bad, ...this.#orphans]
  }
}

/** Contract: a session whose row or journal is unreadable is listed once, as a session. */
export function mergeBadSessions(
  rows: readonly UnreadableRow[],
  journals: readonly UnreadableRow[],
): readonly UnreadableRow[] {
  const sessions = new Set(rows.filter(({ table }) => table === 'sessions').map(({ key }) => key))
  return [...rows, ...journals.filter(({ table, key }) => table !== 'sessions' || !sessions.has(key))]
}

/** Why a row is bad that could be read: what it refers to is missing or different. */
export const describeRelation = (table: string): string =>
  table === 'tally' ? 'it differs from the number of dispatches with this status' : 'its session is missing'

function followEntry(chain: JournalChain, entry: StoredRow): void {
  if (chain.why !== undefined) return
  const read =
    entry.prev === chain.entry
      ? parseEntry(entry, entry.session, chain.seq)
      : `entry ${entry.n} does not follow the previous entry`
  if (typeof read === 'string') chain.why = read
  else chain.seq += read.length
  chain.entry = entry.n
}

function describeEnd({ head, last, entry, seq }: JournalChain): string | undefined {
  if (head === seq - 1 && last === entry) return undefined
  return `it ends at record ${seq - 1}, entry ${entry}; expected record ${head}, entry ${last}`
}
