/** Requests to addresses that the owner configured: nothing of an answer is read but its status, and no redirect is followed. */

import { TirelessError } from '../../domain/error.ts'

export interface Outgoing {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Worth another try, though it is a refusal: too slow, too early, too often. */
const LATER = new Set([408, 425, 429])

/** Contract: resolves on 2xx. Rejects saying whether to try again; no message quotes the address, which may hold a secret. */
export async function send(url: string, outgoing: Outgoing, now: number, signal: AbortSignal): Promise<void> {
  const response = await answer(url, outgoing, signal)
  // Whatever it says would be read by nobody, and may be without end.
  await response.body?.cancel().catch(() => {})
  const { status, headers } = response
  if (status >= 200 && status < 300) return
  const redirects = status >= 300 && status < 400
  const what = `the other side answered ${status}${redirects ? ', and redirects are not followed' : ''}`
  if (redirects || (status < 500 && !LATER.has(status))) throw new TirelessError('channel_refused', what)
  throw new TirelessError('channel_unavailable', what, { retryAfterMs: retryAfter(headers.get('retry-after'), now) })
}

async function answer(url: string, { method, headers, body }: Outgoing, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { method, ...(headers && { headers }), body: body ?? null, redirect: 'manual', signal })
  } catch (thrown) {
    if (signal.aborted) throw new TirelessError('channel_unavailable', 'the other side took too long')
    const cause = thrown instanceof Error ? (thrown.cause as { readonly code?: unknown } | undefined) : undefined
    const code = typeof cause?.code === 'string' ? cause.code : undefined
    // Without a code it never left: the address itself is none that can be asked.
    if (code === undefined) throw new TirelessError('channel_refused', 'the address cannot be used')
    throw new TirelessError('channel_unavailable', `the other side cannot be reached (${code})`)
  }
}

function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = header.trim() !== '' && Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
