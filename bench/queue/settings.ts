/** How each queue is used: for throughput, as its documentation recommends. The results list it. */

export const TIRELESS_BATCH = 100
/** Loops per process that claim and settle. */
export const LOOPS = 2
/** Runs at the same time per kernel. */
export const KERNEL_SLOTS = 64

/** Fetches and completes whole batches, in several loops per process, as `work` with `burstWhenBatchFull` does. */
export const PG_BOSS = { batchSize: 100, loops: 4 } as const

/** From its page on performance. */
export const GRAPHILE_WORKER = {
  ...{ concurrentJobs: 24, maxPoolSize: 25, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  localQueue: { size: 500 },
} as const

/** Jobs are removed when they are done, which is its cheapest way to end one. */
export const BULLMQ = { concurrency: 50 } as const
