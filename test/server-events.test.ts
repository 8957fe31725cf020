/** Live events over HTTP: numbered without gaps, resumable, bounded, and never waiting for whoever watches. */

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
import { freshFolder, waitUntil } from './support/open-app.ts'

const TWO_STEPS = () =>
  scriptedModel([
    { text: 'I write it.', calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] },
    { text: 'done' },
  ])

const run = (to: HttpApp, prompt: string): Promise<string> =>
  postJson(to, '/api/v1/run', { task: prompt }).then((answer) => answer.json<{ dispatch_id: string }>().dispatch_id)

const named = (messages: readonly SseMessage[], name: string): SseMessage[] =>
  messages.filter((each) => each.name === name)

const hasEnded =
  ({ messages }: EventStream, id: string) =>
  () =>
    named(messages, 'event').some(({ data }) => data.run_id === id && data.phase === 'END')

const seqOf = ({ id }: SseMessage): number => Number(id.split('.')[1])

function assertWithoutGaps(messages: readonly SseMessage[]): void {
  const seqs = messages.map(seqOf)
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => (seqs[0] ?? 0) + i),
  )
}

test('HTTP: events are told as the trace has them, with what is streamed between, in one sequence without gaps', async (t) => {
  const to = await openHttpApp(t, { model: TWO_STEPS() })
  const watching = await openEventStream(to)
  await waitUntil(() => watching.messages.length > 0)
  const [hello] = watching.messages
  assert.deepEqual([hello?.name, typeof hello?.data.now], ['hello', 'number'])
  const id = await run(to, 'write it')
  await waitUntil(hasEnded(watching, id))
  const told = named(watching.messages, 'event').map(({ data }) => data)
  const { events } = (await sendRequest(to, `/api/v1/trace/show?run=${id}&events=true`, { headers: to.bearer })).json<{
    events: unknown[]
  }>()
  assert.deepEqual(told, events)
  // Pieces of one text are told together where they come within one batch, which is a matter of time.
  const deltas = named(watching.messages, 'delta').map(({ data }) => String(data.text ?? ` ${data.tool} `))
  assert.equal(deltas.join(''), 'I write it. create_file  create_file done')
  assertWithoutGaps(watching.messages)
})

test('HTTP: who was cut off gets what they missed, once, and goes on; nobody is asked to fetch anew for that', async (t) => {
  const to = await openHttpApp(t, { model: TWO_STEPS() })
  const first = await openEventStream(to)
  const id = await run(to, 'first')
  await waitUntil(hasEnded(first, id))
  first.disconnect()
  await first.ended
  const last = first.messages[3]
  assert.ok(last)
  const again = await openEventStream(to, last.id)
  await waitUntil(hasEnded(again, id))
  const [hello, ...rest] = again.messages
  assert.deepEqual([hello?.name, hello?.id], ['hello', last.id])
  const missed = first.messages.slice(4)
  assert.deepEqual(rest.slice(0, missed.length), missed)
  const later = await run(to, 'second')
  await waitUntil(hasEnded(again, later))
  assertWithoutGaps(again.messages)
  assert.deepEqual(named(again.messages, 'reset'), [])
})

test('HTTP: an id of another life, one from the future and one that is none are answered with a reset, and then what happens', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home, model: TWO_STEPS() })
  const before = await openEventStream(first)
  await waitUntil(() => before.messages.length > 0)
  const { id: old = '' } = before.messages[0] ?? {}
  await first.app.close()
  await before.ended
  const to = await openHttpApp(t, { home, model: TWO_STEPS() })
  const now = await openEventStream(to)
  await waitUntil(() => now.messages.length > 0)
  const life = now.messages[0]?.id.split('.')[0]
  for (const last of [old, `${life}.99999`, `${life}.-1`, `${life}.1.5`, 'x', '']) {
    const watching = await openEventStream(to, last)
    await waitUntil(() => watching.messages.length >= 2)
    const [hello, reset] = watching.messages
    assert.deepEqual([hello?.name, reset?.name, reset?.data.last], ['hello', 'reset', last])
    watching.disconnect()
  }
  const watching = await openEventStream(to, old)
  const id = await run(to, 'again')
  await waitUntil(hasEnded(watching, id))
  assertWithoutGaps(watching.messages.slice(1))
})

