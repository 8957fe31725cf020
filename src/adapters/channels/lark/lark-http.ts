/**
 * The HTTP client that the SDK uses: fetch, which follows no redirect, ends with a signal, reads bounded answers and
 * obeys no proxy variable. The address is the owner's choice, not an agent's, so it needs no egress (decision 20).
 */

import type { HttpInstance } from '@larksuiteoapi/node-sdk'
import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { withDeadline } from '../../../ports/deadline.ts'
import { errorOf } from './lark-errors.ts'

const MOST_JSON_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 15_000

/** A request as the SDK passes it on; `signal` and `most_bytes` are ours. */
export interface HttpRequest {
  readonly url?: string | undefined
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly data?: unknown
  /** `arraybuffer`: the answer is a file. */
  readonly responseType?: string | undefined
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Largest file that is read. */
  readonly most_bytes?: number | undefined
}

/**
 * Contract: an answer is the parsed body, whose code is 0, or the bytes of a file. Everything else rejects with a
 * TirelessError that quotes neither the address nor the body.
 */
export function larkHttp(clock: Clock): HttpInstance {
  const request = async (options: HttpRequest): Promise<never> =>
    (await withDeadline(
      { clock, ms: options.timeout || TIMEOUT_MS, stop: options.signal },
      (signal) => exchange(options, signal),
      () => {
        throw new TirelessError('channel_unavailable', 'Lark did not answer in time')
      },
    )) as never
  const without = (method: string) => (url: string, options?: HttpRequest) => request({ ...options, method, url })
  const withData = (method: string) => (url: string, data?: unknown, options?: HttpRequest) =>
    request({ ...options, method, url, data })
  return {
    ...{ request, get: without('GET'), delete: without('DELETE'), head: without('HEAD') },
    ...{ options: without('OPTIONS'), post: withData('POST'), put: withData('PUT'), patch: withData('PATCH') },
  } as HttpInstance
}

async function exchange(options: HttpRequest, signal: AbortSignal): Promise<unknown> {
  const response = await send(options, signal)
  const isFile = options.responseType === 'arraybuffer' && response.ok
  const bytes = await readBytes(response, isFile ? (options.most_bytes ?? MOST_JSON_BYTES) : MOST_JSON_BYTES)
  return isFile ? bytes : readAnswer(response, bytes)
}

async function send(options: HttpRequest, signal: AbortSignal): Promise<Response> {
  const { url = '', method = 'GET' } = options
  try {
    const address = new URL(url)
    for (const [key, value] of Object.entries(options.params ?? {})) address.searchParams.set(key, String(value))
    const { headers, body } = bodyOf(options)
    return await fetch(address, { method, headers, body, redirect: 'manual', signal })
  } catch (thrown) {
    const cause = thrown instanceof Error ? (thrown.cause as { readonly code?: unknown } | undefined) : undefined
    const code = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
    throw new TirelessError('channel_unavailable', `Lark cannot be reached${code}`)
  }
}

function bodyOf({ headers: given = {}, data }: HttpRequest): { headers: Headers; body: FormData | string | null } {
  const headers = new Headers(Object.entries(given).map(([key, value]): [string, string] => [key, String(value)]))
  if (headers.get('content-type') === 'multipart/form-data') {
    // fetch sets the header itself, with the boundary.
    headers.delete('content-type')
    return { headers, body: formOf(data) }
  }
  if (data === undefined || data === null) return { headers, body: null }
  headers.set('content-type', 'application/json; charset=utf-8')
  return { headers, body: JSON.stringify(data) }
}

function formOf(data: unknown): FormData {
  const form = new FormData()
  const fields = Object.entries((data ?? {}) as Readonly<Record<string, unknown>>)
  const fileName = String((data as { file_name?: unknown }).file_name ?? 'file')
  for (const [key, value] of fields)
    if (value instanceof Uint8Array) form.append(key, new Blob([new Uint8Array(value)]), fileName)
    else form.append(key, String(value))
  return form
}

async function readBytes(response: Response, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > most) throw new TirelessError('channel_refused', `the answer of Lark has more than ${most} bytes`)
      chunks.push(chunk)
    }
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    throw new TirelessError('channel_unavailable', 'the answer of Lark broke off')
  }
  return Buffer.concat(chunks)
}

const answerShape = z.looseObject({ code: z.number(), msg: z.string().catch('') })

function readAnswer({ status, ok, headers }: Response, bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    value = undefined
  }
  const { success, data } = answerShape.safeParse(value)
  if (ok && success && data.code === 0) return data
  if (ok && !success) throw new TirelessError('channel_unavailable', `Lark answered status ${status} without a code`)
  throw errorOf({ status, code: data?.code, message: data?.msg ?? '', headers })
}
