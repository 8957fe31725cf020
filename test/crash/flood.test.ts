/** Floods of messages and huge messages: nothing fails, and the model sees every acknowledged message. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Observation } from '../../src/domain/observation.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { estimateTokens } from '../../src/prompt-compiler/tokens.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { openHttpApp, postJson } from '../support/http-app.ts'
import { freshFolder, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { FLOOD_YAML, lookTool, lookWhileUnread, watcher } from './flood-tools.ts'
import { NODE_FLAGS, run } from './kills.ts'

type App = Awaited<ReturnType<typeof openApp>>

const textOf = (n: number): string => `message ${n} of the flood: 第 ${n} 条，请看一下 <${'x'.repeat(n % 60)}>`

async function openFloodApp(t: TestContext, model: ScriptedModel, home = freshFolder(t)) {
  const app = await openApp(t, { home, model, tools: [lookTool()], behaviours: [watcher], yaml: FLOOD_YAML })
  const { session_id } = await runTaskIn(app, 'read what comes', { behaviour: 'onlooker' })
  return { app, session_id, home }
}

const send = (app: App, session: string, texts: readonly string[]): Promise<unknown> =>
  Promise.all(texts.map((text) => app.run('send', { session, text })))

interface SessionView {
  readonly journal: readonly JournalRecord[]
  readonly unread: readonly Observation[]
}

const readSession = async (app: App, id: string): Promise<SessionView> => await app.run('sessions show', { id })

/** The texts of answered turns, in order: those that the model has seen. */
function answeredTexts(journal: readonly JournalRecord[]): readonly string[] {
  const answered = new Set(journal.flatMap((it) => (it.kind === 'model_answered' ? [it.turn] : [])))
  return journal
    .flatMap((it) => (it.kind === 'input_bound' && answered.has(it.turn) ? it.input : []))
    .flatMap((it) => (it.type === 'user_message' ? [it.text] : []))
}

const overflowsIn = (journal: readonly JournalRecord[]) =>
  journal
    .flatMap((it) => (it.kind === 'input_bound' ? it.input : []))
    .flatMap((it) =>
      it.type === 'system_event' && it.name === 'inbox_overflow'
        ? [it.payload as { unread: number; shown_now: number; still_unread: number; newest: string }]
        : [],
    )

const tokensOf = ({ system, tools, messages }: ModelRequest): number =>
  [system, JSON.stringify(tools), ...messages.map((message) => JSON.stringify(message))].reduce(
    (sum, text) => sum + estimateTokens(text),
    0,
  )

/** Asserts that some request contains each text unchanged. */
function assertShown(model: ScriptedModel, texts: readonly string[]): void {
  const shown = model.requests.map(({ messages }) => messages.map(({ text }) => text).join('\n')).join('\n')
  for (const text of texts) assert.ok(shown.includes(text), `in no request: ${text}`)
}

