/** Traces on a full disk or in an unwritable folder. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { buildJournal, RUN, runStarted } from '../../test/support/journals.ts'
import { freshFolder } from '../../test/support/open-app.ts'
import { COMPLETE_RUN, writerFixture } from '../../test/support/trace-writer.ts'
import { traceFromRecords } from './trace.ts'
import { TRACE_FILES } from './trace-files.ts'

describe('I9: a trace that cannot be written', () => {
  test('does not fail the run, and is written completely later', async (t) => {
    const { tell, folder, clock, read } = writerFixture(t)
    writeFileSync(folder, 'a file where the folder should be')
    const records = tell(...COMPLETE_RUN)
    await clock.advance(1000)
    rmSync(folder)
    await clock.advance(5000)
    assert.deepEqual(await read(), { ...traceFromRecords(RUN, records), torn: [] })
    assert.equal(clock.sleeping, 0)
  })

  test('case 101: after a full disk, a partial write is repeated, not duplicated', async (t) => {
    const { folder, clock, writer, read } = writerFixture(t)
    const own = join(folder, RUN.run_id)
    const records = buildJournal(...COMPLETE_RUN)
    for (const record of records.slice(0, 7)) writer.onRecord(RUN, record)
    await clock.advance(1000)
    rmSync(join(own, TRACE_FILES.steps))
    symlinkSync('/dev/full', join(own, TRACE_FILES.steps))
    for (const record of records.slice(7)) writer.onRecord(RUN, record)
    assert.match(readFileSync(join(own, TRACE_FILES.manifest), 'utf8'), /"status": "running"/)
    rmSync(join(own, TRACE_FILES.steps))
    writeFileSync(
      join(own, TRACE_FILES.steps),
      `${JSON.stringify(traceFromRecords(RUN, records).steps[0])}\n{"step_id":2,"obs`,
    )
    await clock.advance(5000)
    assert.deepEqual(await read(), { ...traceFromRecords(RUN, records), torn: [] })
  })

  test('keeps pending lines up to a limit', async (t) => {
    const folder = join(freshFolder(t, 'traces'), 'traces')
    const { tell, clock } = writerFixture(t, { folder, maxPending: 1000 })
    writeFileSync(folder, 'a file where the folder should be')
    tell(...COMPLETE_RUN)
    rmSync(folder)
    await clock.advance(60_000)
    assert.throws(() => readdirSync(folder), /ENOENT/, 'given up: the journal has it all the same')
  })

  test('case 62: a run with an invalid id is not traced, and other runs are', async (t) => {
    const { folder, writer, clock, read } = writerFixture(t)
    const evil = { run_id: '../../evil', session_id: 's' }
    const records = buildJournal(...COMPLETE_RUN)
    writer.onRunOpened(evil, buildJournal(runStarted('x', {}, evil.run_id)))
    for (const record of records) writer.onRecord(evil, record)
    for (const record of records) writer.onRecord(RUN, record)
    await clock.advance(1000)
    assert.deepEqual(readdirSync(folder), [RUN.run_id])
    assert.equal((await read()).manifest.status, 'completed')
  })
})
