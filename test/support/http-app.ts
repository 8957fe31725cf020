/** An app that serves HTTP, raw requests with any header, and the stream of live events. */

import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { TestContext } from 'node:test'
import { createGunzip } from 'node:zlib'
import type { App, AppOptions } from '../../src/app.ts'
import type { ServerAddress } from '../../src/commands/lib/context.ts'
import { freshFolder, openApp } from './open-app.ts'

export interface HttpApp extends ServerAddress {
  readonly app: App
  readonly home: string
  readonly port: number
  readonly token: string
  readonly bearer: { readonly authorization: string }
}

export async function openHttpApp(t: TestContext, options: AppOptions & { yaml?: string } = {}): Promise<HttpApp> {
  const home = options.home ?? freshFolder(t)
  const app = await openApp(t, { yaml: 'server: { port: 0 }\n', ...options, home })
  const served = await app.context.serveHttp()
  const token = readFileSync(served.token_file, 'utf8').trim()
  const port = Number(new URL(served.url).port)
  return { ...served, app, home, port, token, bearer: { authorization: `Bearer ${token}` } }
}

export interface HttpRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body. */
  json<T = Record<string, unknown>>(): T
  readonly code: string | undefined
}

export async function sendRequest(
  { port }: { readonly port: number },
  path: string,
  asked: HttpRequest = {},
): Promise<HttpResponse> {
  const response = await open(port, path, asked)
  const text = Buffer.concat(await response.toArray()).toString('utf8')
  const json = <T>(): T => JSON.parse(text) as T
  const code = text.startsWith('{"error"') ? json<{ error: { code: string } }>().error.code : undefined
  return { status: response.statusCode ?? 0, headers: response.headers, text, json, code }
}

export const JSON_BODY = { 'content-type': 'application/json' }

/** An address with its credentials. */
export type HttpAddress = Pick<HttpApp, 'port' | 'bearer'>

export function postJson(to: HttpAddress, path: string, body: object, headers: HttpRequest['headers'] = to.bearer) {
  return sendRequest(to, path, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) })
}

function open(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: HttpRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sized = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...sized, ...headers }, agent: false },
      resolve,
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

export interface SseMessage {
  readonly id: string
  readonly name: string
  readonly data: Record<string, unknown>
}

export interface EventStream {
  readonly messages: readonly SseMessage[]
  readonly ended: Promise<void>
  /** The connection itself, for tests of clients that stop reading. */
  readonly response: IncomingMessage
  disconnect(): void
}

/** Contract: the stream is connected when it resolves. */
/** `accepted`: the header `Accept-Encoding`. */
export async function openEventStream(to: HttpAddress, last?: string, accepted?: string): Promise<EventStream> {
  const headers = {
    ...to.bearer,
    ...(last === undefined ? {} : { 'last-event-id': last }),
    ...(accepted === undefined ? {} : { 'accept-encoding': accepted }),
  }
  const response = await open(to.port, '/api/v1/events', { headers })
  if (response.statusCode !== 200) throw new Error(`the event stream answered with status ${response.statusCode}`)
  const messages: SseMessage[] = []
  let incomplete = ''
  const isCompressed = response.headers['content-encoding'] === 'gzip'
  const texts = isCompressed ? response.pipe(createGunzip().on('error', () => {})) : response
  texts.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${incomplete}${text}`.split('\n\n')
    incomplete = parts.pop() ?? ''
    messages.push(...parts.flatMap(messageOf))
  })
  const ended = new Promise<void>((resolve) => response.once('close', resolve))
  response.on('error', () => {})
  return { messages, ended, response, disconnect: () => response.destroy() }
}

function messageOf(part: string): SseMessage[] {
  const fields = new Map(part.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
  const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
  return id === undefined || name === undefined || data === undefined ? [] : [{ id, name, data: JSON.parse(data) }]
}
