/** A trace writer on a temporary folder. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JournalRecord, RecordBody } from '../../src/domain/journal-record.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ReadTrace, traceReader } from '../../src/trace/reader.ts'
import { RedactedRecords } from '../../src/trace/redacted-records.ts'
import { TRACE_FILES } from '../../src/trace/trace-files.ts'
import { type TraceWriter, traceWriter, type WriterOptions } from '../../src/trace/writer.ts'
import { actingTurn, buildJournal, finalTurn, RUN, runStarted } from './journals.ts'
import { freshFolder } from './open-app.ts'

export const COMPLETE_RUN = [runStarted(), ...actingTurn(1), ...actingTurn(2), ...finalTurn(3)]

interface WriterFixture {
  readonly folder: string
  readonly clock: FakeClock
  readonly writer: TraceWriter
  tell(...bodies: readonly RecordBody[]): readonly JournalRecord[]
  lines(file: keyof typeof TRACE_FILES): number
  read(): Promise<ReadTrace>
}

export function writerFixture(t: TestContext, options: Partial<WriterOptions> = {}): WriterFixture {
  const folder = options.folder ?? join(freshFolder(t, 'traces'), 'traces')
  const clock = new FakeClock()
  const writer = traceWriter({ folder, clock, records: new RedactedRecords((text) => text), ...options })
  t.after(() => writer.close())
  return {
    folder,
    clock,
    writer,
    tell(...bodies) {
      const records = buildJournal(...bodies)
      for (const record of records) writer.onRecord(RUN, record)
      return records
    },
    lines: (file) => readFileSync(join(folder, RUN.run_id, TRACE_FILES[file]), 'utf8').split('\n').length - 1,
    read: () => traceReader(folder).read(RUN.run_id),
  }
}
