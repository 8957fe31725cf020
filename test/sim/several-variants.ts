/** Several broken processes: leases by the wrong clock, leaders without a fence, processes that hear nothing. */

import type { Batch, Op } from '../../src/ports/store.ts'
import type { Variant } from './variants.ts'

const OUTBOX_OPS: ReadonlySet<Op['op']> = new Set(['delivered', 'undelivered', 'part_sent', 'postpone'])

const withoutLeader = ({ leader: _, ...batch }: Batch): Batch => batch

export const SEVERAL_VARIANTS: readonly Variant[] = [
  { name: 'lease-on-workers-clock', seed: 44, leaseOnWorkersClock: true },
  {
    // What a former leader records about its deliveries is taken.
    name: 'no-fence-on-outbox',
    seed: 44,
    rewriteBatches: (batches) =>
      batches.map((batch) => (batch.ops.some(({ op }) => OUTBOX_OPS.has(op)) ? withoutLeader(batch) : batch)),
  },
  { name: 'leader-without-token', seed: 83, rewriteBatches: (batches) => batches.map(withoutLeader) },
  { name: 'notify-lost', seed: 122, withoutChanges: true },
]
