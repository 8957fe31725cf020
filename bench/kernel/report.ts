/** The report of the kernel suite. Pure. */

import type { Figure } from '../measure.ts'
import { barsTable, headOf, spread, table, whole } from '../report.ts'
import type { KernelResults } from './kernel.ts'

export function kernelReport(results: KernelResults): string {
  const { pasts, growth } = results
  return [
    ...headOf(results),
    '',
    table(
      ['a cycle after', 'ms', '±', 'CPU ms', '±', 'database MB'],
      pasts.map(({ finished, cycleMs, cpuMs, databaseBytes }) => [
        `${whole(finished)} finished dispatches`,
        cycleMs.median.toFixed(1),
        spread(cycleMs),
        cpuMs.median.toFixed(1),
        spread(cpuMs),
        whole(databaseBytes / 1_000_000),
      ]),
    ),
    `long history against short history: ${times(growth.ms)}; CPU time: ${times(growth.cpu)}`,
    '',
    programTable(results),
    '',
    'A cycle: two agents, each with one tool call and an answer; includes documents and mirror. Start: until /healthz',
    'returns 200, with the long history. Status: a new process, with a running kernel or alone. ± is half the range',
    'from slowest to fastest.',
    '',
    barsTable(results),
  ].join('\n')
}

function programTable({ programs }: KernelResults): string {
  const ms = (figure: Figure): string => `${whole(figure.median)} ±${spread(figure)}`
  return table(
    [
      'the program',
      'start ms',
      'after kill -9',
      'status ms',
      'alone',
      'idle MB',
      'writes/min',
      'bytes/min',
      'CPU ms/min',
    ],
    programs.map(({ launcher, startMs, startAfterCrashMs, statusMs, statusAloneMs, idle }) => [
      `from ${launcher === 'source' ? 'source' : 'the package'}`,
      ...[startMs, startAfterCrashMs, statusMs, statusAloneMs].map(ms),
      ...(idle
        ? [idle.rssMb, idle.writesPerMinute, idle.bytesPerMinute, idle.cpuMsPerMinute].map(whole)
        : ['', '', '', '']),
    ]),
  )
}

const times = ({ median, min, max }: Figure): string => `${median.toFixed(2)} × (${min.toFixed(2)} … ${max.toFixed(2)})`
