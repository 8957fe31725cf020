/** The report of the queue suite. Pure. */

import { barsTable, headOf, spread, table, whole } from '../report.ts'
import type { QueueResults, QueueRow } from './queue.ts'
import { STEPPERS } from './steps.ts'
import { QUEUES } from './subjects.ts'

export function queueReport(results: QueueResults): string {
  const { rows, depths, peers } = results
  return [
    ...headOf(results),
    ...[...new Set(depths)].flatMap((waiting) => ['', crewTable(rows, waiting)]),
    '',
    'A job does nothing. It counts when its end is on disk; each server syncs before it answers. CPU: milliseconds',
    'per job, of all worker processes and of the server; cores: what both use of the machine. Medians; ± is half the',
    'range.',
    '',
    delayTable(results),
    '',
    stepTable(results),
    '',
    'A step: one model answer and one tool call, each durable before the next: two steps of DBOS, or two runs of',
    'Restate.',
    Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    barsTable(results),
  ].join('\n')
}

function crewTable(rows: readonly QueueRow[], waiting: number): string {
  const head = ['processes', 'jobs/s', '±', 'client CPU', 'server CPU', 'cores', 'WAL bytes', 'commits', 'rows read']
  return table(
    [`${whole(waiting)} jobs wait`, ...head],
    (Object.keys(QUEUES) as (keyof typeof QUEUES)[]).flatMap((name) =>
      rows
        .filter((row) => row.subject === name && row.waiting === waiting)
        .map(({ workers, perSecond, clientCpuMs, serverCpuMs, use }) => [
          ...[QUEUES[name].title, String(workers), whole(perSecond.median), spread(perSecond)],
          ...[clientCpuMs.median.toFixed(3), serverCpuMs.median.toFixed(3)],
          ((perSecond.median * (clientCpuMs.median + serverCpuMs.median)) / 1000).toFixed(1),
          ...(use ? [whole(use.walBytes), use.commits.toFixed(3), use.rowsRead.toFixed(1)] : ['', '', '']),
        ]),
    ),
  )
}

function delayTable({ delays, fills, depths }: QueueResults): string {
  const head = ['sent until started: p50', 'p99', 'jobs', 'added in bulk a second']
  return table(
    ['single jobs', ...head],
    delays.map(({ subject, p50Ms, p99Ms, samples }) => {
      const fill = fills.find((row) => row.subject === subject && row.jobs >= depths[1])
      const added = fill ? whole(fill.perSecond) : ''
      return [QUEUES[subject].title, `${p50Ms.toFixed(2)} ms`, `${p99Ms.toFixed(2)} ms`, String(samples), added]
    }),
  )
}

function stepTable({ steps }: QueueResults): string {
  return table(
    ['durable steps', 'sessions', 'steps', 'steps/s', '±', 'client CPU ms', 'server CPU ms'],
    steps.map(({ subject, sessions, steps: count, perSecond, clientCpuMs, serverCpuMs }) => [
      ...[STEPPERS[subject].title, String(sessions), String(count), whole(perSecond.median), spread(perSecond)],
      ...[clientCpuMs.median.toFixed(3), serverCpuMs.median.toFixed(3)],
    ]),
  )
}
