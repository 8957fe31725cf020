/** What the page shows of text that streams, while runs are fetched because the connection was cut. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Event, LiveDelta } from '../../src/domain/event.ts'
import { LiveRuns } from '../../web/src/live-runs.ts'
import type { RunView } from '../../web/src/run-view.ts'

const RUN = { run_id: 'r', session_id: 's' }
const WORDS = 4

type Message = Event | LiveDelta

const isEvent = (message: Message): message is Event => 'stage' in message

/** The words of an attempt of a step; no other attempt has any of them. */
const wordsOf = (step: number, attempt: number): readonly string[] =>
  Array.from({ length: WORDS }, (_, i) => `${step}.${attempt}.${i} `)

const textOf = (step: number, attempt: number): string => wordsOf(step, attempt).join('')

/** A run with text in each step; the number of attempts of each step is given. */
function streamOf(attempts: readonly number[]): readonly Message[] {
  const messages: Message[] = []
  let seq = 0
  const tell = (step_id: number, phase: Event['phase'], stage: string, payload: Event['payload'] = {}): void => {
    seq += 1
    messages.push({ ...RUN, seq, step_id, phase, stage, ts: seq, ok: true, payload })
  }
  tell(0, 'INIT', 'start')
  for (const [i, count] of attempts.entries()) {
    const step = i + 1
    tell(step, 'OBSERVE', 'start')
    for (let attempt = 1; attempt <= count; attempt++) {
      tell(step, 'DECIDE', 'model_input')
      for (const text of wordsOf(step, attempt)) messages.push({ ...RUN, kind: 'text', text, seq })
      // Without it, the process died.
      if (attempt === 2 && attempt < count) tell(step, 'RECOVER', 'retry')
    }
    tell(step, 'DECIDE', 'model_output', { text: textOf(step, count) })
    tell(step, 'CHECK_STOP', 'continue')
  }
  return messages
}

/** A page, and a server that is as far as it says, or further. */
function openPage(messages: readonly Message[]) {
  const views = new Map<string, RunView>()
  const answers: ((isRead: boolean) => void)[] = []
  /** So many messages were sent by the server, and received by the page. */
  const at = { sent: 0, received: 0 }
  const read = (): Promise<readonly Event[]> =>
    new Promise((resolve, reject) => {
      const events = messages.slice(0, at.sent).filter(isEvent)
      answers.push((isRead) => (isRead ? resolve(events) : reject(new Error('no answer'))))
    })
  const runs = new LiveRuns(views, () => {}, read)
  const fetchRun = (): void => void runs.fetchRun('r', 'default', 'count').catch(() => {})
  return {
    ...{ at, runs, fetchRun },
    send: (count: number) => {
      at.sent = Math.min(at.sent + count, messages.length)
    },
    receive(count: number) {
      const end = Math.min(at.received + count, at.sent)
      for (const message of messages.slice(at.received, end))
        if (!isEvent(message)) runs.applyDelta(message)
        else if (runs.applyEvent(message)?.gap) fetchRun()
      at.received = end
    },
    /** Everything that was sent is lost. */
    skip() {
      at.received = at.sent
      void runs.reset().catch(() => {})
    },
    /** Contract: the oldest fetch is answered, with what the server had when it was asked, or fails. */
    async answer(isRead = true) {
      answers.shift()?.(isRead)
      await new Promise(setImmediate)
    },
    isFetching: () => answers.length > 0,
    view: () => views.get('r'),
    texts: () => views.get('r')?.steps.map(({ text }) => text) ?? [],
  }
}

test('Now: text of the step before, sent again after a cut, is not shown in the next one', async () => {
  const messages = streamOf([1, 1])
  const page = openPage(messages)
  page.send(messages.findIndex((each) => isEvent(each) && each.step_id === 2) + 2)
  page.receive(5)
  page.fetchRun()
  page.receive(messages.length)
  await page.answer()
  assert.deepEqual(page.texts(), [textOf(1, 1), ''])
})

test('Now: text of the next step is not shown in the one before, while the run is fetched', async () => {
  const messages = streamOf([1, 1])
  const page = openPage(messages)
  page.send(messages.length)
  page.receive(9)
  page.fetchRun()
  page.receive(5)
  assert.deepEqual(page.texts(), [textOf(1, 1), '2.1.0 2.1.1 2.1.2 '])
})

