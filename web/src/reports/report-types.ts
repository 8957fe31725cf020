/** The report of a day, as the schemas of the commands describe it. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'

export type ReportDay = CommandOutput<'reports list'>['items'][number]
export type DayReport = CommandOutput<'report'>
export type ReportRun = DayReport['runs'][number]
