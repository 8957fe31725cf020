import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  actingTurn,
  buildJournal,
  finalTurn,
  inputBound,
  modelRequested,
  RUN,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import { COMPLETE_RUN, writerFixture } from '../../test/support/trace-writer.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import type { TraceManifest } from './manifest.ts'
import { traceReader } from './reader.ts'
import { RedactedRecords } from './redacted-records.ts'
import { traceFromRecords } from './trace.ts'
import { TRACE_FILES } from './trace-files.ts'
import { traceWriter } from './writer.ts'

const WAIT = { kind: 'observation', match: 'any', until: 5, reason: 'a reply' } as const

describe('the trace of a run', () => {
  test('case 58: is complete when the run ends: the files have as many lines as the manifest counts', async (t) => {
    const { tell, read, lines } = writerFixture(t)
    const records = tell(...COMPLETE_RUN)
    const trace = await read()
    assert.deepEqual(trace, { ...traceFromRecords(RUN, records), torn: [] })
    assert.deepEqual(
      { events: lines('events'), steps: lines('steps') },
      { events: trace.manifest.event_count, steps: trace.manifest.step_count },
    )
    assert.deepEqual({ events: lines('events'), steps: lines('steps') }, { events: 38, steps: 3 })
    assert.partialDeepStrictEqual(trace.manifest, {
      run_id: RUN.run_id,
      session_id: RUN.session_id,
      schema_version: 1,
      status: 'completed',
      stop_reason: 'final',
      final_answer: 'all done',
      usage: { input_tokens: 30, output_tokens: 15, cached_tokens: 3 },
      cost_usd: null,
      started_at: '2026-01-01T00:00:00.000Z',
      ended_at: '2026-01-01T00:00:17.000Z',
      task: 'the task',
    } satisfies Partial<TraceManifest>)
  })

  test('a step is one line: observation, decision, actions and results', async (t) => {
    const { tell, read } = writerFixture(t)
    const patch = { keys: { n: { set: 1 } } }
    const verdicts = [{ critic: 'tests', verdict: { kind: 'continue' } }] as const
    const acted = actingTurn(1, 'poke', { n: 1 }).slice(1, -1)
    tell(runStarted(), inputBound(1, 'hello'), ...acted, stepCommitted(1, { patch, verdicts }), ...finalTurn(2))
    const { steps } = await read()
    assert.deepEqual(steps[0], {
      step_id: 1,
      observation: { input: [{ type: 'user_message', text: 'hello' }] },
      decision: { kind: 'act' },
      actions: [{ tool: 'poke', args: { n: 1 } }],
      action_results: [{ tool: 'poke', status: 'ok', content: 'poked' }],
      critic: [{ critic: 'tests', kind: 'continue' }],
      state_diff: patch,
    })
    assert.deepEqual(steps[1]?.decision, { kind: 'final', answer: 'all done' })
  })

  test('is written in batches: at most once a second, at once at the end and when the run is parked', async (t) => {
    const { tell, clock, lines, writer } = writerFixture(t)
    const records = tell(runStarted(), ...actingTurn(1))
    await clock.advance(999)
    assert.throws(() => lines('events'), /ENOENT/)
    await clock.advance(1)
    assert.equal(lines('events'), 13)
    const more = buildJournal(runStarted(), ...actingTurn(1), ...actingTurn(2)).slice(records.length)
    for (const record of more) writer.onRecord(RUN, record)
    assert.equal(lines('events'), 13)
    const [park] = buildJournal(stepCommitted(3, { next: { kind: 'park', wait: WAIT } }))
    writer.onRecord(RUN, { ...(park as JournalRecord), seq: 14 })
    assert.equal(lines('events'), 27)
    await clock.advance(1000)
    assert.equal(clock.sleeping, 0, 'nothing to write, no timer')
  })

  test('case 64: only the owner can read files and folders', (t) => {
    const { tell, folder } = writerFixture(t)
    tell(...COMPLETE_RUN)
    const own = join(folder, RUN.run_id)
    assert.equal(statSync(own).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(own).toSorted(), ['events.jsonl', 'manifest.json', 'steps.jsonl'])
    for (const name of readdirSync(own)) assert.equal(statSync(join(own, name)).mode & 0o777, 0o600)
  })

  test('the files of a run resumed after a restart are rewritten, whatever a crash left there', async (t) => {
    const { tell, folder, clock, read, writer } = writerFixture(t)
    const past = tell(runStarted(), ...actingTurn(1), inputBound(2), modelRequested(2))
    await clock.advance(1000)
    writer.close()
    appendFileSync(join(folder, RUN.run_id, TRACE_FILES.events), '{"seq": 99, "torn')
    const next = traceWriter({ folder, clock, records: new RedactedRecords((text) => text) })
    t.after(() => next.close())
    next.onRunOpened(RUN, past)
    const whole = buildJournal(runStarted(), ...actingTurn(1), ...finalTurn(2))
    for (const record of whole.slice(past.length)) next.onRecord(RUN, record)
    assert.deepEqual(await read(), { ...traceFromRecords(RUN, whole), torn: [] })
  })

  test('a long history is processed in pieces, and new records come after it', async (t) => {
    let looked = 0
    const redact = (text: string): string => {
      looked += 1
      return text
    }
    const { writer, read } = writerFixture(t, { records: new RedactedRecords(redact) })
    const turns = Array.from({ length: 200 }, (_, i) => i + 1)
    const records = buildJournal(
      runStarted(),
      ...turns.flatMap((turn) => actingTurn(turn)),
      ...finalTurn(turns.length + 1),
    )
    const past = records.slice(0, -4)
    writer.onRunOpened(RUN, past)
    assert.equal(looked, 0)
    const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve))
    await turnOfLoop()
    const first = looked
    assert.ok(first > 0)
    for (const record of records.slice(past.length, -1)) writer.onRecord(RUN, record)
    assert.equal(looked, first)
    await turnOfLoop()
    assert.ok(looked > first && looked < 3 * first, `${looked} looks`)
    for (const record of records.slice(-1)) writer.onRecord(RUN, record)
    assert.deepEqual(await read(), { ...traceFromRecords(RUN, records), torn: [] })
  })

  test('a run resumed in the same process continues its files', async (t) => {
    const { folder, writer, read } = writerFixture(t)
    const parked = [
      runStarted(),
      ...actingTurn(1).slice(0, -1),
      stepCommitted(1, { next: { kind: 'park', wait: WAIT } }),
    ]
    const records = buildJournal(...parked, ...finalTurn(2))
    for (const record of records.slice(0, parked.length)) writer.onRecord(RUN, record)
    const file = join(folder, RUN.run_id, TRACE_FILES.events)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"stage":"start"', '"stage":"START"'))
    writer.onRunOpened(RUN, records.slice(0, parked.length))
    for (const record of records.slice(parked.length)) writer.onRecord(RUN, record)
    const { events, steps } = await read()
    assert.deepEqual(events.slice(1), traceFromRecords(RUN, records).events.slice(1))
    assert.deepEqual(steps, traceFromRecords(RUN, records).steps)
    assert.equal(events[0]?.stage, 'START', 'what was written before is left alone')
  })

  test('a record that closes the previous run is not part of the new one', async (t) => {
    const { writer, read } = writerFixture(t)
    const own = buildJournal(...COMPLETE_RUN)
    const foreign = buildJournal(stepCommitted(9), {
      kind: 'run_ended',
      run_id: 'other',
      stop_reason: 'unrecoverable_error',
    })
    for (const record of [...foreign, ...own]) writer.onRecord(RUN, record)
    assert.deepEqual(await read(), { ...traceFromRecords(RUN, own), torn: [] })
  })

  test('case 63: the thousandth step takes as many bytes as the tenth', (t) => {
    const { tell, folder } = writerFixture(t)
    const steps = Array.from({ length: 1000 }, (_, i) =>
      actingTurn(i + 1, 'poke', { n: 'x'.repeat(5000) }, 'y'.repeat(5000)),
    )
    tell(runStarted(), ...steps.flat(), ...finalTurn(1001))
    for (const file of [TRACE_FILES.events, TRACE_FILES.steps]) {
      const lines = readFileSync(join(folder, RUN.run_id, file), 'utf8')
        .split('\n')
        .slice(0, -1)
      const sizes = new Map<number, number>()
      for (const line of lines) {
        const { step_id } = JSON.parse(line) as { step_id: number }
        sizes.set(step_id, (sizes.get(step_id) ?? 0) + line.length)
      }
      const [tenth = 0, last = 0] = [sizes.get(10), sizes.get(1000)]
      assert.ok(Math.abs(last - tenth) < 100, `${file}: ${tenth} bytes, then ${last}`)
      assert.ok(last < 20_000, `${file}: ${last}`)
    }
  })
})

