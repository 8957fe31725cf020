/** The kernel's table. Pure: results in, text out. */

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
    `the long past against the short one: ${times(growth.ms)}; processor time alone: ${times(growth.cpu)}`,
    '',
    programTable(results),
    '',
    'A cycle: two agents, each with an answer, a tool call and a result, documents and mirror included. Start: until /healthz is well, with the',
    'long past. Status: a process of its own, asked of the living kernel, or alone where nobody holds the home. ± is half the way from the',
    'slowest to the fastest.',
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
