/** Live events over HTTP: numbered without gaps, resumable, bounded, and never delayed by a viewer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delta } from '../src/domain/event.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import {
  type EventStream,
  type HttpApp,
  openEventStream,
  openHttpApp,
  postJson,
  type SseMessage,
  sendRequest,
} from './support/http-app.ts'
import { actingTurn, buildJournal, finalTurn, runStarted } from './support/journals.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

const twoStepModel = () =>
  scriptedModel([
    { text: 'I write it.', calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] },
    { text: 'done' },
  ])

const runTask = (served: HttpApp, prompt: string): Promise<string> =>
  postJson(served, '/api/v1/run', { task: prompt }).then((answer) => answer.json<{ dispatch_id: string }>().dispatch_id)

const messagesNamed = (messages: readonly SseMessage[], name: string): SseMessage[] =>
  messages.filter((each) => each.name === name)

const hasEnded =
  ({ messages }: EventStream, id: string) =>
  () =>
    messagesNamed(messages, 'event').some(({ data }) => data.run_id === id && data.phase === 'END')

const seqOf = ({ id }: SseMessage): number => Number(id.split('.')[1])

function assertWithoutGaps(messages: readonly SseMessage[]): void {
  const seqs = messages.map(seqOf)
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => (seqs[0] ?? 0) + i),
  )
}

test('HTTP: events match the trace, with streamed text between them, in one sequence without gaps', async (t) => {
  const served = await openHttpApp(t, { model: twoStepModel() })
  const viewer = await openEventStream(served)
  await waitUntil(() => viewer.messages.length > 0)
  const [hello] = viewer.messages
  assert.deepEqual({ name: hello?.name, nowType: typeof hello?.data.now }, { name: 'hello', nowType: 'number' })
  const id = await runTask(served, 'write it')
  await waitUntil(hasEnded(viewer, id))
  const sent = messagesNamed(viewer.messages, 'event').map(({ data }) => data)
  const { events } = (
    await sendRequest(served, `/api/v1/trace/show?run=${id}&events=true`, { headers: served.bearer })
  ).json<{
    events: unknown[]
  }>()
  assert.deepEqual(sent, events)
  // Text chunks of one batch are merged, which depends on timing.
  const deltas = messagesNamed(viewer.messages, 'delta').map(({ data }) => String(data.text ?? ` ${data.tool} `))
  assert.equal(deltas.join(''), 'I write it. create_file  create_file done')
  assertWithoutGaps(viewer.messages)
  let last: unknown = 0
  for (const { name, data } of viewer.messages.filter(({ data }) => data.run_id === id))
    if (name === 'event') last = data.seq
    else assert.equal(data.seq, last, 'a delta says which event it follows')
})

test('HTTP: a viewer that reconnects gets what it missed, once, without a reset', async (t) => {
  const served = await openHttpApp(t, { model: twoStepModel() })
  const first = await openEventStream(served)
  const id = await runTask(served, 'first')
  await waitUntil(hasEnded(first, id))
  first.disconnect()
  await first.ended
  const last = first.messages[3]
  assert.ok(last)
  const resumed = await openEventStream(served, last.id)
  await waitUntil(hasEnded(resumed, id))
  const [hello, ...rest] = resumed.messages
  assert.deepEqual({ name: hello?.name, id: hello?.id }, { name: 'hello', id: last.id })
  const missed = first.messages.slice(4)
  assert.deepEqual(rest.slice(0, missed.length), missed)
  const later = await runTask(served, 'second')
  await waitUntil(hasEnded(resumed, later))
  assertWithoutGaps(resumed.messages)
  assert.deepEqual(messagesNamed(resumed.messages, 'reset'), [])
})

test('HTTP: a viewer that accepts gzip gets the same messages in fewer bytes, also where it continues', async (t) => {
  const served = await openHttpApp(t, { model: twoStepModel() })
  const plain = await openEventStream(served)
  const first = await openEventStream(served, undefined, 'br, GZIP;q=0.5')
  const id = await runTask(served, 'x'.repeat(1000))
  await waitUntil(() => hasEnded(plain, id)() && hasEnded(first, id)())
  first.disconnect()
  const last = first.messages[5]
  assert.ok(last)
  const resumed = await openEventStream(served, last.id, 'gzip')
  await waitUntil(hasEnded(resumed, id))
  const all = plain.messages.slice(1)
  assert.deepEqual(first.messages.slice(1), all)
  assert.deepEqual(resumed.messages.slice(1), all.slice(5))
  assert.ok(first.response.socket.bytesRead < plain.response.socket.bytesRead / 2)
  for (const accepted of ['identity', 'gzip; q=0', 'gzip;q=0.000, br', 'gzipped']) {
    const { response, disconnect } = await openEventStream(served, undefined, accepted)
    assert.equal(response.headers['content-encoding'], undefined, accepted)
    disconnect()
  }
})

test('HTTP: an old, future or invalid event id is answered with a reset, then with new events', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home, model: twoStepModel() })
  const before = await openEventStream(first)
  await waitUntil(() => before.messages.length > 0)
  const { id: old = '' } = before.messages[0] ?? {}
  await first.app.close()
  await before.ended
  const served = await openHttpApp(t, { home, model: twoStepModel() })
  const now = await openEventStream(served)
  await waitUntil(() => now.messages.length > 0)
  const processId = now.messages[0]?.id.split('.')[0]
  for (const last of [old, `${processId}.99999`, `${processId}.-1`, `${processId}.1.5`, 'x', '']) {
    const viewer = await openEventStream(served, last)
    await waitUntil(() => viewer.messages.length >= 2)
    const [hello, reset] = viewer.messages
    assert.deepEqual(
      { helloName: hello?.name, resetName: reset?.name, dataLast: reset?.data.last },
      { helloName: 'hello', resetName: 'reset', dataLast: last },
    )
    viewer.disconnect()
  }
  const viewer = await openEventStream(served, old)
  const id = await runTask(served, 'again')
  await waitUntil(hasEnded(viewer, id))
  assertWithoutGaps(viewer.messages.slice(1))
})

/** Sends a delta the way the engine does. */
function sendDelta(served: HttpApp, content: string, index: number): void {
  const delta: Delta = { run_id: 'r', session_id: 's', kind: 'result', index, tool: 'bash', status: 'ok', content }
  served.app.service('events').sink.delta(delta)
}

