import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { redactValue } from '../src/domain/redact.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { buildJournal, runStarted } from './support/journals.ts'
import { openApp, runTaskIn } from './support/open-app.ts'

const redactorOf =
  (...secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '(secret)'), text)

const [record] = buildJournal(runStarted('find kind people', {}))

describe('case 60: a redacted record', () => {
  test('is the same object if it contains no secret', () => {
    assert.equal(redactValue(record as JournalRecord, redactorOf('elsewhere')), record)
  })

  test('keeps its field names, even if one of them equals a secret', () => {
    const redacted = redactValue(record as JournalRecord, redactorOf('kind', 'setup', 'tools'))
    assert.deepEqual(Object.keys(redacted), Object.keys(record as JournalRecord))
    assert.ok(redacted.kind === 'run_started')
    assert.equal(redacted.task, 'find (secret) people')
    assert.deepEqual(Object.keys(redacted.setup), Object.keys(record?.kind === 'run_started' ? record.setup : {}))
  })

  test('has no secret in a key of user data', () => {
    const [recordWithSecretKeys] = buildJournal({
      ...runStarted('x', {}),
      state: { 'key-0123456789': 1, seen: { 'my key-0123456789': 2 } },
    } as never)
    const redacted = redactValue(recordWithSecretKeys as JournalRecord, redactorOf('key-0123456789'))
    assert.doesNotMatch(JSON.stringify(redacted), /0123456789/)
  })

  test('a secret of one character does not damage the trace', async (t) => {
    const local = '{ type: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key: e }'
    const yaml = `models:\n  providers:\n    local: ${local}\n`
    const app = await openApp(t, { yaml, model: scriptedModel([{ text: 'done, see there' }]) })
    const { dispatch_id } = await runTaskIn(app, 'see everything')
    const { manifest, events } = await app.run('trace show', { run: dispatch_id, events: true })
    assert.deepEqual(
      { status: manifest.status, task: manifest.task, final_answer: manifest.final_answer },
      { status: 'completed', task: 'see everything', final_answer: 'done, see there' },
    )
    await app.close()
    const { manifest: written, events: writtenEvents } = await app.context.traces.read(dispatch_id)
    assert.deepEqual(
      { status: written.status, writtenEvents: writtenEvents.length },
      { status: 'completed', writtenEvents: events?.length },
    )
  })

  test('is redacted anew if it is needed again, because a secret may have become known', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id: run_id, session_id } = await runTaskIn(app, 'the word is late-0123456789')
    const [started] = (await app.run('sessions show', { id: session_id })).journal
    assert.ok(started)
    const { sink, redactedRecords } = app.service('events')
    sink.onRunOpened({ run_id, session_id }, [])
    sink.onRecord({ run_id, session_id }, started)
    app.service('secrets').know('late', 'late-0123456789')
    assert.doesNotMatch(JSON.stringify(redactedRecords.redacted(started)), /0123456789/)
  })
})
