/** Batches on their way to the writer: records become text here, once, so that a thread is handed strings and not trees of objects. */

import { asTirelessError } from '../../../domain/error.ts'
import type { Batch, Fence, Op } from '../../../ports/store.ts'
import { whyUnstorable } from './unstorable.ts'

type Append = Extract<Op, { op: 'append' }>

export type Written =
  | Exclude<Op, Append>
  | {
      readonly op: 'append'
      readonly session_id: string
      /** Of the first record, and how many there are. */
      readonly seq: number
      readonly count: number
      readonly body: string
    }

export interface WrittenBatch {
  readonly fence?: Fence
  readonly ops: readonly Written[]
  /** Why it must not be written. */
  readonly refused?: string
}

/** Contract: never throws; what cannot be kept comes back refused, so that its batch fails alone. */
export function encode({ ops, fence }: Batch): WrittenBatch {
  try {
    for (const op of ops) {
      const refused = whyUnstorable(op)
      if (refused !== undefined) return { ops: [], refused }
    }
    const written = ops.map((op) => (op.op === 'append' ? encodeAppend(op) : op))
    return fence ? { fence, ops: written } : { ops: written }
  } catch (thrown) {
    return { ops: [], refused: asTirelessError(thrown).message }
  }
}

function encodeAppend({ op, session_id, records }: Append): Written {
  const seq = records[0]?.seq ?? 0
  // A gap inside would go unseen, because only the ends are checked against the session's head.
  const whole = records.length > 0 && records.every((record, i) => record.seq === seq + i)
  return { op, session_id, seq: whole ? seq : -1, count: records.length, body: JSON.stringify(records) }
}
