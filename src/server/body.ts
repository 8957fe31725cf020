/** The body of a request: a JSON object, and not an endless one. */

import type { IncomingMessage } from 'node:http'
import { TirelessError } from '../domain/error.ts'
import { refusal } from './answer.ts'

const MOST_BYTES = 1024 * 1024

/** Contract: `{}` where there is none. */
export async function bodyOf(incoming: IncomingMessage): Promise<object> {
  const text = await textOf(incoming)
  return text.trim() === '' ? {} : objectOf(text)
}

/** Contract: as it came. */
export async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES)
      throw refusal(413, { what: 'the body is too large', expected: `at most ${MOST_BYTES} bytes` })
    chunks.push(chunk)
  }
  return decoded(Buffer.concat(chunks))
}

/** Bytes that are no text would be kept as something else than was sent. The mark at the beginning stays: a signature counts it. */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new TirelessError('usage', { what: 'the body is not UTF-8 text', fix: 'send it as UTF-8' }, { cause })
  }
}

function objectOf(text: string): object {
  const wrong = (got: string): TirelessError =>
    new TirelessError('usage', { what: 'the body is no JSON object', got, expected: 'such as {"prompt": "…"}' })
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw wrong((cause as Error).message)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(text.slice(0, 40))
  return value
}