test('HTTP: with many events, the progress of steps that have ended is left out, that of others is sent', async (t) => {
  const served = await openHttpApp(t)
  const viewer = await openEventStream(served)
  await waitUntil(() => viewer.messages.length > 0)
  const { sink } = served.app.service('events')
  const progressOf = (run_id: string, kind: 'call' | 'result'): void => {
    const about = { run_id, session_id: 's', index: 0, tool: 'poke' }
    sink.delta(kind === 'call' ? { ...about, kind, args: {} } : { ...about, kind, status: 'ok', content: 'poked' })
  }
  const tellRun = (run_id: string): void => {
    const run = { run_id, session_id: 's' }
    sink.onRunOpened(run, [])
    for (const record of buildJournal(runStarted(), ...actingTurn(1), ...finalTurn(2))) {
      sink.onRecord(run, record)
      if (record.kind === 'model_answered' && record.turn === 1) progressOf(run_id, 'call')
      if (record.kind === 'call_intended') progressOf(run_id, 'result')
    }
    sink.onRunClosed(run)
  }
  for (let i = 0; i < 10; i++) tellRun(`first-${i}`)
  await waitUntil(hasEnded(viewer, 'first-9'))
  tellRun('ended')
  sink.onRunOpened({ run_id: 'open', session_id: 's' }, [])
  progressOf('open', 'call')
  const deltasOf = (run_id: string): unknown[] =>
    messagesNamed(viewer.messages, 'delta').flatMap(({ data }) => (data.run_id === run_id ? [data.kind] : []))
  await waitUntil(() => deltasOf('open').length > 0)
  const told = { quiet: deltasOf('first-0'), ended: deltasOf('ended'), open: deltasOf('open') }
  assert.deepEqual(told, { quiet: ['call', 'result'], ended: [], open: ['call'] })
  assert.ok(hasEnded(viewer, 'ended')())
  assertWithoutGaps(viewer.messages)
})

