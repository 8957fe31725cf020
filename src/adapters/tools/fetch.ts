/** fetch: one request to the web, through the one way out. To ask changes nothing; everything else is said once. */

import { z } from 'zod'
import { type Address, addressOf, placeText } from '../../domain/address.ts'
import type { CallResult } from '../../domain/decision.ts'
import type { Effect } from '../../domain/effect.ts'
import { UNTRUSTED } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { Answered, Egress, SentOn } from '../../ports/egress.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { failed, told } from './result.ts'
import { webText } from './web-text.ts'

const MOST_TEXT_BYTES = 5 * 1024 * 1024
const MOST_FILE_BYTES = 10 * 1024 * 1024
/** What a mind is shown of it. */
const MOST_CHARACTERS = 40_000

/** An address that can be read in one way only; refused before anything is asked about it. */
export const webAddress = z.string().superRefine((value, context) => {
  const read = addressOf(value)
  if (read.kind === 'refused')
    context.addIssue({ code: 'custom', message: `${read.why}; expected http(s)://host/path` })
})

/** Those that say how a request is carried are the carrier's. */
const CARRIERS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding)$/i
const isHeader = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !CARRIERS.test(name)

/** Checked here, so that what is wrong with them is not in every request. */
const headers = z.record(z.string(), z.string()).superRefine((given, context) => {
  for (const [name, value] of Object.entries(given))
    if (!isHeader(name) || /[\r\n\0]/.test(value))
      context.addIssue({
        code: 'custom',
        message: `${JSON.stringify(name)}: no header, or one that the program sets itself`,
      })
})

const args = z.strictObject({
  url: webAddress.describe('http(s)://…'),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  body: z.string().optional(),
  headers: headers.optional().describe('Values may be secret:NAME.'),
  save_to: z.string().optional().describe('A new file to keep it in.'),
})
type Args = z.infer<typeof args>

export const fetch = (egress: Egress): AnyTool =>
  defineTool<Args>({
    name: 'fetch',
    description: 'Asks the web; pages come as text. A redirect to another host is told, not followed.',
    args,
    needs: ['file'],
    secrets: ['headers'],
    effect: (wanted) => ({ ...effectOf(wanted), ...(wanted.save_to === undefined ? {} : { writes: true }) }),
    gives: () => UNTRUSTED,
    destinations: ({ url }) => [known(url).url],
    // Nobody who was told to read has been told to send: the method has to be among the words, too.
    content: ({ method, body = '', headers }) => [method.toLowerCase(), body, ...freeHeaders(headers)],
    refuses: ({ url }) => egress.refusal(known(url)),
    run: (wanted, context) => told(() => answerTo(egress, wanted, context)),
  })

function effectOf({ url, method, headers, save_to }: Args): Effect {
  const host = placeText(known(url))
  if (method === 'DELETE') return { recovery: 'once', reach: 'destructive', host, method }
  if (!isSafe(method)) return { recovery: 'once', reach: 'third_party', host, method }
  const recovery = save_to === undefined ? 'pure' : 'idempotent'
  return freeHeaders(headers).length === 0
    ? { recovery, reach: 'network', host }
    : { recovery: 'idempotent', reach: 'third_party', host, method }
}

/** What headers tell the host beside a secret that was set for it. */
const freeHeaders = (headers: Args['headers'] = {}): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    /^(?:\w+ )?secret:[\w-]+$/.test(value) ? [] : [`${name}: ${value}`],
  )

const isSafe = (method: Args['method']): boolean => method === 'GET' || method === 'HEAD'

/** Whoever has come so far has been read already. */
function known(url: string): Address {
  const read = addressOf(url)
  if (read.kind === 'read') return read.value
  throw new TypeError(read.why)
}

async function answerTo(
  egress: Egress,
  { url, method, body, headers, save_to }: Args,
  context: ToolContext,
): Promise<CallResult> {
  if (isSafe(method) && body !== undefined) return failed(`${method} sends nothing; leave body out, or use POST`)
  const outgoing = {
    ...{ to: known(url), method, maxBytes: save_to === undefined ? MOST_TEXT_BYTES : MOST_FILE_BYTES },
    headers: { ...(body === undefined ? {} : { 'content-type': kindOf(body) }), ...lowerCased(headers) },
    ...(body === undefined ? {} : { body }),
  }
  const answered = await egress.ask(outgoing, context.signal)
  if (answered.kind === 'sent_on') return sentOn(answered)
  if (save_to !== undefined && answered.status < 300) return saved(answered, save_to, context)
  return shown(answered)
}

const lowerCased = (headers: Args['headers'] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Nobody says it for the model, and servers want to know. */
function kindOf(body: string): string {
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

const sentOn = ({ status, to }: SentOn): CallResult => ({
  status: 'ok',
  content: `HTTP ${status}: it redirects to ${JSON.stringify(to.slice(0, 2000))}, which was not asked; fetch that if you mean it`,
})

async function saved({ from, body, cut, headers }: Answered, path: string, { ops }: ToolContext): Promise<CallResult> {
  if (cut) return failed(`nothing was saved: the answer is larger than ${MOST_FILE_BYTES} bytes`)
  await ops('file').write(path, body, null)
  const type = headers['content-type'] ?? 'of unknown kind'
  return { status: 'ok', content: `saved ${body.length} bytes (${type.slice(0, 100)}) of ${from.url} to ${path}` }
}

function shown({ from, status, headers, body, cut }: Answered): CallResult {
  const type = (headers['content-type'] ?? '').slice(0, 200)
  const head = `HTTP ${status} ${from.url}${type === '' ? '' : ` (${type})`}`
  const text = webText(body, type, from.url)
  if (text === undefined)
    return failed(`${head}\nit is no text (${body.length}${cut ? ' or more' : ''} bytes); give save_to to keep it`)
  const end = cut || text.length > MOST_CHARACTERS ? '\n[cut here; use save_to for the whole]' : ''
  const content = `${head}\n\n${text.slice(0, MOST_CHARACTERS).toWellFormed()}${end}`
  return status < 400 ? { status: 'ok', content } : failed(content)
}
