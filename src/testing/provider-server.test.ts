import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type RecordedRequest, type Script, startProviderServer } from './provider-server.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'provider-server-'))
})
after(() => rm(folder, { recursive: true }))

const user = (content: unknown) => ({ role: 'user', content })
const assistant = { role: 'assistant', content: 'ok' }
const post = (url: string, messages: unknown, more: object = {}) =>
  fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', messages, ...more }) })

async function askForText(url: string, ...messages: object[]): Promise<string> {
  const body = JSON.parse(await (await post(url, messages)).text())
  return body.choices[0].message.content
}

async function withServer(
  script: Script,
  work: (url: string, requests: readonly RecordedRequest[]) => Promise<void>,
  log?: string,
) {
  const server = await startProviderServer({ script, log })
  try {
    await work(server.url, server.requests)
  } finally {
    await server.close()
  }
}

test('the answer depends only on the conversation and its number of assistant messages', async () => {
  const turns = [{ text: 'first' }, { text: 'second' }]
  await withServer({ conversations: [{ match: 'weather', turns: [{ text: 'rain' }] }], turns }, async (url) => {
    assert.equal(await askForText(url, user('go'), assistant), 'second')
    assert.equal(await askForText(url, { role: 'system', content: 'weather' }, user('go')), 'first')
    assert.equal(await askForText(url, user('go')), 'first')
    assert.equal(await askForText(url, user('the weather?'), assistant, user('go')), 'rain')
    assert.equal(await askForText(url, user([{ type: 'text', text: 'the weather?' }])), 'rain')
  })
})

test('after the script ends, its last turn repeats; a last turn with calls is replaced by a final answer', async () => {
  const many = Array.from({ length: 5 }, () => assistant)
  await withServer([{ text: 'first' }, { text: 'bye', faults: [500] }], async (url) => {
    assert.equal(await askForText(url, user('go'), ...many), 'bye')
  })
  await withServer([{ calls: [{ tool: 't' }] }], async (url) =>
    assert.equal(await askForText(url, user('go'), ...many), 'Done.'),
  )
  await withServer([], async (url) => assert.equal(await askForText(url, user('go')), 'Done.'))
})

test('faults are counted per conversation and turn', async () => {
  const script: Script = [{ text: 'x', faults: [500, { fault: 429, retry_after: 2 }, null, 503] }]
  await withServer(script, async (url, requests) => {
    const statuses = async (name: string) => {
      const seen: number[] = []
      for (let k = 0; k < 5; k++) seen.push((await post(url, [user(name)])).status)
      return seen
    }
    assert.deepEqual(await statuses('a'), [500, 429, 200, 503, 200])
    assert.deepEqual(await statuses('b'), [500, 429, 200, 503, 200])
    assert.equal(requests.length, 10)
    const { conversation, turn, attempt, fault, stream } = requests[6] ?? assert.fail()
    assert.deepEqual(
      { conversation, turn, attempt, fault, stream },
      { conversation: 'b', turn: 0, attempt: 1, fault: '429', stream: false },
    )
  })
})

test('a stream has server-sent events in pieces, usage only on request, and [DONE] at the end', async () => {
  const script: Script = [
    { text: 'hello', calls: [{ tool: 't', args: { a: 1 } }], usage: { input_tokens: 7, output_tokens: 3 } },
  ]
  await withServer(script, async (url) => {
    for (const include_usage of [true, false]) {
      const response = await post(url, [user('go')], { stream: true, stream_options: { include_usage } })
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      const events = (await response.text()).trimEnd().split('\n\n')
      assert.equal(events.pop(), 'data: [DONE]')
      const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)))
      assert.equal(
        chunks.some(({ usage }) => usage?.prompt_tokens === 7),
        include_usage,
      )
      const deltas = chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta)
      assert.equal(deltas.map(({ content }) => content ?? '').join(''), 'hello')
      const args = deltas.flatMap(({ tool_calls }) => tool_calls ?? []).map((call) => call.function.arguments)
      assert.equal(args.join(''), '{"a":1}')
      assert.ok(args.length > 2)
    }
  })
})

test('models are listed; invalid requests are refused', async () => {
  await withServer([], async (url) => {
    assert.deepEqual(
      JSON.parse(await (await fetch(`${url}/models`)).text()).data.map(({ id }: { id: string }) => id),
      ['scripted'],
    )
    assert.equal((await post(url, 'nonsense')).status, 400)
    assert.equal((await fetch(`${url}/chat/completions`, { method: 'POST', body: '{' })).status, 400)
    assert.equal((await fetch(`${url}/nothing`)).status, 404)
  })
})

test('close ends hanging and delayed requests, and is idempotent', async () => {
  const server = await startProviderServer({
    script: [
      { faults: ['hang'], text: 'x', delay_ms: 0 },
      { text: 'late', delay_ms: 1e8 },
    ],
  })
  const hanging = [post(server.url, [user('go')]), post(server.url, [user('go'), assistant])]
  const ended = Promise.allSettled(hanging)
  while (server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await server.close()
  await server.close()
  assert.deepEqual(
    (await ended).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

test('an invalid script is refused with the reason', async () => {
  const wrong = [{ text: 'x', faults: ['explode'] }] as unknown as Script
  await assert.rejects(startProviderServer({ script: wrong }), { code: 'usage' })
  await assert.rejects(startProviderServer({ script: [{ txt: 'x' }] as unknown as Script }), /txt/)
})

const readLog = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('the log has a line before each answer, and one after it was sent completely', async () => {
  const log = join(folder, 'log.jsonl')
  const script: Script = [{ text: 'x', faults: ['reset', 'cut', 500] }]
  await withServer(
    script,
    async (url) => {
      await assert.rejects(post(url, [user('go')]))
      await assert.rejects(post(url, [user('go')]).then((response) => response.text()))
      await (await post(url, [user('go')])).text()
      await (await post(url, [user('go')])).text()
    },
    log,
  )
  const events = (await readLog(log)).map(({ event, index, fault }) => [event, index, fault])
  assert.deepEqual(events, [
    ['request', 0, 'reset'],
    ['request', 1, 'cut'],
    ['request', 2, '500'],
    ['answered', 2, '500'],
    ['request', 3, null],
    ['answered', 3, null],
  ])
})

test('as a program: prints its address, keeps its log over kill -9, ends on SIGTERM', async () => {
  const script = join(folder, 'script.json')
  const log = join(folder, 'program.jsonl')
  await writeFile(script, JSON.stringify([{ text: 'one' }, { text: 'two' }]))
  const startProgram = async () => {
    const file = join(import.meta.dirname, 'provider-server-main.ts')
    const child = spawn(process.execPath, [file, '--script', script, '--log', log], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(child.stdout, 'data')
    return { child, url: String(JSON.parse(String(line)).url) }
  }
  const ended = async (child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM') => {
    const exit = once(child, 'exit')
    child.kill(signal)
    return (await exit)[0]
  }
  const first = await startProgram()
  assert.equal(await askForText(first.url, user('go')), 'one')
  await ended(first.child, 'SIGKILL')
  const second = await startProgram()
  assert.equal(await askForText(second.url, user('go'), assistant), 'two')
  assert.equal(await ended(second.child, 'SIGTERM'), 0)
  // The kill may come before the first answer is logged, but not before its request.
  const requestLines = (await readLog(log)).filter(({ event }) => event === 'request')
  assert.deepEqual(
    requestLines.map(({ turn }) => turn),
    [0, 1],
  )
})
