/** Requests as they are written on the wire: a header twice, in any spelling, or not at all. */

import { connect } from 'node:net'

export type Header = readonly [name: string, value: string]

export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly body?: string
}

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: readonly Header[]
  readonly body: string
}

/** Contract: the answer, or of one that does not end (events, an upgrade) its beginning; the connection is closed. */
export async function sendRaw(
  port: number,
  { method, target, headers, body = '' }: RawRequest,
  host = '127.0.0.1',
): Promise<RawAnswer> {
  const sized: readonly Header[] = body === '' ? [] : [['Content-Length', String(Buffer.byteLength(body))]]
  const lines = [...headers, ...sized].map(([name, value]) => `${name}: ${value}`)
  return sendBytes(port, `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`, host)
}

export function sendBytes(port: number, bytes: string | Buffer, host = '127.0.0.1'): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    let received = Buffer.alloc(0)
    const finish = (): void => {
      socket.destroy()
      resolve(parseAnswer(received.toString('utf8')))
    }
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (isComplete(received.toString('utf8'))) finish()
    })
    // A server that refuses may close the connection while the rest of the request is being sent.
    socket.on('error', finish)
    socket.on('close', finish)
    socket.write(bytes)
  })
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end < 0 ? undefined : end).split('\r\n')
  const headers = lines.map((line): Header => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: end < 0 ? '' : text.slice(end + 4) }
}

function isComplete(text: string): boolean {
  if (!text.includes('\r\n\r\n')) return false
  const { status, headers, body } = parseAnswer(text)
  const isEndless = status === 101 || headers.some(([, value]) => value === 'text/event-stream')
  const length = headers.find(([name]) => name === 'content-length')?.[1]
  return isEndless || (length !== undefined && Buffer.byteLength(body) >= Number(length))
}
