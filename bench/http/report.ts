/** The HTTP suite's table. Pure: results in, text out. */

import { barsTable, headOf, table, whole } from '../report.ts'
import { type HttpResults, serverTitle } from './http.ts'

export function httpReport(results: HttpResults): string {
  return [
    ...headOf(results),
    '',
    table(
      [
        'enqueue over HTTP',
        'requests',
        'p50 ms',
        'p99 ms',
        'max ms',
        'loop p99 ms',
        'loop max ms',
        'CPU ms',
        'steps beside',
      ],
      results.rows.map((row) => [
        serverTitle(row.server),
        whole(row.requests),
        ...[row.p50Ms, row.p99Ms, row.maxMs, row.loopP99Ms, row.loopMaxMs, row.cpuMsPerRequest].map((ms) =>
          ms.toFixed(1),
        ),
        row.stepsBeside === 0 ? '' : whole(row.stepsBeside),
      ]),
    ),
    '',
    `${results.perSecond} a second, from another process. The kernel works each task (two tool calls); half-way, a session with a long past goes on beside them. Loop: by how much`,
    'timers came late in the server. CPU: of the server’s process, over the number of requests.',
    '',
    barsTable(results),
  ].join('\n')
}
