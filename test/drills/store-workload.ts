/** The workload of `store-worker.ts`: what became of the acknowledged commits. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Workload } from './workload.ts'

export const RECORDS_PER_DISPATCH = 3

export const storeWorkload: Workload = {
  worker: join(import.meta.dirname, 'store-worker.ts'),

  async prepare(url) {
    await (await open(url)).close()
  },

  async check(url, acknowledged) {
    const store = await open(url)
    try {
      const lost: string[] = []
      const incomplete: string[] = []
      for (const [id, lines] of groupById(acknowledged)) {
        const [dispatch, journal] = [await store.dispatch(id), await store.journal(`session-${id}`)]
        const isThere = (line: string): boolean => {
          const [what, , seq] = line.split(' ')
          if (what === 'appended') return journal.length >= Number(seq)
          return what === 'settled' ? dispatch?.status === 'done' : dispatch !== undefined
        }
        lost.push(...lines.filter((line) => !isThere(line)))
        const isInOrder = journal.every(({ seq }, at) => seq === at + 1)
        const isWhole = dispatch?.status !== 'done' || journal.length === RECORDS_PER_DISPATCH
        if (!isInOrder || !isWhole) incomplete.push(id)
      }
      return { lost, incomplete, doubled: repeated(acknowledged) }
    } finally {
      await store.close()
    }
  },
}

const open = (url: string): Promise<Store> => openPostgresStore({ url, clock: systemClock, writerId: randomUUID() })

const groupById = (lines: readonly string[]): Map<string, string[]> =>
  Map.groupBy(lines, (line) => line.split(' ')[1] ?? '')

function repeated(lines: readonly string[]): string[] {
  const seen = new Set<string>()
  return lines.filter((line) => seen.has(line) || !seen.add(line))
}
