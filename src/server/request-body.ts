/** Reads request bodies, up to a size limit. */

import type { IncomingMessage } from 'node:http'
import { TirelessError } from '../domain/error.ts'
import { httpError } from './error-response.ts'

const MAX_BYTES = 1024 * 1024

/** Contract: the body as a JSON object; `{}` for an empty body. */
export async function readJsonBody(incoming: IncomingMessage): Promise<object> {
  const text = await readTextBody(incoming)
  return text.trim() === '' ? {} : parseObject(text)
}

/** Contract: the body as text, exactly as it was sent. */
export async function readTextBody(incoming: IncomingMessage, mostBytes = MAX_BYTES): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes)
      throw httpError(413, { what: 'the body is too large', expected: `at most ${mostBytes} bytes` })
    chunks.push(chunk)
  }
  return decodeUtf8(Buffer.concat(chunks))
}

/**
 * Refuses bytes that are not UTF-8, because they would be stored as other text. Keeps a byte order mark, because
 * signatures include it.
 */
function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new TirelessError('usage', { what: 'the body is not UTF-8 text', fix: 'send it as UTF-8' }, { cause })
  }
}

function parseObject(text: string): object {
  const notAnObject = (got: string): TirelessError =>
    new TirelessError('usage', {
      what: 'the body is not a JSON object',
      got,
      expected: 'an object such as {"prompt": "…"}',
    })
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw notAnObject((cause as Error).message)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject(text.slice(0, 40))
  return value
}