test('HTTP: the history is bounded: an older event id is answered with a reset', async (t) => {
  const served = await openHttpApp(t)
  const first = await openEventStream(served)
  await waitUntil(() => first.messages.length > 0)
  for (let i = 0; i < 5000; i++) sendDelta(served, 'x'.repeat(1900), i)
  await waitUntil(() => messagesNamed(first.messages, 'delta').length === 5000)
  const [hello] = first.messages
  const lateViewer = await openEventStream(served, hello?.id)
  await waitUntil(() => lateViewer.messages.length >= 2)
  assert.equal(lateViewer.messages[1]?.name, 'reset')
  const recent = first.messages.at(-300)
  const recentViewer = await openEventStream(served, recent?.id)
  await waitUntil(() => recentViewer.messages.length >= 300)
  assert.deepEqual(messagesNamed(recentViewer.messages, 'reset'), [])
})

test('HTTP: a viewer that does not read is dropped, and the others get everything', async (t) => {
  const served = await openHttpApp(t)
  const fastViewer = await openEventStream(served)
  const slowViewer = await openEventStream(served)
  slowViewer.response.pause()
  const viewerCount = async (): Promise<string | undefined> =>
    /^tireless_viewers (\d+)$/m.exec((await sendRequest(served, '/metrics')).text)?.[1]
  assert.equal(await viewerCount(), '2')
  let sent = 0
  while ((await viewerCount()) === '2') {
    for (let i = 0; i < 500; i++) sendDelta(served, 'y'.repeat(1900), sent++)
    await waitUntil(() => messagesNamed(fastViewer.messages, 'delta').length === sent)
    // The operating system buffers a few megabytes per connection.
    assert.ok(sent < 40_000, 'the slow viewer was not dropped')
  }
  slowViewer.response.resume()
  await slowViewer.ended
  assert.equal(slowViewer.response.complete, false, 'the response was cut off')
  assertWithoutGaps(fastViewer.messages)
})

test('HTTP: at most 64 viewers, and a place is free again when one leaves', async (t) => {
  const served = await openHttpApp(t)
  const viewers = await Promise.all(Array.from({ length: 64 }, () => openEventStream(served)))
  const refused = await sendRequest(served, '/api/v1/events', { headers: served.bearer })
  assert.equal(refused.status, 503)
  assert.match(refused.text, /too many viewers; expected at most 64/)
  viewers[0]?.disconnect()
  await waitUntil(async () => {
    const { text } = await sendRequest(served, '/metrics')
    return /^tireless_viewers 63$/m.test(text)
  })
  await openEventStream(served)
})

test('HTTP: a status change is sent', async (t) => {
  const served = await openHttpApp(t)
  const viewer = await openEventStream(served)
  await postJson(served, '/api/v1/enqueue', { prompt: 'later', at: '1h' })
  await waitUntil(() =>
    messagesNamed(viewer.messages, 'status').some(({ data }) => (data.queue as { waiting: number }).waiting === 1),
  )
  assertWithoutGaps(viewer.messages)
})

test('case 136: no event or streamed chunk contains a secret, even if it is split', async (t) => {
  const secret = 'sk-live-abcdefghijklmnop0123456789'
  const provider = `{ type: openai-compatible, base_url: "http://127.0.0.1:1/v1", api_key: ${secret} }`
  const yaml = `server: { port: 0 }\nmodels: { providers: { p: ${provider} } }\n`
  const model = scriptedModel([{ text: 'x' }])
  const pieces = [
    'The key is s',
    secret.slice(1, 12),
    secret.slice(12, 20),
    `${secret.slice(20)}, `,
    '就是它。',
    'Good',
    'bye.',
  ]
  const served = await openHttpApp(t, {
    yaml,
    model: {
      ...model,
      async call(request, options) {
        for (const piece of pieces) options.onText?.(piece)
        return { ...(await model.call(request, { ...options, onText: () => {} })), text: pieces.join('') }
      },
    },
  })
  const viewer = await openEventStream(served)
  const id = await runTask(served, `what is ${secret}?`)
  await waitUntil(hasEnded(viewer, id))
  const text = JSON.stringify(viewer.messages)
  for (const half of [secret, secret.slice(0, 20), secret.slice(-14)]) assert.ok(!text.includes(half), half)
  const streamed = messagesNamed(viewer.messages, 'delta').map(({ data }) => data.text)
  assert.equal(streamed.join(''), 'The key is ‹secret:models.providers.p.api_key›, 就是它。Goodbye.')
})
