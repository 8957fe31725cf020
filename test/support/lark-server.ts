/**
 * A server that speaks Lark's wire: access tokens, messages, files, the long connection with binary frames, events and
 * card callbacks, signed and encrypted webhooks. It records what it gets. The official SDK is its client.
 */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { buttonsOf, messageEvent, pressEvent, type SaidMessage } from './lark-server/events.ts'
import { answerRequest } from './lark-server/routes.ts'
import { type Acknowledgement, LarkSockets } from './lark-server/sockets.ts'
import { type Fault, type LarkServerOptions, type LarkServerRequest, LarkServerState } from './lark-server/state.ts'

export class LarkServer extends LarkServerState {
  readonly sockets = new LarkSockets(this)
  /** The address, as `channels.lark.domain`. */
  url = ''

  /** Contract: resolves when the message of a person is acknowledged. */
  say(said: SaidMessage | string): Promise<Acknowledgement> {
    return this.sockets.deliver(messageEvent(this, typeof said === 'string' ? { text: said } : said))
  }

  /** Presses a button of a card that the bot sent. Contract: resolves with what the person sees. */
  press(messageId: string, label: string, user?: string): Promise<Acknowledgement> {
    const message = this.findMessage(messageId) ?? assert.fail(`no message ${messageId}`)
    const button = buttonsOf(message).find((found) => found.label === label) ?? assert.fail(`no button ${label}`)
    return this.sockets.deliver(pressEvent(this, message, button.value, user))
  }

  /** The next requests to the path fail. */
  fail(fault: Omit<Fault, 'times'> & { readonly times?: number }): void {
    this.faults.push({ times: 1, ...fault })
  }

  /** The access tokens are no longer valid, although their time is not over. */
  withdrawTokens(): void {
    this.tokens.clear()
  }

  /** The texts of the bot's cards, in the order in which they were sent. */
  sentTexts(chat?: string): string[] {
    return this.sentMessages(chat).map(({ content }) => textOf(content))
  }

  sentMessages(chat?: string) {
    return this.messages.filter(
      ({ sender, chat_id }) => sender === this.appId && (chat === undefined || chat_id === chat),
    )
  }

  requestsTo(path: RegExp): readonly LarkServerRequest[] {
    return this.requests.filter((request) => path.test(request.path))
  }
}

/** The texts of a card, without its buttons. */
export function textOf(content: unknown): string {
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { tag, content: text } = value as { tag?: string; content?: unknown }
    if (tag === 'markdown') texts.push(String(text).replaceAll('&#60;', '<'))
    for (const child of Object.values(value)) visit(child)
  }
  visit(content)
  return texts.join('\n')
}

export async function startLarkServer(t: TestContext, options: LarkServerOptions = {}): Promise<LarkServer> {
  const lark = new LarkServer(options)
  const server = createServer((request, response) => void respond(lark, request, response))
  server.on('upgrade', (request, socket, head) => lark.sockets.upgrade(request, socket, head))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    lark.sockets.stop()
    server.closeAllConnections()
    server.close()
  })
  lark.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return lark
}

async function respond(lark: LarkServer, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', lark.url)
  const request: LarkServerRequest = {
    ...{ method: incoming.method ?? '', path: pathname, query: Object.fromEntries(searchParams) },
    headers: incoming.headers as LarkServerRequest['headers'],
    body: await buffer(incoming),
  }
  lark.requests.push(request)
  if (lark.hangs?.test(pathname)) return
  const { status, body, headers = {} } = await answerRequest(lark, request)
  const isFile = body instanceof Buffer
  response.writeHead(status, { ...(isFile ? {} : { 'content-type': 'application/json' }), ...headers })
  response.end(isFile ? body : JSON.stringify(body))
}
