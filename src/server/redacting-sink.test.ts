import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delta } from '../domain/event.ts'
import { Redactor } from '../secrets/redactor.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { RedactedRecords } from '../trace/redacted-records.ts'
import { EventStream } from './event-stream.ts'
import { redactingSink } from './redacting-sink.ts'

const RUN = { run_id: 'run', session_id: 'session' }

function openSink() {
  const clock = new FakeClock()
  const live = new EventStream({ clock, idPrefix: 'p', token: () => 'token' })
  const { redact } = new Redactor('key')
  let received = ''
  const send = ({ plain }: { readonly plain: Buffer }): void => {
    received += plain.toString('utf8')
  }
  const join = () => live.join({ send, unsentBytes: () => 0, drop() {}, isAuthorized: () => true }, undefined)
  /** Contract: the deltas that the viewer got since the last call. */
  async function deltas(): Promise<readonly Delta[]> {
    await clock.advance(500)
    const found = [...received.matchAll(/^event: delta\ndata: (.*)$/gm)]
    received = ''
    return found.map(([, json]) => JSON.parse(json ?? '') as Delta)
  }
  return { sink: redactingSink(redact, new RedactedRecords(redact), live), join, deltas, live }
}

const textIn = (deltas: readonly Delta[]): string => deltas.map((delta) => ('text' in delta ? delta.text : '')).join('')

function piecesOf(text: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}

const SIZES = [1, 2, 3, 4, 7, 13, 40, 64, 100, 250, 1000, 10_000]
const LONG = 'abcDEF0123456789_-'.repeat(60)
const KEY_LINES = Array.from({ length: 25 }, (_, i) => `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}${i}`)

/** What surrounds the secret, and the secret. */
const SECRETS: readonly (readonly [before: string, secret: string, after: string])[] = [
  ['the password: ', 'hunter2hunter2', ' is it'],
  ['{"api_key":\n  "', 'k3y-0123456789', '"} ends'],
  ['Authorization: Bearer ', 'abcdef0123456789abcd', ' was sent'],
  ['Authorization:\tBasic ', 'dXNlcjpwYXNzd29yZDE=', '\n'],
  ['a token ', `eyJ${LONG}.eyJ${LONG}.${LONG}`, ' of a server'],
  ['see https://bob:', 's3cr3t-w0rd-here', '@example.org/ there'],
  ['ghp: ', `ghp_${'a1B2'.repeat(9)}`, '.'],
  ['-----BEGIN RSA PRIVATE KEY-----\n', KEY_LINES.join('\n'), '\n-----END RSA PRIVATE KEY-----\nThat was all.'],
]

test('HTTP: a secret known only by its look is hidden in streamed text, however the text is cut', async () => {
  const { sink, join, deltas } = openSink()
  join()
  for (const [before, secret, after] of SECRETS)
    for (const kind of ['text', 'output'] as const)
      for (const size of SIZES) {
        const about = `${kind}, ${size} at once: ${before}`
        for (const text of piecesOf(`Now ${before}${secret}${after}`, size))
          sink.delta(kind === 'text' ? { ...RUN, kind, text } : { ...RUN, kind, index: 0, tool: 'bash', text })
        sink.onRunClosed(RUN)
        const text = textIn(await deltas())
        for (const part of piecesOf(secret, 12).filter(({ length }) => length === 12))
          assert.ok(!text.includes(part), `${about}\n${text}`)
        assert.match(text, /^Now .*\(secret\)/s, about)
        assert.ok(text.endsWith(after.trim()) || text.endsWith(after), `${about}\n${text}`)
      }
})

test('HTTP: streamed text without secrets arrives as it is, however it is cut', async () => {
  const { sink, join, deltas } = openSink()
  join()
  const words = 'The key is to begin. 文字流，没有空格的句子。 😀👩‍👩‍👧 bearer of news'
  const text = `${words} -----BEGIN CERTIFICATE-----\n${LONG}\n-----END CERTIFICATE-----\n${LONG} ${words}`
  for (const size of SIZES) {
    for (const piece of piecesOf(text, size)) sink.delta({ ...RUN, kind: 'text', text: piece })
    sink.onRunClosed(RUN)
    assert.equal(textIn(await deltas()), text, `${size} at once`)
  }
})

test('HTTP: the words before a secret count, even if no viewer was there for them', async () => {
  const { sink, join, deltas } = openSink()
  sink.delta({ ...RUN, kind: 'text', text: 'the password: ' })
  join()
  sink.delta({ ...RUN, kind: 'text', text: 'hunter2hunter2 is it' })
  sink.onRunClosed(RUN)
  assert.equal(textIn(await deltas()), '(secret) is it')
})

test('HTTP: output of several calls at the same time; each ends with its result, an answer with a call', async () => {
  const { sink, join, deltas } = openSink()
  join()
  sink.delta({ ...RUN, kind: 'text', text: 'I look no' })
  sink.delta({ ...RUN, kind: 'call', index: 0, tool: 'bash', args: {} })
  for (const text of ['pass', 'word: hunt', 'er2hunter2'])
    for (const index of [0, 1]) sink.delta({ ...RUN, kind: 'output', index, tool: 'bash', text })
  sink.delta({ ...RUN, kind: 'result', index: 0, tool: 'bash', status: 'ok', content: 'done' })
  sink.onRunClosed(RUN)
  const told = (await deltas()).map((delta) => [delta.kind, 'index' in delta ? delta.index : '', textIn([delta])])
  assert.deepEqual(
    told.map((each) => each.join(' ').trim()),
    [
      ...['text  I look no', 'call 0', 'output 0 password:', 'output 1 password:'],
      ...['output 0 (secret)', 'result 0', 'output 1 (secret)'],
    ],
  )
})