describe('reading a trace', () => {
  test('case 59, case 64: an incomplete last line is reported, the rest is read, nothing is repaired', async (t) => {
    const { tell, folder, read } = writerFixture(t)
    const records = tell(...COMPLETE_RUN)
    const file = join(folder, RUN.run_id, TRACE_FILES.events)
    const torn = readFileSync(file, 'utf8').slice(0, -30)
    writeFileSync(file, torn)
    const trace = await read()
    assert.deepEqual(trace.torn, [TRACE_FILES.events])
    assert.deepEqual(trace.events, traceFromRecords(RUN, records).events.slice(0, -1))
    assert.equal(readFileSync(file, 'utf8'), torn)
  })

  test('case 62: run ids cannot leave the folder', async (t) => {
    const { folder } = writerFixture(t)
    mkdirSync(folder, { recursive: true })
    mkdirSync(join(folder, '..', 'secret'))
    writeFileSync(join(folder, '..', 'secret', TRACE_FILES.manifest), '{}')
    for (const id of ['../secret', '..', '.', '', 'a/b', '/etc', 'a\0b', 'C:\\x'])
      await assert.rejects(traceReader(folder).read(id), { code: 'usage' }, id)
    await assert.rejects(traceReader(folder).read('unknown'), { code: 'not_found' })
  })

  test('lists the newest traces up to the limit, and skips other folders', async (t) => {
    const { folder } = writerFixture(t)
    assert.deepEqual(await traceReader(folder).list(5), [])
    for (const id of ['run-1', 'run-2', 'run-3']) {
      mkdirSync(join(folder, id), { recursive: true })
      writeFileSync(join(folder, id, TRACE_FILES.manifest), JSON.stringify({ run_id: id }))
    }
    writeFileSync(join(folder, 'run-2', TRACE_FILES.manifest), '{"run')
    assert.deepEqual(
      (await traceReader(folder).list(3)).map(({ run_id }) => run_id),
      ['run-3', 'run-1'],
    )
    assert.equal((await traceReader(folder).list(1)).length, 1)
  })
})
