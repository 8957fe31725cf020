/** Sends requests to addresses that the owner configured. Reads only the status; follows no redirect. */

import { TirelessError } from '../../domain/error.ts'

interface ChannelRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const TOO_MANY = 429
/** Client errors that are worth a retry: timeout, too early, too many requests. */
const RETRYABLE = new Set([408, 425, TOO_MANY])

/**
 * Contract: resolves if the status is 2xx; else rejects with `channel_unavailable` (a retry may help),
 * `channel_limited` (too many requests) or `channel_refused`. No error quotes the address, because it may contain a
 * secret.
 */
export async function postRequest(
  url: string,
  outgoing: ChannelRequest,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const response = await request(url, outgoing, signal)
  // The response body is not needed and may be endless.
  await response.body?.cancel().catch(() => {})
  const { status, headers } = response
  if (status >= 200 && status < 300) return
  const redirects = status >= 300 && status < 400
  const what = `the address answered with status ${status}${redirects ? '; redirects are not followed' : ''}`
  if (redirects || (status < 500 && !RETRYABLE.has(status))) throw new TirelessError('channel_refused', what)
  const code = status === TOO_MANY ? 'channel_limited' : 'channel_unavailable'
  throw new TirelessError(code, what, { retryAfterMs: retryAfter(headers.get('retry-after'), now) })
}

async function request(url: string, { method, headers, body }: ChannelRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { method, ...(headers && { headers }), body: body ?? null, redirect: 'manual', signal })
  } catch (thrown) {
    if (signal.aborted) throw new TirelessError('channel_unavailable', 'the address did not answer in time')
    const cause = thrown instanceof Error ? (thrown.cause as { readonly code?: unknown } | undefined) : undefined
    const code = typeof cause?.code === 'string' ? cause.code : undefined
    // An error without a code means that the address is invalid and no request was sent.
    if (code === undefined) throw new TirelessError('channel_refused', 'the address is not valid')
    throw new TirelessError('channel_unavailable', `the address cannot be reached (${code})`)
  }
}

function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = header.trim() !== '' && Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
