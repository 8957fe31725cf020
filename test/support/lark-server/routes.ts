/** The HTTP API of Lark, as far as bots use it: tokens, bot, messages, files, and where the long connection is. */

import type { LarkServerRequest, LarkServerState, StoredMessage } from './state.ts'

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const ok = (data: object = {}): Answer => ({ status: 200, body: { code: 0, msg: 'success', data } })
const failed = (code: number, msg: string, status = 400): Answer => ({ status, body: { code, msg } })

type Fields = Readonly<Record<string, string | boolean | undefined>>
type Handler = (state: LarkServerState, request: LarkServerRequest, ids: readonly string[]) => Answer | Promise<Answer>

const IM = '/open-apis/im/v1'
const ROUTES: readonly (readonly [method: string, path: RegExp, Handler])[] = [
  ['GET', /^\/open-apis\/bot\/v3\/info$/, readBot],
  ['POST', new RegExp(`^${IM}/messages$`), createMessage],
  ['POST', new RegExp(`^${IM}/messages/([^/]+)/reply$`), replyTo],
  ['PATCH', new RegExp(`^${IM}/messages/([^/]+)$`), patchMessage],
  ['GET', new RegExp(`^${IM}/messages/([^/]+)$`), readMessage],
  ['GET', new RegExp(`^${IM}/messages/([^/]+)/resources/([^/]+)$`), readResource],
  ['POST', new RegExp(`^${IM}/files$`), uploadFile],
]

export async function answerRequest(state: LarkServerState, request: LarkServerRequest): Promise<Answer> {
  const fault = state.faults.find(({ path, times }) => times > 0 && path.test(request.path))
  if (fault) {
    fault.times -= 1
    return fault
  }
  if (request.path === '/open-apis/auth/v3/tenant_access_token/internal') return giveToken(state, request)
  if (request.path === '/callback/ws/endpoint') return nameEndpoint(state, request)
  const refused = checkToken(state, request)
  if (refused) return refused
  for (const [method, path, handle] of ROUTES) {
    const [found, ...ids] = path.exec(request.path) ?? []
    if (found && method === request.method) return handle(state, request, ids)
  }
  return failed(99991401, 'no such path', 404)
}

const jsonOf = ({ body }: LarkServerRequest): Fields => JSON.parse(body.toString() || '{}') as Fields

function giveToken(state: LarkServerState, request: LarkServerRequest): Answer {
  const { app_id, app_secret } = jsonOf(request)
  if (app_id !== state.appId) return { status: 200, body: { code: 10003, msg: 'invalid param' } }
  if (app_secret !== state.appSecret) return { status: 200, body: { code: 10014, msg: 'app secret invalid' } }
  const { tokenSeconds: expire = 7200 } = state.options
  const tenant_access_token = state.nextId('t-token')
  state.tokens.set(tenant_access_token, performance.now() + expire * 1000)
  return { status: 200, body: { code: 0, msg: 'ok', tenant_access_token, expire } }
}

function checkToken({ tokens }: LarkServerState, { headers }: LarkServerRequest): Answer | undefined {
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return failed(99991661, 'Missing access token for authorization.')
  if ((tokens.get(token) ?? 0) > performance.now()) return undefined
  return failed(99991663, 'Invalid access token for authorization.')
}

function nameEndpoint(state: LarkServerState, request: LarkServerRequest): Answer {
  const { AppID, AppSecret } = jsonOf(request)
  if (AppID !== state.appId || AppSecret !== state.appSecret)
    return { status: 200, body: { code: 514, msg: 'app_id or app_secret is invalid', data: {} } }
  const host = request.headers.host ?? ''
  const query = `device_id=7390000000000000001&service_id=33554678&ticket=${state.nextId('ticket')}`
  return ok({ URL: `ws://${host}/ws/v2?${query}`, ClientConfig: clientConfig(state) })
}

export const clientConfig = ({ options: { pingSeconds = 120 } }: LarkServerState) => ({
  ...{ ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: pingSeconds },
})

function readBot({ bot }: LarkServerState): Answer {
  return { status: 200, body: { code: 0, msg: 'ok', bot } }
}

const ID_TYPES: Readonly<Record<string, RegExp>> = { chat_id: /^oc_/, open_id: /^ou_/, union_id: /^on_/, email: /@/ }

function createMessage(state: LarkServerState, request: LarkServerRequest): Answer {
  const fields = jsonOf(request)
  const chat = String(fields.receive_id)
  const type = request.query.receive_id_type ?? ''
  if (!ID_TYPES[type]?.test(chat)) return failed(99992402, 'field validation failed')
  if (!state.chats.has(chat)) return failed(230002, 'Bot can NOT be out of the chat.')
  return store(state, fields, { chat_id: chat, root_id: undefined })
}

