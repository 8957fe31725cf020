import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { redactValue } from '../src/domain/redact.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import type { TraceManifest } from '../src/trace/manifest.ts'
import { buildJournal, runStarted } from './support/journals.ts'
import { openApp, runTaskIn } from './support/open-app.ts'

interface Shown {
  readonly manifest: TraceManifest
  readonly events: readonly unknown[]
}

const hiding =
  (...secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '(secret)'), text)

const [begun] = buildJournal(runStarted('find kind people', {}))

describe('case 60: a redacted record', () => {
  test('is the same one where there is nothing to hide', () => {
    assert.equal(redactValue(begun as JournalRecord, hiding('elsewhere')), begun)
  })

  test('keeps the names of its fields, also where somebody chose one of them as a secret', () => {
    const told = redactValue(begun as JournalRecord, hiding('kind', 'setup', 'tools'))
    assert.deepEqual(Object.keys(told), Object.keys(begun as JournalRecord))
    assert.ok(told.kind === 'run_started')
    assert.equal(told.task, 'find (secret) people')
    assert.deepEqual(Object.keys(told.setup), Object.keys(begun?.kind === 'run_started' ? begun.setup : {}))
  })

  test('has no secret under a name that somebody else made up', () => {
    const [odd] = buildJournal({
      ...runStarted('x', {}),
      state: { 'key-0123456789': 1, seen: { 'my key-0123456789': 2 } },
    } as never)
    const told = redactValue(odd as JournalRecord, hiding('key-0123456789'))
    assert.doesNotMatch(JSON.stringify(told), /0123456789/)
  })

  test('a key of one character costs nobody the trace', async (t) => {
    const yaml =
      'models:\n  providers:\n    local: { type: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key: e }\n'
    const app = await openApp(t, { yaml, model: scriptedModel([{ text: 'done, see there' }]) })
    const { dispatch_id } = await runTaskIn(app, 'see everything')
    const { manifest, events } = (await app.run('trace show', { run: dispatch_id, events: true })) as Shown
    assert.deepEqual(
      [manifest.status, manifest.task, manifest.final_answer],
      ['completed', 'see everything', 'done, see there'],
    )
    await app.close()
    const { manifest: written, events: told } = await app.context.traces.read(dispatch_id)
    assert.deepEqual([written.status, told.length], ['completed', events.length])
  })
})
