/**
 * A scripted model provider for tests: OpenAI's Chat Completions and Anthropic's Messages over real sockets, with every
 * fault of the provider fault matrix. The answer depends on the request alone; the only state is the number of faults.
 */

import { appendFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { anthropicFormat } from './provider-server/anthropic.ts'
import { openAIFormat } from './provider-server/openai.ts'
import { buildReply, type Reply } from './provider-server/replies.ts'
import {
  type ChatRequest,
  chooseTurn,
  findPosition,
  type ProviderScript,
  parseRequest,
  parseScript,
} from './provider-server/script.ts'
import type { WireFormat } from './provider-server/wire.ts'

export type { ProviderScript as Script } from './provider-server/script.ts'

export interface RecordedRequest {
  readonly index: number
  /** The first user message. */
  readonly conversation: string
  /** The number of assistant messages so far. */
  readonly turn: number
  /** Number of earlier requests for this turn of the conversation. */
  readonly attempt: number
  readonly fault: string | null
  readonly stream: boolean
  readonly headers: IncomingHttpHeaders
  readonly body: ChatRequest
}

export interface ProviderServer {
  /** The base URL for clients, with /v1. */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Contract: idempotent; ends hanging requests. */
  close(): Promise<void>
}

export interface ProviderOptions {
  readonly script: ProviderScript
  readonly port?: number | undefined
  /** Requests with another key, or without one, are refused. */
  readonly key?: string | undefined
  /**
   * A file for JSON lines: `{"event":"request",…}` before each answer, `{"event":"answered",…}` after it was sent
   * completely. The file is only appended to, so requests can be counted even if client or server is killed.
   */
  readonly log?: string | undefined
}

export async function startProviderServer({ script, port = 0, key, log }: ProviderOptions): Promise<ProviderServer> {
  const parsed = parseScript(script)
  const requests: RecordedRequest[] = []
  const attempts = new Map<string, number>()
  const closing = new AbortController()
  const appendLog = (line: object) => log !== undefined && appendFileSync(log, `${JSON.stringify(line)}\n`)

  async function handleRequest(format: WireFormat, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = parseRequest(await json(message).catch(() => undefined))
    if (!body) return sendJson(response, 400, format.errorBody('bad_request', 'invalid request'))
    const position = findPosition(body)
    const key = JSON.stringify(position)
    const attempt = attempts.get(key) ?? 0
    attempts.set(key, attempt + 1)
    const turn = chooseTurn(parsed, position, body)
    const fault = turn.faults?.[attempt] ?? undefined
    const index = requests.length
    const entry = { index, ...position, attempt, fault: fault?.fault ?? null, stream: body.stream === true, body }
    requests.push({ ...entry, headers: message.headers })
    appendLog({ event: 'request', ...entry })
    if (turn.delay_ms !== undefined) await delay(turn.delay_ms, undefined, { signal: closing.signal })
    const reply = buildReply({ wire: format, request: body, turn: position.turn, id: `answer-${index}` }, turn, fault)
    const isComplete = await send(response, reply)
    if (isComplete)
      appendLog({
        event: 'answered',
        index,
        conversation: position.conversation,
        turn: position.turn,
        fault: entry.fault,
      })
  }

  const server = createServer((message, response) => {
    const route = `${message.method} ${new URL(message.url ?? '/', 'http://localhost').pathname}`
    const format = FORMATS[route]
    if (key !== undefined && keyOf(message) !== key)
      return sendJson(response, 401, { error: { message: `invalid key ${keyOf(message)}`, code: 'invalid_api_key' } })
    if (format) return void handleRequest(format, message, response).catch(() => response.destroy())
    if (route === 'GET /v1/models') return sendJson(response, 200, MODELS)
    sendJson(response, 404, { error: { message: `unknown route: ${route}`, code: 'not_found' } })
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

const FORMATS: Readonly<Record<string, WireFormat>> = {
  'POST /v1/chat/completions': openAIFormat,
  'POST /v1/messages': anthropicFormat,
}

const keyOf = ({ headers }: IncomingMessage): string | undefined =>
  headers['x-api-key']?.toString() ?? headers.authorization?.replace(/^Bearer /, '')

const MODELS = { object: 'list', data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'tireless' }] }

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Contract: true if the answer was sent completely. */
async function send(response: ServerResponse, reply: Reply): Promise<boolean> {
  if (reply.kind === 'silence') return false
  if (reply.kind === 'reset') {
    response.socket?.resetAndDestroy()
    return false
  }
  const closed = new Promise<false>((resolve) => response.once('close', () => resolve(false)))
  response.writeHead(reply.status, reply.headers)
  for (const piece of reply.pieces) {
    // Waits until each piece is written. Otherwise destroying the socket could discard the piece, and the client would
    // see a reset instead of a cut in the middle.
    const written = new Promise<boolean>((resolve) => response.write(piece, (error) => resolve(!error)))
    if (!(await Promise.race([written, closed]))) return false
  }
  if (reply.ends === 'stall') return false
  if (reply.ends === 'destroy') {
    response.destroy()
    return false
  }
  return Promise.race([new Promise<true>((resolve) => response.end(() => resolve(true))), closed])
}
