/** Ratios and bars of the queue suite. Pure. */

import { atLeast, type Bar } from '../bars.ts'
import { higher, lower, quotient, type Ratio } from '../ratios.ts'
import type { QueueResults, QueueRow } from './queue.ts'
import { STEPPERS, type StepperName, type StepRow } from './steps.ts'
import { QUEUES, type QueueName } from './subjects.ts'

type Figures = Pick<QueueResults, 'rows' | 'delays' | 'fills' | 'steps' | 'depths'>

const PEERS: readonly QueueName[] = ['pg-boss', 'graphile-worker', 'bullmq', 'bare']
const STEP_PEERS: readonly StepperName[] = ['dbos', 'restate']

const rowsAt = (rows: readonly QueueRow[], subject: QueueName, waiting: number): readonly QueueRow[] =>
  rows.filter((row) => row.subject === subject && row.waiting === waiting)

/** Contract: the highest speed over all numbers of processes; each queue is best at another one. */
function bestOf(rows: readonly QueueRow[], subject: QueueName, waiting: number): QueueRow | undefined {
  return rowsAt(rows, subject, waiting).toSorted((a, b) => b.perSecond.median - a.perSecond.median)[0]
}

const speedOf = (rows: readonly QueueRow[], subject: QueueName, waiting: number): number | undefined =>
  bestOf(rows, subject, waiting)?.perSecond.median

const stepRow = (steps: readonly StepRow[], name: StepperName): StepRow | undefined =>
  steps.find(({ subject }) => subject === name)

export function queueRatios({ rows, delays, fills, steps, depths }: Figures): readonly Ratio[] {
  const [few, many] = depths
  const alone = (subject: QueueName): QueueRow | undefined =>
    rowsAt(rows, subject, few).find(({ workers }) => workers === Math.min(...rows.map((row) => row.workers)))
  const fillOf = (name: QueueName): number | undefined =>
    fills.find(({ subject, jobs }) => subject === name && jobs >= many)?.perSecond
  const delayOf = (name: QueueName): number | undefined => delays.find(({ subject }) => subject === name)?.p50Ms
  return [
    ...PEERS.flatMap((peer) => {
      const against = `against ${QUEUES[peer].title}`
      return [
        ...(
          [
            ['few', few],
            ['many', many],
          ] as const
        ).map(([title, waiting]) =>
          higher(
            `jobs a second of the store ${against}, ${title} waiting`,
            quotient(speedOf(rows, 'store', waiting), speedOf(rows, peer, waiting)),
          ),
        ),
        lower(
          `client CPU a job of the store ${against}, one process`,
          quotient(alone('store')?.clientCpuMs.median, alone(peer)?.clientCpuMs.median),
        ),
        lower(
          `server CPU a job of the store ${against}, one process`,
          quotient(alone('store')?.serverCpuMs.median, alone(peer)?.serverCpuMs.median),
        ),
        lower(`delay of a single job of the store ${against}`, quotient(delayOf('store'), delayOf(peer))),
        higher(`jobs added a second ${against}`, quotient(fillOf('store'), fillOf(peer))),
      ]
    }),
    ...(['store', 'kernel'] as const).map((name) =>
      higher(
        `jobs a second of the ${name}, many waiting against few`,
        quotient(speedOf(rows, name, many), speedOf(rows, name, few)),
      ),
    ),
    higher(
      'jobs a second of the kernel against the store',
      quotient(speedOf(rows, 'kernel', few), speedOf(rows, 'store', few)),
    ),
    ...STEP_PEERS.flatMap((peer) => stepRatios(steps, peer)),
  ]
}

function stepRatios(steps: readonly StepRow[], peer: StepperName): readonly Ratio[] {
  const [ours, theirs] = [stepRow(steps, 'tireless'), stepRow(steps, peer)]
  const title = STEPPERS[peer].title
  return [
    higher(
      `steps a second against ${title}, many sessions`,
      quotient(ours?.perSecond.median, theirs?.perSecond.median),
    ),
    lower(
      `client CPU a step against ${title}, many sessions`,
      quotient(ours?.clientCpuMs.median, theirs?.clientCpuMs.median),
    ),
    lower(
      `server CPU a step against ${title}, many sessions`,
      quotient(ours?.serverCpuMs.median, theirs?.serverCpuMs.median),
    ),
  ]
}

const TIMES = { unit: '×', digits: 2 }

export function queueBars({ rows, steps, depths }: Figures): readonly Bar[] {
  const times = (peer: QueueName, waiting: number) =>
    quotient(speedOf(rows, 'store', waiting), speedOf(rows, peer, waiting))
  const stepTimes = (peer: StepperName) =>
    quotient(stepRow(steps, 'tireless')?.perSecond.median, stepRow(steps, peer)?.perSecond.median)
  return [
    ...depths.flatMap((waiting) => {
      const of = (peer: QueueName): string =>
        `jobs a second, × ${QUEUES[peer].title}, ${waiting.toLocaleString('en-US')} waiting`
      return [
        atLeast('P2', of('pg-boss'), 2, times('pg-boss', waiting), TIMES),
        atLeast('P2', of('bullmq'), 1, times('bullmq', waiting), TIMES),
        atLeast('P2', of('bare'), 0.7, times('bare', waiting), TIMES),
      ]
    }),
    atLeast('P1', 'steps a second, × DBOS, 64 sessions', 5, stepTimes('dbos'), TIMES),
    atLeast('P1', 'steps a second, × Restate, 64 sessions', 2, stepTimes('restate'), TIMES),
  ]
}
