import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HistoryCut, JournalRecord, PromptComposition, RecordBody } from '../src/domain/journal-record.ts'
import { weighConversation } from '../src/engine/session/message-digest.ts'
import { emptyThread, foldRecord, type SessionThread } from '../src/engine/session/session-thread.ts'
import {
  actingTurn,
  buildJournal,
  inputBound,
  modelRequested,
  runStarted,
  SETUP,
  stepCommitted,
} from './support/journals.ts'

function folded(...bodies: readonly RecordBody[]): SessionThread {
  const thread = emptyThread()
  for (const record of buildJournal(...bodies)) foldRecord(thread, record)
  return thread
}

const textsOf = ({ conversation }: SessionThread): string[] => conversation.messages.map(({ text }) => text)

const composition: PromptComposition = { sections: {}, bytes: 0, cached: 0, prefix: 'p' }

const recalling = (turn: number, text: string): RecordBody =>
  ({
    ...inputBound(turn, `message ${turn}`),
    recalled: {
      facts: [
        { id: 's.1.0', key: 'k', text, trust: 'untrusted', private: true, created_at: '2026-01-01T00:00:00.000Z' },
      ],
    },
  }) as RecordBody

const asText: RecordBody = { kind: 'refitted', setup: { ...SETUP, parser: 'json' } }
const given: RecordBody = stepCommitted(2, { next: { kind: 'continue', feedback: 'again' } })

describe('the conversation, folded', () => {
  test('Q11: a turn that came to nothing after the parser changed takes nothing with it but itself', () => {
    const before = folded(runStarted(), ...actingTurn(1), asText)
    const after = folded(runStarted(), ...actingTurn(1), inputBound(2, 'lost'), asText, modelRequested(2), given)
    assert.equal(textsOf(before).length, 2)
    assert.deepEqual(textsOf(after), textsOf(before))
  })

  test('O14: a first turn that came to nothing is followed by one that is reminded anew, of what is remembered then', () => {
    const thread = folded(runStarted(), recalling(1, 'old'), modelRequested(1), stepCommitted(1), recalling(2, 'new'))
    assert.equal(textsOf(thread).length, 2)
    assert.match(textsOf(thread)[0] ?? '', /new/)
    const none = folded(
      runStarted(),
      recalling(1, 'old'),
      modelRequested(1),
      stepCommitted(1),
      inputBound(2, 'message'),
    )
    assert.deepEqual([textsOf(none), none.recalled], [['message'], undefined])
  })

  test('P5: of a request that was taken back, only what still stands counts as said before', () => {
    const first = folded(runStarted(), ...actingTurn(1))
    const asked: RecordBody = { ...modelRequested(2), composition } as RecordBody
    const thread = folded(runStarted(), ...actingTurn(1), inputBound(2, 'lost'), asked)
    assert.equal(thread.lastRequest?.length, thread.conversation.messages.length)
    const back = folded(runStarted(), ...actingTurn(1), inputBound(2, 'lost'), asked, given)
    assert.equal(back.lastRequest?.length, first.conversation.messages.length)
    assert.deepEqual(weighConversation(back.conversation), weighConversation(first.conversation))
  })

  test('D5: to read a journal weighs nothing; what is weighed is the same whenever it is asked for', () => {
    const sections = { conversation: 20, input: 5 }
    const weighed = [runStarted(), ...actingTurn(1), ...actingTurn(2), inputBound(3, 'message 3')]
    const bodies = weighed.map(
      (body): RecordBody =>
        body.kind === 'model_requested' ? { ...body, composition: { ...composition, sections } } : body,
    )
    const thread = folded(...bodies)
    assert.equal(thread.maxAcceptedTokens, 25)
    assert.deepEqual(thread.conversation.weights, [])
    const whole = weighConversation(thread.conversation)
    const step = emptyThread()
    for (const record of buildJournal(...bodies)) {
      foldRecord(step, record)
      weighConversation(step.conversation)
    }
    assert.deepEqual(weighConversation(step.conversation), whole)
    const [first] = thread.conversation.weights
    assert.deepEqual(weighConversation(thread.conversation, 1), first)
    assert.equal(weighConversation(thread.conversation, 0).bytes, 0)
  })

  test('D5: after a turn that was taken back, only what still stands is weighed', () => {
    const thread = folded(runStarted(), ...actingTurn(1), inputBound(2, 'lost'))
    weighConversation(thread.conversation)
    for (const [i, body] of [modelRequested(2), given].entries())
      foldRecord(thread, { ...body, seq: thread.head + 1, ts: i } as JournalRecord)
    const first = folded(runStarted(), ...actingTurn(1))
    assert.deepEqual(weighConversation(thread.conversation), weighConversation(first.conversation))
  })

  test('B3: a cut of compiler 4 is shown as it was then; one of today keeps the task, and says how much is missing', () => {
    const old = { from: 2, summary: 'it began', recalled: [] }
    const cutBy = (cut: HistoryCut): string[] =>
      textsOf(
        folded(runStarted(), ...actingTurn(1), ...actingTurn(2), inputBound(3, 'go on'), { kind: 'cut', turn: 3, cut }),
      )
    const [opening, ...rest] = cutBy({ ...old, words: 100 })
    assert.deepEqual(cutBy(old), ['[what happened before, in short]\nit began', ...rest])
    assert.match(opening ?? '', /^\[Turn 1 is left out here, \d messages, .*\n\n\[summary of these turns\]\n<data /)
  })

  test('P5: bytes and tokens are those of the messages, however they came to be', () => {
    const thread = folded(runStarted(), ...actingTurn(1), asText, inputBound(2, '你好'))
    const bytes = thread.conversation.messages.reduce(
      (sum, message) => sum + Buffer.byteLength(JSON.stringify(message)),
      0,
    )
    const weight = weighConversation(thread.conversation)
    assert.equal(weight.bytes, bytes)
    assert.ok(weight.tokens > 0 && weight.tokens < bytes)
  })
})
