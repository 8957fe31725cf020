/** Broken kernels: beats that fire twice, a STATE.md that can be torn, cycles that lose results. */

import type { DocumentFiles } from '../../src/adapters/documents/files.ts'
import type { Sql } from '../../src/adapters/stores/sqlite/sql.ts'
import { ENDED_DURING_CYCLE } from '../../src/domain/cycle.ts'
import type { Variant } from './variants.ts'

export const KERNEL_VARIANTS: readonly Variant[] = [
  {
    // Every leader that fires a beat is told that it was the first.
    name: 'tick-without-key',
    seed: 13,
    ops: (ops) => ({ ...ops, schedule_fired: (sql, op, held) => ops.schedule_fired(withoutBeatKey(sql), op, held) }),
  },
  { name: 'beat-never-marked', seed: 13, ops: (ops) => ({ ...ops, schedule_fired: () => ({ first: true }) }) },
  { name: 'torn-state', files: writeInTwoHalves },
  {
    // Overwrites the file, whatever it contains by now.
    name: 'state-over-an-edit',
    files: (files) => ({
      ...files,
      async replace(name, text) {
        while (!(await files.replace(name, text, await files.read(name))));
        return true
      },
    }),
  },
  {
    name: 'cycle-never-ended',
    ops: (ops) => ({
      ...ops,
      cycle_end: (sql, op, held) => (op.result.error === ENDED_DURING_CYCLE ? null : ops.cycle_end(sql, op, held)),
      cycle_begin(sql, op, held) {
        const begun = ops.cycle_begin(sql, op, held)
        sql('UPDATE cycles SET ended_at = NULL, result = NULL WHERE cycle_id IN (SELECT value FROM json_each(?))').run(
          JSON.stringify(begun.interrupted),
        )
        return begun
      },
    }),
  },
  {
    // The cycle waits for its dispatches, however many beats pass.
    name: 'cycle-waits-past-its-beat',
    seed: 8,
    wrapWakeSignal: (wakeSignal, stop) => ({ ...wakeSignal, wait: (since) => wakeSignal.wait(since, stop) }),
  },
  {
    // A single cycle works only on dispatches that are newer than its process.
    name: 'once-leaves-orphans',
    rewriteBatches(batches, { plan, mirror }) {
      const rows = [...mirror.dispatches.values()]
      return batches.map((batch) => ({
        ...batch,
        ops: batch.ops.map((op) => {
          if (op.op !== 'claim' || !plan.kernel?.single) return op
          const own = rows
            .filter(({ n }) => n > (mirror.joined.get(op.epoch) ?? 0))
            .map(({ dispatch_id }) => dispatch_id)
          return { ...op, only: op.only?.filter((id) => own.includes(id)) ?? own }
        }),
      }))
    },
  },
  // A bug that the crash tests found, put back.
  {
    name: 'cycle-forgets-what-was-left',
    ops: (ops) => ({
      ...ops,
      cycle_begin(sql, op, held) {
        const begun = ops.cycle_begin(sql, op, held)
        sql("UPDATE cycles SET open = '[]' WHERE cycle_id = ?").run(op.cycle_id)
        return begun
      },
    }),
  },
]

const KEY = ' WHERE until < ?2'

function withoutBeatKey(sql: Sql): Sql {
  return (text) => {
    if (!text.includes(KEY)) throw new Error(`the statement does not contain the clause to remove: ${text}`)
    return sql(text.replace(KEY, ''))
  }
}

/** Writes in place: a crash between the two halves leaves half a text. */
function writeInTwoHalves(
  files: DocumentFiles,
  step: (what: string, work: () => void) => Promise<void>,
): DocumentFiles {
  return {
    ...files,
    async replace(name, text, over) {
      const half = text.slice(0, Math.floor(text.length / 2))
      if (!(await files.replace(name, half, over))) return false
      await step(`half of ${name}`, () => {})
      return files.replace(name, text, { kind: 'text', text: half })
    },
  }
}
