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
        'background steps',
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
    `${results.perSecond} requests a second from another process. The kernel runs each task (two tool calls).`,
    'Half-way, a session with a long history continues in the background. Loop: delay of timers in the server. CPU:',
    'time of the server process per request.',
    '',
    barsTable(results),
  ].join('\n')
}
