/** The measured queues, in display order, and what each is. */

interface QueueSubject {
  readonly title: string
  /** Below `bench/`. */
  readonly file: string
  readonly needs: 'postgres' | 'redis'
  /** Subjects of one group share a database. */
  readonly group: string
  readonly isPeer: boolean
  /** How it is used. */
  readonly how: string
}

export const QUEUES = {
  store: {
    ...{ title: 'Tireless, the store', file: 'queue/tireless-store.ts', needs: 'postgres', group: 'tireless' },
    ...{ isPeer: false, how: 'claim and settle, in batches of 100, 2 loops per process; each job has a session' },
  },
  kernel: {
    ...{ title: 'Tireless, the kernel', file: 'queue/tireless-kernel.ts', needs: 'postgres', group: 'tireless' },
    ...{ isPeer: false, how: 'start --role worker, 64 slots; each job is a run of one step, with its journal' },
  },
  'pg-boss': {
    ...{ title: 'pg-boss', file: 'peers/pg-boss.mjs', needs: 'postgres', group: 'pg-boss' },
    ...{ isPeer: true, how: 'fetch and complete, in batches of 100, 4 loops per process' },
  },
  'graphile-worker': {
    ...{ title: 'graphile-worker', file: 'peers/graphile-worker.mjs', needs: 'postgres', group: 'graphile-worker' },
    ...{
      isPeer: true,
      how: '24 concurrent jobs, local queue of 500, completes in batches; deletes jobs that are done',
    },
  },
  bullmq: {
    ...{ title: 'BullMQ', file: 'peers/bullmq.mjs', needs: 'redis', group: 'bullmq' },
    ...{ isPeer: true, how: 'concurrency 50; Redis with appendfsync always; deletes jobs that are done' },
  },
  bare: {
    ...{ title: 'PostgreSQL alone', file: 'queue/bare-postgres.ts', needs: 'postgres', group: 'bare' },
    ...{ isPeer: false, how: 'one table, two statements: take 100 rows, mark 100 rows; the limit of this server' },
  },
} as const satisfies Record<string, QueueSubject>

export type QueueName = keyof typeof QUEUES

/** Jobs are added by this one's file, if not by its own. */
export const fillerOf = (name: QueueName): string => QUEUES[name === 'kernel' ? 'store' : name].file