/** As the engine tells it, by the same door. */
function say(to: HttpApp, content: string, index: number): void {
  const delta: Delta = { run_id: 'r', session_id: 's', kind: 'result', index, tool: 'bash', status: 'ok', content }
  to.app.service('events').sink.delta(delta)
}

test('HTTP: only so much is kept: what is older is answered with a reset', async (t) => {
  const to = await openHttpApp(t)
  const first = await openEventStream(to)
  await waitUntil(() => first.messages.length > 0)
  for (let i = 0; i < 1000; i++) say(to, 'x'.repeat(1900), i)
  await waitUntil(() => named(first.messages, 'delta').length === 1000)
  const [hello] = first.messages
  const late = await openEventStream(to, hello?.id)
  await waitUntil(() => late.messages.length >= 2)
  assert.equal(late.messages[1]?.name, 'reset')
  const recent = first.messages.at(-300)
  const soon = await openEventStream(to, recent?.id)
  await waitUntil(() => soon.messages.length >= 300)
  assert.deepEqual(named(soon.messages, 'reset'), [])
})

test('HTTP: who reads nothing is dropped, and those who read get everything meanwhile', async (t) => {
  const to = await openHttpApp(t)
  const quick = await openEventStream(to)
  const slow = await openEventStream(to)
  slow.response.pause()
  const watched = async (): Promise<string | undefined> =>
    /^tireless_viewers (\d+)$/m.exec((await sendRequest(to, '/metrics')).text)?.[1]
  assert.equal(await watched(), '2')
  let told = 0
  while ((await watched()) === '2') {
    for (let i = 0; i < 500; i++) say(to, 'y'.repeat(1900), told++)
    await waitUntil(() => named(quick.messages, 'delta').length === told)
    // What the machine itself keeps for a connection is a few megabytes.
    assert.ok(told < 40_000, 'it was waited for')
  }
  slow.response.resume()
  await slow.ended
  assert.equal(slow.response.complete, false, 'cut off')
  assertWithoutGaps(quick.messages)
})

test('HTTP: so many may watch and no more, and a place is free again when one leaves', async (t) => {
  const to = await openHttpApp(t)
  const all = await Promise.all(Array.from({ length: 64 }, () => openEventStream(to)))
  const refused = await sendRequest(to, '/api/v1/events', { headers: to.bearer })
  assert.equal(refused.status, 503)
  assert.match(refused.text, /too many viewers; expected at most 64/)
  all[0]?.disconnect()
  await waitUntil(async () => {
    const { text } = await sendRequest(to, '/metrics')
    return /^tireless_viewers 63$/m.test(text)
  })
  await openEventStream(to)
})

test('HTTP: the status is told when it changes', async (t) => {
  const to = await openHttpApp(t)
  const watching = await openEventStream(to)
  await postJson(to, '/api/v1/enqueue', { prompt: 'later', at: '1h' })
  await waitUntil(() =>
    named(watching.messages, 'status').some(({ data }) => (data.queue as { waiting: number }).waiting === 1),
  )
  assertWithoutGaps(watching.messages)
})

test('case 136: a secret is in no event and in nothing that is streamed, also where it comes in pieces', async (t) => {
  const secret = 'sk-live-abcdefghijklmnop0123456789'
  const yaml = `server: { port: 0 }\nmodels: { providers: { p: { type: openai-compatible, base_url: "http://127.0.0.1:1/v1", api_key: ${secret} } } }\n`
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
  const to = await openHttpApp(t, {
    yaml,
    model: {
      ...model,
      async call(request, options) {
        for (const piece of pieces) options.onText?.(piece)
        return { ...(await model.call(request, { ...options, onText: () => {} })), text: pieces.join('') }
      },
    },
  })
  const watching = await openEventStream(to)
  const id = await run(to, `what is ${secret}?`)
  await waitUntil(hasEnded(watching, id))
  const text = JSON.stringify(watching.messages)
  for (const half of [secret, secret.slice(0, 20), secret.slice(-14)]) assert.ok(!text.includes(half), half)
  const streamed = named(watching.messages, 'delta').map(({ data }) => data.text)
  assert.equal(streamed.join(''), 'The key is ‹secret:models.providers.p.api_key›, 就是它。Goodbye.')
})
