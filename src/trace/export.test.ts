import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actingTurn,
  buildJournal,
  callIntended,
  callSettled,
  finalTurn,
  inputBound,
  modelAnswered,
  modelRequested,
  RUN,
  requestedCall,
  runEnded,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import type { RecordBody } from '../domain/journal-record.ts'
import { exportHtml } from './export.ts'
import { traceFromRecords } from './trace.ts'

const pageOf = (...bodies: readonly RecordBody[]): string => exportHtml(traceFromRecords(RUN, buildJournal(...bodies)))

const EVIL = `</pre></style></title><script>alert(1)</script><img src=x onerror="alert(2)"><!-- ' " & \0`

describe('a run as a page', () => {
  test('case 62: is self-contained: no script, nothing loaded, and a policy that forbids both', () => {
    const page = pageOf(runStarted(), ...actingTurn(1), ...finalTurn(2))
    assert.match(page, /^<!doctype html>/)
    assert.match(
      page,
      /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"/,
    )
    assert.doesNotMatch(page, /<script|<link|<iframe|<img|src=|url\(|@import|https?:/i)
  })

  test('case 62: hostile content is shown as text everywhere', () => {
    const record: RecordBody = {
      kind: 'failed',
      turn: 2,
      phase: 'DECIDE',
      code: 'internal',
      message: EVIL,
      ruling: { kind: 'feedback' },
    }
    const page = pageOf(
      runStarted(EVIL, { model: EVIL, parser: EVIL, memory: EVIL, critics: [EVIL] }),
      {
        kind: 'input_bound',
        turn: 1,
        input: [
          { id: '1', type: 'user_message', text: EVIL, ts: 0 },
          { id: '2', type: 'system_event', name: EVIL, payload: { [EVIL]: EVIL }, ts: 0 },
        ],
        feedback: EVIL,
        observation: { [EVIL]: EVIL },
      },
      modelRequested(1),
      modelAnswered(1, { text: EVIL, notes: { [EVIL]: EVIL }, calls: [requestedCall(EVIL, { [EVIL]: EVIL })] }),
      callIntended(1, 0, EVIL, { [EVIL]: EVIL }),
      callSettled(1, 0, { status: EVIL as never, content: EVIL }),
      { kind: 'diagnosed', turn: 1, about: EVIL, message: EVIL },
      stepCommitted(1, {
        patch: { keys: { [EVIL]: { set: EVIL } } },
        verdicts: [{ critic: EVIL, verdict: { kind: 'stop', reason: EVIL } }],
      }),
      inputBound(2),
      record,
      stepCommitted(2),
      runEnded({ stop_reason: 'critic_stop', answer: EVIL, error: EVIL, issues: [{ code: EVIL, message: EVIL }] }),
    )
    // Every tag of the page is one of ours, and none has an event handler.
    const tags = [...page.matchAll(/<\/?([a-z!][a-z0-9-]*)([^>]*)>/gi)]
    const known = new Set(
      [
        '!doctype html head meta title style body main p span code h1 h2 h3 dl div dt dd nav a article header b',
        'section pre details summary table thead tbody tr th td footer',
      ].flatMap((names) => names.split(' ')),
    )
    assert.deepEqual(
      tags.map(([, name = '']) => name.toLowerCase()).filter((name) => !known.has(name)),
      [],
    )
    for (const [tag, , rest = ''] of tags) assert.doesNotMatch(rest, /\son\w+\s*=|javascript:/i, tag)
    assert.equal(page.match(/<\/style>/g)?.length, 1)
    assert.ok(!page.includes('\0'))
    assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'), 'and it can be read')
  })

  test('Q15: it shows task, observation, text, calls, results, changes, verdicts, errors and answer', () => {
    const page = pageOf(
      runStarted('find the bug'),
      inputBound(1, 'look closer'),
      modelRequested(1),
      modelAnswered(1, {
        text: 'I look.',
        notes: { thought: 'because' },
        calls: [requestedCall('poke', { where: 'here' })],
      }),
      callIntended(1, 0),
      callSettled(1, 0, { status: 'error', content: 'it bites' }),
      stepCommitted(1, {
        patch: { keys: { found: { set: 42 } } },
        verdicts: [{ critic: 'tests', verdict: { kind: 'retry', instruction: 'once more' } }],
      }),
      ...finalTurn(2, 'fixed it'),
    )
    for (const word of [
      'find the bug',
      'look closer',
      'I look.',
      'thought: because',
      'poke',
      'where: here',
      'it bites',
      '&quot;set&quot;: 42',
      'once more',
      'fixed it',
      'scripted/model',
      'Step 2',
    ])
      assert.ok(page.includes(word), word)
  })

  test('runs that did not start or have not ended can be exported, too', () => {
    const issues = [{ code: 'ENV_HEALTH_CHECK_FAILED', message: 'no disk' }]
    assert.match(
      pageOf(runStarted(), runEnded({ stop_reason: 'env_capability_mismatch', issues })),
      /ENV_HEALTH_CHECK_FAILED: no disk/,
    )
    assert.match(pageOf(runStarted(), inputBound(1)), /<span class="pill warn">running</)
    assert.match(pageOf(), /has not started/)
  })
})
