/**
 * Our provider: a server that speaks OpenAI's chat completions and Anthropic's messages over real sockets, scripted, with every fault of the
 * provider fault matrix. Which answer a request gets depends on the request alone; only the count of faults is kept.
 */

import { appendFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { anthropicWire } from './provider-server/anthropic.ts'
import { openAIWire } from './provider-server/openai.ts'
import { type Reply, replyTo } from './provider-server/replies.ts'
import { type ChatRequest, parseRequest, parseScript, placeOf, type Script, turnAt } from './provider-server/script.ts'
import type { Wire } from './provider-server/wire.ts'

export type { Script } from './provider-server/script.ts'

export interface RecordedRequest {
  readonly index: number
  /** The first user message. */
  readonly conversation: string
  /** The number of assistant messages so far. */
  readonly turn: number
  /** How often this turn of this conversation had been asked for before. */
  readonly attempt: number
  readonly fault: string | null
  readonly stream: boolean
  readonly headers: IncomingHttpHeaders
  readonly body: ChatRequest
}

export interface ProviderServer {
  /** Ends in /v1: the base URL of a client. */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Contract: idempotent; ends what hangs. */
  close(): Promise<void>
}

export interface ProviderOptions {
  readonly script: Script
  readonly port?: number | undefined
  /**
   * A file that gets a line of JSON per request, `{"event":"request",…}`, before the answer is sent, and `{"event":"answered",…}`
   * once it was sent whole: so that requests can be counted over kills of the client and of the server.
   */
  readonly log?: string | undefined
}

export async function startProviderServer({ script, port = 0, log }: ProviderOptions): Promise<ProviderServer> {
  const parsed = parseScript(script)
  const requests: RecordedRequest[] = []
  const asked = new Map<string, number>()
  const closing = new AbortController()
  const note = (line: object) => log !== undefined && appendFileSync(log, `${JSON.stringify(line)}\n`)

  async function complete(wire: Wire, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = parseRequest(await json(message).catch(() => undefined))
    if (!body) return sendJson(response, 400, wire.errorBody('bad_request', 'not a request of this format'))
    const place = placeOf(body)
    const key = JSON.stringify(place)
    const attempt = asked.get(key) ?? 0
    asked.set(key, attempt + 1)
    const turn = turnAt(parsed, place)
    const fault = turn.faults?.[attempt] ?? undefined
    const index = requests.length
    const entry = { index, ...place, attempt, fault: fault?.fault ?? null, stream: body.stream === true, body }
    requests.push({ ...entry, headers: message.headers })
    note({ event: 'request', ...entry })
    if (turn.delay_ms !== undefined) await delay(turn.delay_ms, undefined, { signal: closing.signal })
    const reply = replyTo({ wire, request: body, turn: place.turn, id: `answer-${index}` }, turn, fault)
    const whole = await send(response, reply)
    if (whole)
      note({ event: 'answered', index, conversation: place.conversation, turn: place.turn, fault: entry.fault })
  }

  const server = createServer((message, response) => {
    const route = `${message.method} ${new URL(message.url ?? '/', 'http://localhost').pathname}`
    const wire = WIRES[route]
    if (wire) return void complete(wire, message, response).catch(() => response.destroy())
    if (route === 'GET /v1/models') return sendJson(response, 200, MODELS)
    sendJson(response, 404, { error: { message: `no such route: ${route}`, code: 'not_found' } })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      closing.abort()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const WIRES: Readonly<Record<string, Wire>> = {
  'POST /v1/chat/completions': openAIWire,
  'POST /v1/messages': anthropicWire,
}

const MODELS = { object: 'list', data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'tireless' }] }

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Contract: true when the answer was sent whole. */
async function send(response: ServerResponse, reply: Reply): Promise<boolean> {
  if (reply.kind === 'silence') return false
  if (reply.kind === 'reset') {
    response.socket?.resetAndDestroy()
    return false
  }
  const gone = new Promise<false>((resolve) => response.once('close', () => resolve(false)))
  response.writeHead(reply.status, reply.headers)
  for (const piece of reply.pieces) {
    // Each piece reaches the kernel before the next step: otherwise a destroyed socket would take it along, and the client would see
    // a reset before any byte where the script says a cut in the middle.
    const written = new Promise<boolean>((resolve) => response.write(piece, (error) => resolve(!error)))
    if (!(await Promise.race([written, gone]))) return false
  }
  if (reply.ends === 'stall') return false
  if (reply.ends === 'destroy') {
    response.destroy()
    return false
  }
  return Promise.race([new Promise<true>((resolve) => response.end(() => resolve(true))), gone])
}