function replyTo(state: LarkServerState, request: LarkServerRequest, [id = '']: readonly string[]): Answer {
  const root = state.findMessage(id)
  if (!root) return failed(230001, 'Your request contains an invalid request parameter.')
  if (root.isDeleted) return failed(230011, 'The message was recalled.')
  const fields = jsonOf(request)
  return store(state, fields, {
    chat_id: root.chat_id,
    root_id: fields.reply_in_thread ? (root.root_id ?? id) : undefined,
  })
}

function store(state: LarkServerState, fields: Fields, place: Pick<StoredMessage, 'chat_id' | 'root_id'>): Answer {
  const { uuid, msg_type, content } = fields as Readonly<Record<string, string | undefined>>
  if ((uuid?.length ?? 0) > 50) return failed(99992402, 'field validation failed: uuid')
  const sent = state.messages.find((message) => uuid !== undefined && message.uuid === uuid)
  if (sent) return ok({ message_id: sent.message_id, chat_id: sent.chat_id })
  const exceeded = state.exceededLimit(place.chat_id)
  if (exceeded === 'chat') return failed(230020, 'This operation triggers the frequency limit.')
  if (exceeded === 'app')
    return {
      ...failed(99991400, 'request trigger frequency limit', 429),
      headers: { 'x-ogw-ratelimit-reset': restSeconds(state) },
    }
  if (Buffer.byteLength(content ?? '') > 30_000)
    return failed(230025, 'The length of the message content reaches its limit.')
  const parsed = parseContent(content)
  if (parsed === undefined || (msg_type === 'file' && !state.files.has(String(fieldOf(parsed, 'file_key')))))
    return failed(230001, 'Your request contains an invalid request parameter.')
  const message: StoredMessage = {
    ...{ message_id: state.nextId('om'), ...place, msg_type: msg_type ?? '', content: parsed, uuid },
    ...{ sender: state.appId, mentions: [], edits: 0, isDeleted: false },
  }
  state.messages.push(message)
  return ok({ message_id: message.message_id, chat_id: message.chat_id, msg_type })
}

const restSeconds = ({ options }: LarkServerState): string => String((options.limits?.restMs ?? 1000) / 1000)

const fieldOf = (value: unknown, key: string): unknown => (value as Readonly<Record<string, unknown>>)[key]

function parseContent(content: string | undefined): object | undefined {
  try {
    return JSON.parse(content ?? '') as object
  } catch {
    return undefined
  }
}

function patchMessage(state: LarkServerState, request: LarkServerRequest, [id = '']: readonly string[]): Answer {
  const message = state.findMessage(id)
  if (!message) return failed(230001, 'Your request contains an invalid request parameter.')
  if (message.isDeleted) return failed(230011, 'The message was recalled.')
  if (message.msg_type !== 'interactive') return failed(230001, 'This message is NOT a card.')
  message.content = parseContent(String(jsonOf(request).content))
  message.edits += 1
  return ok()
}

function readMessage(state: LarkServerState, _request: LarkServerRequest, [id = '']: readonly string[]): Answer {
  const message = state.findMessage(id)
  if (!message) return failed(230001, 'Your request contains an invalid request parameter.')
  const { sender, mentions } = message
  const isApp = sender === state.appId
  const shown = { id: sender, id_type: isApp ? 'app_id' : 'open_id', sender_type: isApp ? 'app' : 'user' }
  return ok({ items: [{ message_id: id, sender: shown, mentions: mentions.map((mention) => ({ id: mention })) }] })
}

function readResource(state: LarkServerState, _request: LarkServerRequest, ids: readonly string[]): Answer {
  const file = state.files.get(ids[1] ?? '')
  if (!file) return failed(234003, 'File not in msg.')
  return { status: 200, body: file.bytes, headers: { 'content-type': 'application/octet-stream' } }
}

async function uploadFile(state: LarkServerState, { headers, body }: LarkServerRequest): Promise<Answer> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } })
    .formData()
    .catch(() => undefined)
  const file = form?.get('file')
  if (!form || file === null || file === undefined) return failed(234001, 'Invalid request param.')
  // A part without a file name counts as text.
  const bytes = typeof file === 'string' ? Buffer.from(file) : Buffer.from(await file.arrayBuffer())
  if (bytes.length === 0) return failed(234010, "File's size can't be 0.")
  const file_key = state.nextId('file_v3')
  state.files.set(file_key, { name: String(form.get('file_name')), type: String(form.get('file_type')), bytes })
  return ok({ file_key })
}