test('Now: text of the next step is shown if the one before had its text when it was fetched', async () => {
  const messages = streamOf([1, 1])
  const page = openPage(messages)
  page.send(9)
  page.fetchRun()
  page.send(messages.length)
  page.receive(14)
  await page.answer()
  assert.deepEqual(page.texts(), [textOf(1, 1), '2.1.0 2.1.1 2.1.2 '])
})

test('Now: text that came before a reset is not shown before later text', async () => {
  const messages = streamOf([1])
  const page = openPage(messages)
  page.send(3)
  page.receive(3)
  page.skip()
  page.fetchRun()
  page.send(1)
  page.receive(1)
  page.send(1)
  page.skip()
  page.send(1)
  page.receive(1)
  await page.answer()
  await page.answer()
  assert.deepEqual(page.texts(), ['1.1.2 '])
})

test('Now: a run that has no trace yet is shown from the events that came while it was fetched', async () => {
  const messages = streamOf([1])
  const page = openPage(messages)
  page.fetchRun()
  page.send(5)
  page.receive(5)
  await page.answer(false)
  assert.deepEqual(page.texts(), ['1.1.0 1.1.1 '])
})

type Page = ReturnType<typeof openPage>

/** What may happen, with a number of messages. */
const STEPS: Readonly<Record<string, (page: Page, count: number) => unknown>> = {
  send: (page, count) => page.send(count),
  receive: (page, count) => page.receive(count),
  both(page, count) {
    page.send(count)
    page.receive(count)
  },
  fetch: (page) => page.fetchRun(),
  answer: (page) => page.answer(),
  fail: (page) => page.answer(false),
}

/** Contract: each step shows a part of its own text: nothing of another one, of another attempt, or twice. */
function assertOwnText(page: Page, attempts: readonly number[]): void {
  for (const { id, text } of page.view()?.steps ?? []) {
    const own = Array.from({ length: attempts[id - 1] ?? 0 }, (_, n) => textOf(id, n + 1))
    assert.ok(
      own.some((each) => each.includes(text)),
      `step ${id} shows ${text}`,
    )
  }
}

/** Contract: what the page has received of the text that streams is shown. */
function assertWhole(page: Page, messages: readonly Message[]): void {
  const view = page.view()
  if (!view || view.gap) return
  const received = messages.slice(0, page.at.received).filter((each) => !isEvent(each) && each.seq === view.seq)
  const text = received.map((each) => ('text' in each ? each.text : '')).join('')
  if (text !== '') assert.equal(page.texts().at(-1), text)
}

/** Contract: when everything has arrived and was read, each step has its text. */
async function assertEnd(page: Page, attempts: readonly number[]): Promise<void> {
  page.send(Number.POSITIVE_INFINITY)
  page.receive(Number.POSITIVE_INFINITY)
  while (page.isFetching()) await page.answer()
  page.fetchRun()
  await page.answer()
  const texts = attempts.map((count, i) => textOf(i + 1, count))
  assert.deepEqual(page.texts(), texts)
}

const attemptCounts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 })
const happenings = fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.integer({ min: 1, max: 12 })), {
  maxLength: 60,
})

test('Now: however it is cut and fetched, a step shows exactly its own text', async () => {
  const property = fc.asyncProperty(attemptCounts, happenings, async (attempts, list) => {
    const messages = streamOf(attempts)
    const page = openPage(messages)
    for (const [name, count] of list) {
      await STEPS[name]?.(page, count)
      assertOwnText(page, attempts)
      assertWhole(page, messages)
    }
    await assertEnd(page, attempts)
  })
  await fc.assert(property, { numRuns: 500 })
})

test('Now: after a reset, a step shows a part of its text, and then the whole', async () => {
  const property = fc.asyncProperty(attemptCounts, happenings, happenings, async (attempts, before, after) => {
    const messages = streamOf(attempts)
    const page = openPage(messages)
    for (const [name, count] of before) await STEPS[name]?.(page, count)
    page.skip()
    for (const [name, count] of after) {
      await STEPS[name]?.(page, count)
      assertOwnText(page, attempts)
    }
    await assertEnd(page, attempts)
  })
  await fc.assert(property, { numRuns: 500 })
})