describe('a flood of messages', () => {
  test('2,490 messages at once: each is shown once, in order, with the count of those that wait', async (t) => {
    const model = lookWhileUnread()
    const { app, session_id } = await openFloodApp(t, model)
    const texts = Array.from({ length: 2490 }, (_, i) => textOf(i + 1))
    await send(app, session_id, texts)
    await app.run('start', { until_idle: true })
    const { journal, unread } = await readSession(app, session_id)
    const seen = answeredTexts(journal)
    assert.equal(seen.length, texts.length + 1)
    assert.deepEqual([...new Set(seen)].length, seen.length, 'no text twice')
    assert.deepEqual(new Set(seen), new Set(['read what comes', ...texts]))
    assert.deepEqual(unread, [])
    assertShown(model, texts)
    const overflows = overflowsIn(journal)
    assert.ok(overflows.length > 3, `${overflows.length} steps with an overflow`)
    assert.deepEqual(
      { unread: overflows[0]?.unread, newest: overflows[0]?.newest },
      { unread: 2490, newest: seen.at(-1) },
    )
    for (const { unread: all, shown_now, still_unread } of overflows) assert.equal(all, shown_now + still_unread)
    for (const request of model.requests) assert.ok(tokensOf(request) <= 6000, `${tokensOf(request)} tokens`)
    const started = journal.find((it) => it.kind === 'run_started')
    const replayed = await replayIn(app, started?.kind === 'run_started' ? started.run_id : '')
    assert.equal(replayed.identical, true)
  })

  test('a model that answers at once, which ends its run, is called again until nothing is unread', async (t) => {
    const model = scriptedModel([{ text: 'hm' }].concat(Array.from({ length: 200 }, () => ({ text: 'read' }))))
    const { app, session_id } = await openFloodApp(t, model)
    const texts = Array.from({ length: 600 }, (_, i) => textOf(i + 1))
    await send(app, session_id, texts)
    await app.run('start', { until_idle: true })
    const { journal, unread } = await readSession(app, session_id)
    assert.deepEqual(new Set(answeredTexts(journal)), new Set(['read what comes', ...texts]))
    assert.deepEqual(unread, [])
    assertShown(model, texts)
  })

  test('over HTTP: the model sees every accepted message', async (t) => {
    const model = lookWhileUnread()
    const served = await openHttpApp(t, {
      model,
      tools: [lookTool()],
      behaviours: [watcher],
      yaml: `server: { port: 0 }\n${FLOOD_YAML}`,
    })
    const { session_id } = await runTaskIn(served.app, 'read what comes', { behaviour: 'onlooker' })
    const texts = Array.from({ length: 250 }, (_, i) => textOf(i + 1))
    for (let i = 0; i < texts.length; i += 25) {
      const answers = await Promise.all(
        texts.slice(i, i + 25).map((text) => postJson(served, '/api/v1/send', { session: session_id, text })),
      )
      for (const { status, text } of answers) assert.ok(status < 300, `${status} ${text}`)
    }
    await served.app.run('start', { until_idle: true })
    const { journal, unread } = await readSession(served.app, session_id)
    assert.deepEqual(new Set(answeredTexts(journal)), new Set(['read what comes', ...texts]))
    assert.deepEqual(unread, [])
  })

  test('killed twice during a flood: no message is lost or seen twice, and the run ends', async (t) => {
    const { app, session_id, home } = await openFloodApp(t, lookWhileUnread())
    const texts = Array.from({ length: 1200 }, (_, i) => textOf(i + 1))
    await send(app, session_id, texts)
    await app.close()
    for (const looks of [2, 3]) {
      const main = join(import.meta.dirname, 'flood-main.ts')
      const { exit, stderr } = await run(process.execPath, [...NODE_FLAGS, main, home, String(looks)])
      assert.equal(exit, null, `the process was not killed: ${stderr}`)
    }
    const model = lookWhileUnread()
    const after = await openApp(t, { home, model, tools: [lookTool()], behaviours: [watcher] })
    const between = await readSession(after, session_id)
    assert.ok(between.unread.length > 0 && between.unread.length < 1200, `${between.unread.length} messages are unread`)
    await after.run('start', { until_idle: true })
    const { journal, unread } = await readSession(after, session_id)
    const seen = answeredTexts(journal)
    assert.equal(seen.length, texts.length + 1)
    assert.deepEqual(new Set(seen), new Set(['read what comes', ...texts]))
    assert.deepEqual(unread, [])
  })

  test('a provider with a smaller limit than configured: later turns take fewer messages', async (t) => {
    const base = lookWhileUnread()
    const model: ScriptedModel = {
      ...base,
      requests: base.requests,
      call(request, options) {
        if (tokensOf(request) > 1500) throw new TirelessError('model_oversize', 'too long for me')
        return base.call(request, options)
      },
    }
    const { app, session_id } = await openFloodApp(t, model)
    const texts = Array.from({ length: 120 }, (_, i) => textOf(i + 1))
    await send(app, session_id, texts)
    await app.run('start', { until_idle: true })
    const { journal, unread } = await readSession(app, session_id)
    assert.deepEqual(new Set(answeredTexts(journal)), new Set(['read what comes', ...texts]))
    assert.deepEqual(unread, [])
    assertShown(base, texts)
  })
})

describe('a huge message', () => {
  test('5 MB: the start and the end are shown with a mark for the cut, and the next message follows', async (t) => {
    const model = lookWhileUnread()
    const { app, session_id } = await openFloodApp(t, model)
    const huge = `BEGIN ${'word 词 '.repeat(700_000)} END`
    await send(app, session_id, [huge])
    await send(app, session_id, ['and this is small'])
    await app.run('start', { until_idle: true })
    const { journal, unread } = await readSession(app, session_id)
    assert.deepEqual(unread, [])
    const [, seen = '', small] = answeredTexts(journal)
    const [, missing, of] =
      /^BEGIN [\s\S]*\n\[… (\d+) of (\d+) characters left out here …\]\n[\s\S]* END$/.exec(seen) ?? []
    assert.equal(Number(of), huge.length)
    assert.ok(Number(missing) > huge.length * 0.9)
    assert.equal(small, 'and this is small')
    assertShown(model, [seen, small])
    for (const request of model.requests) assert.ok(tokensOf(request) <= 6000)
    assert.ok(JSON.stringify(journal).length < 200_000, 'the journal stores the shortened text')
  })

  test('an event with a huge payload is cut the same way', async (t) => {
    const model = lookWhileUnread()
    const { app, session_id } = await openFloodApp(t, model)
    const { store, clock, ids } = app.context
    const payload = { rows: Array.from({ length: 50_000 }, (_, i) => ({ n: i, text: '行' })) }
    const observation = { id: 'e1', type: 'system_event', name: 'import', payload, ts: clock.now() } as const
    const now = clock.now()
    await store.commit([{ ops: [{ op: 'publish', session_id, observation, successor_id: ids.next(), now }] }])
    await send(app, session_id, ['look at the import'])
    await app.run('start', { until_idle: true })
    const news = model.requests.map(({ messages }) => messages.map(({ text }) => text).join('\n'))
    assert.match(news[1] ?? '', /\[event import\] .*characters left out here …\].*"still_unread":1/s)
    assert.match(news[2] ?? '', /look at the import/)
    const { unread } = await readSession(app, session_id)
    assert.deepEqual(unread, [])
  })
})
