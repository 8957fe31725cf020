import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HistoryCut, JournalRecord, PromptComposition, RecordBody } from '../src/domain/journal-record.ts'
import { foldRecord } from '../src/engine/session/fold-record.ts'
import { measureConversation } from '../src/engine/session/message-digest.ts'
import { emptyThread, type SessionThread } from '../src/engine/session/session-thread.ts'
import {
  actingTurn,
  buildJournal,
  inputBound,
  modelRequested,
  runStarted,
  SETUP,
  stepCommitted,
} from './support/journals.ts'

function foldAll(...bodies: readonly RecordBody[]): SessionThread {
  const thread = emptyThread()
  for (const record of buildJournal(...bodies)) foldRecord(thread, record)
  return thread
}

const textsOf = ({ conversation }: SessionThread): string[] => conversation.messages.map(({ text }) => text)

const composition: PromptComposition = { sections: {}, bytes: 0, cached: 0, prefix: 'p' }

const boundWithFact = (turn: number, text: string): RecordBody =>
  ({
    ...inputBound(turn, `message ${turn}`),
    recalled: {
      facts: [
        { id: 's.1.0', key: 'k', text, trust: 'untrusted', private: true, created_at: '2026-01-01T00:00:00.000Z' },
      ],
    },
  }) as RecordBody

const switchToJsonParser: RecordBody = { kind: 'refitted', setup: { ...SETUP, parser: 'json' } }
const commitWithFeedback: RecordBody = stepCommitted(2, { next: { kind: 'continue', feedback: 'again' } })

describe('messages folded from the journal', () => {
  test('Q11: a turn without an answer is dropped alone, even after a switch of the parser', () => {
    const before = foldAll(runStarted(), ...actingTurn(1), switchToJsonParser)
    const after = foldAll(
      runStarted(),
      ...actingTurn(1),
      inputBound(2, 'lost'),
      switchToJsonParser,
      modelRequested(2),
      commitWithFeedback,
    )
    assert.equal(textsOf(before).length, 2)
    assert.deepEqual(textsOf(after), textsOf(before))
  })

  test('O14: after a first turn without an answer the next turn recalls facts anew', () => {
    const thread = foldAll(
      runStarted(),
      boundWithFact(1, 'old'),
      modelRequested(1),
      stepCommitted(1),
      boundWithFact(2, 'new'),
    )
    assert.equal(textsOf(thread).length, 2)
    assert.match(textsOf(thread)[0] ?? '', /new/)
    const withoutFacts = foldAll(
      runStarted(),
      boundWithFact(1, 'old'),
      modelRequested(1),
      stepCommitted(1),
      inputBound(2, 'message'),
    )
    assert.deepEqual(
      { texts: textsOf(withoutFacts), recalled: withoutFacts.recalled },
      { texts: ['message'], recalled: undefined },
    )
  })

  test('after a dropped turn, the last request counts only messages that are left', () => {
    const first = foldAll(runStarted(), ...actingTurn(1))
    const requestWithComposition: RecordBody = { ...modelRequested(2), composition } as RecordBody
    const thread = foldAll(runStarted(), ...actingTurn(1), inputBound(2, 'lost'), requestWithComposition)
    assert.equal(thread.lastRequest?.length, thread.conversation.messages.length)
    const dropped = foldAll(
      runStarted(),
      ...actingTurn(1),
      inputBound(2, 'lost'),
      requestWithComposition,
      commitWithFeedback,
    )
    assert.equal(dropped.lastRequest?.length, first.conversation.messages.length)
    assert.deepEqual(measureConversation(dropped.conversation), measureConversation(first.conversation))
  })

  test('reading a journal computes no weights; they do not depend on when they are computed', () => {
    const sections = { conversation: 20, input: 5 }
    const records = [runStarted(), ...actingTurn(1), ...actingTurn(2), inputBound(3, 'message 3')]
    const bodies = records.map(
      (body): RecordBody =>
        body.kind === 'model_requested' ? { ...body, composition: { ...composition, sections } } : body,
    )
    const thread = foldAll(...bodies)
    assert.equal(thread.maxAcceptedTokens, 25)
    assert.deepEqual(thread.conversation.weights, [])
    const weightAtEnd = measureConversation(thread.conversation)
    const stepwise = emptyThread()
    for (const record of buildJournal(...bodies)) {
      foldRecord(stepwise, record)
      measureConversation(stepwise.conversation)
    }
    assert.deepEqual(measureConversation(stepwise.conversation), weightAtEnd)
    const [first] = thread.conversation.weights
    assert.deepEqual(measureConversation(thread.conversation, 1), first)
    assert.equal(measureConversation(thread.conversation, 0).bytes, 0)
  })

  test('after a dropped turn, only messages that are left are weighed', () => {
    const thread = foldAll(runStarted(), ...actingTurn(1), inputBound(2, 'lost'))
    measureConversation(thread.conversation)
    for (const [i, body] of [modelRequested(2), commitWithFeedback].entries())
      foldRecord(thread, { ...body, seq: thread.head + 1, ts: i } as JournalRecord)
    const first = foldAll(runStarted(), ...actingTurn(1))
    assert.deepEqual(measureConversation(thread.conversation), measureConversation(first.conversation))
  })

  test('a cut of compiler 4 is shown as then; a new one keeps the task and counts the gap', () => {
    const oldCut = { from: 2, summary: 'it began', recalled: [] }
    const textsAfterCut = (cut: HistoryCut): string[] =>
      textsOf(
        foldAll(runStarted(), ...actingTurn(1), ...actingTurn(2), inputBound(3, 'go on'), {
          kind: 'cut',
          turn: 3,
          cut,
        }),
      )
    const [firstText, ...rest] = textsAfterCut({ ...oldCut, words: 100 })
    assert.deepEqual(textsAfterCut(oldCut), ['[what happened before, in short]\nit began', ...rest])
    assert.match(firstText ?? '', /^\[Turn 1 is left out here, \d messages, .*\n\n\[summary of these turns\]\n<data /)
  })

  test('bytes and tokens are those of the messages, however they were built', () => {
    const thread = foldAll(runStarted(), ...actingTurn(1), switchToJsonParser, inputBound(2, '你好'))
    const bytes = thread.conversation.messages.reduce(
      (sum, message) => sum + Buffer.byteLength(JSON.stringify(message)),
      0,
    )
    const weight = measureConversation(thread.conversation)
    assert.equal(weight.bytes, bytes)
    assert.ok(weight.tokens > 0 && weight.tokens < bytes)
  })
})
