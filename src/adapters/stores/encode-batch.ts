/** Encodes batches for the writer. Records become JSON text here, which is cheaper to pass to a thread than objects. */

import { asTirelessError } from '../../domain/error.ts'
import type { Batch, Fence, LeaderFence, Op } from '../../ports/store.ts'
import { describeUnstorable } from './check-storable.ts'

type Append = Extract<Op, { op: 'append' }>

export type EncodedOp =
  | Exclude<Op, Append>
  | {
      readonly op: 'append'
      readonly session_id: string
      /** `seq`: number of the first record. `count`: how many records `body` contains. */
      readonly seq: number
      readonly count: number
      readonly body: string
    }

export interface EncodedBatch {
  readonly fence?: Fence
  readonly leader?: LeaderFence
  readonly ops: readonly EncodedOp[]
  /** If set, the batch is refused for this reason. */
  readonly refusal?: string
}

/**
 * Contract: never throws. An invalid batch is marked as refused, so that the other batches of the commit still succeed.
 */
export function encodeBatch({ ops, ...fences }: Batch): EncodedBatch {
  try {
    for (const op of ops) {
      const refusal = describeUnstorable(op)
      if (refusal !== undefined) return { ops: [], refusal: refusal }
    }
    const written = ops.map((op) => (op.op === 'append' ? encodeAppend(op) : op))
    return { ...fences, ops: written }
  } catch (thrown) {
    return { ops: [], refusal: asTirelessError(thrown).message }
  }
}

function encodeAppend({ op, session_id, records }: Append): EncodedOp {
  const seq = records[0]?.seq ?? 0
  // Gaps are detected here, because the writer compares only the number of the first record with the session's head.
  const isGapless = records.length > 0 && records.every((record, i) => record.seq === seq + i)
  return { op, session_id, seq: isGapless ? seq : -1, count: records.length, body: JSON.stringify(records) }
}
