/** fetch: one HTTP request through the egress guard. GET and HEAD may be repeated; other methods run once. */

import { z } from 'zod'
import { type Address, formatHostPort, parseHttpAddress } from '../../domain/address.ts'
import type { CallResult } from '../../domain/decision.ts'
import type { Effect } from '../../domain/effect.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { Egress, EgressResponse, UnfollowedRedirect } from '../../ports/egress.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult, toolError } from './tool-result.ts'
import { responseText } from './web-text.ts'

const MOST_TEXT_BYTES = 5 * 1024 * 1024
const MOST_FILE_BYTES = 10 * 1024 * 1024
/** At most this much of a response is shown to the model; the rest is cut. */
const MOST_CHARACTERS = 40_000

/** The schema of a URL argument. It refuses ambiguous and invalid addresses before policy sees the call. */
export const webAddress = z.string().superRefine((value, context) => {
  const read = parseHttpAddress(value)
  if (read.kind === 'refused')
    context.addIssue({ code: 'custom', message: `${read.why}; expected http(s)://host/path` })
})

/** Headers that the model cannot set, because the HTTP client sets them. */
const TRANSPORT_HEADERS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['keep-alive', 'accept-encoding'],
])
const isTransportHeader = (name: string): boolean => TRANSPORT_HEADERS.has(name) || name.startsWith('proxy-')
const isHeader = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !isTransportHeader(name.toLowerCase())

const headers = z.record(z.string(), z.string()).superRefine((given, context) => {
  for (const [name, value] of Object.entries(given))
    if (!isHeader(name) || /[\r\n\0]/.test(value))
      context.addIssue({
        code: 'custom',
        message: `${JSON.stringify(name)}: not a valid header, or one that is set automatically`,
      })
})

const args = z.strictObject({
  url: webAddress,
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  body: z.string().optional(),
  headers: headers.optional(),
  save_to: z.string().optional(),
})
type Args = z.infer<typeof args>

export const fetchTool = (egress: Egress): AnyTool =>
  defineToolWithText<Args>({
    name: 'fetch',
    loadText: () => loadToolText('fetch'),
    args,
    needs: ['file'],
    secrets: ['headers'],
    effect: (wanted) => ({ ...effectOf(wanted), ...(wanted.save_to === undefined ? {} : { writes: true }) }),
    gives: () => UNTRUSTED_LABEL,
    destinations: ({ url }) => [parseUrl(url).url],
    // The method is part of the content: an owner who asked to read from a host has not asked to send to it.
    content: ({ method, body = '', headers }) => [method.toLowerCase(), body, ...freeHeaders(headers)],
    refuses: ({ url }) => egress.refusal(parseUrl(url)),
    run: (wanted, context) => asToolResult(() => sendRequest(egress, wanted, context)),
  })

function effectOf({ url, method, headers, save_to }: Args): Effect {
  const host = formatHostPort(parseUrl(url))
  if (method === 'DELETE') return { recovery: 'once', reach: 'destructive', host, method }
  if (!isSafe(method)) return { recovery: 'once', reach: 'third_party', host, method }
  const recovery = save_to === undefined ? 'pure' : 'idempotent'
  return freeHeaders(headers).length === 0
    ? { recovery, reach: 'network', host }
    : { recovery: 'idempotent', reach: 'third_party', host, method }
}

/** Headers whose value is not a secret: they are data that the call sends to the host. */
const freeHeaders = (headers: Args['headers'] = {}): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    /^(?:\w+ )?secret:[\w-]+$/.test(value) ? [] : [`${name}: ${value}`],
  )

const isSafe = (method: Args['method']): boolean => method === 'GET' || method === 'HEAD'

/** Does not throw for arguments that passed the schema: it has already refused invalid addresses. */
function parseUrl(url: string): Address {
  const read = parseHttpAddress(url)
  if (read.kind === 'read') return read.value
  throw new TypeError(read.why)
}

async function sendRequest(
  egress: Egress,
  { url, method, body, headers, save_to }: Args,
  context: ToolContext,
): Promise<CallResult> {
  if (isSafe(method) && body !== undefined)
    return toolError(`${method} cannot send a body; leave body out, or use POST`)
  const outgoing = {
    ...{ to: parseUrl(url), method, maxBytes: save_to === undefined ? MOST_TEXT_BYTES : MOST_FILE_BYTES },
    headers: { ...(body === undefined ? {} : { 'content-type': contentTypeFor(body) }), ...lowerCased(headers) },
    ...(body === undefined ? {} : { body }),
  }
  const answered = await egress.ask(outgoing, context.signal)
  if (answered.kind === 'sent_on') return redirectResult(answered)
  if (save_to !== undefined && answered.status < 300) return saveBody(answered, save_to, context)
  return showBody(answered)
}

const lowerCased = (headers: Args['headers'] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Guesses the content type of a body, because servers need a content type and models seldom give one. */
function contentTypeFor(body: string): string {
  if (isJson(body)) return 'application/json'
  return /^[^\s=&]+=[^\s&]*(&[^\s=&]+=[^\s&]*)*$/.test(body)
    ? 'application/x-www-form-urlencoded'
    : 'text/plain; charset=utf-8'
}

function isJson(body: string): boolean {
  try {
    return typeof JSON.parse(body) === 'object'
  } catch {
    return false
  }
}

const redirectResult = ({ status, to }: UnfollowedRedirect): CallResult => ({
  status: 'ok',
  content: `HTTP ${status}: redirect not followed; if you want it, fetch ${JSON.stringify(to.slice(0, 2000))}`,
})

async function saveBody(
  { from, body, truncated: cut, headers }: EgressResponse,
  path: string,
  { ops }: ToolContext,
): Promise<CallResult> {
  if (cut) return toolError(`nothing was saved: the response is larger than ${MOST_FILE_BYTES} bytes`)
  await ops('file').write(path, body, null)
  const type = headers['content-type'] ?? 'unknown type'
  return { status: 'ok', content: `saved ${body.length} bytes (${type.slice(0, 100)}) of ${from.url} to ${path}` }
}

function showBody({ from, status, headers, body, truncated: cut }: EgressResponse): CallResult {
  const type = (headers['content-type'] ?? '').slice(0, 200)
  const head = `HTTP ${status} ${from.url}${type === '' ? '' : ` (${type})`}`
  const text = responseText(body, type, from.url)
  if (text === undefined)
    return toolError(`${head}\nnot text (${body.length}${cut ? ' or more' : ''} bytes); use save_to to save it`)
  const end = cut || text.length > MOST_CHARACTERS ? '\n[cut here; use save_to for the full text]' : ''
  const content = `${head}\n\n${text.slice(0, MOST_CHARACTERS).toWellFormed()}${end}`
  return status < 400 ? { status: 'ok', content } : toolError(content)
}
