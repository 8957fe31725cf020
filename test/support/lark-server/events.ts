/** Events as Lark makes them, and as it signs and encrypts them for webhooks. */

import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import type { LarkServerState, StoredMessage } from './state.ts'

export interface SaidMessage {
  readonly text?: string
  /** Default: a private chat. */
  readonly chat?: string
  readonly group?: boolean
  readonly user?: string
  readonly isBot?: boolean
  readonly mentions?: readonly { readonly open_id: string; readonly name: string }[]
  /** The first message of the thread in which it is written; `new`: it begins one. */
  readonly thread?: string
  readonly type?: string
  readonly content?: unknown
}

export interface LarkEvent {
  readonly schema: '2.0'
  readonly header: Readonly<Record<string, string>>
  readonly event: Readonly<Record<string, unknown>>
}

export const envelope = (state: LarkServerState, type: string, event: LarkEvent['event']): LarkEvent => ({
  schema: '2.0',
  header: {
    ...{ event_id: state.nextId('event'), event_type: type, app_id: state.appId, tenant_key: 'tenant' },
    ...{ token: state.verificationToken, create_time: String(Date.now()) },
  },
  event,
})

/** Stores the message of a person and makes the event of it. */
export function messageEvent(state: LarkServerState, said: SaidMessage): LarkEvent {
  const { text = '', chat = 'oc_home', user = 'ou_owner', mentions = [], thread, type = 'text' } = said
  const message_id = state.nextId('om')
  const root_id = thread === 'new' ? undefined : thread
  const content = said.content ?? { text }
  state.messages.push({
    ...{ message_id, chat_id: chat, msg_type: type, content, uuid: undefined, root_id, sender: user },
    ...{ mentions: mentions.map(({ open_id }) => open_id), edits: 0, isDeleted: false },
  })
  const ids = (open_id: string) => ({ open_id, union_id: `on_${open_id}`, user_id: `u_${open_id}` })
  return envelope(state, 'im.message.receive_v1', {
    sender: { sender_id: ids(user), sender_type: said.isBot ? 'app' : 'user', tenant_key: 'tenant' },
    message: {
      ...{ message_id, chat_id: chat, chat_type: said.group ? 'group' : 'p2p', message_type: type },
      ...(root_id === undefined ? {} : { root_id, parent_id: root_id }),
      ...(thread === undefined ? {} : { thread_id: `omt_${root_id ?? message_id}` }),
      content: typeof content === 'string' ? content : JSON.stringify(content),
      mentions: mentions.map(({ open_id, name }, at) => ({ key: `@_user_${at + 1}`, id: ids(open_id), name })),
      ...{ create_time: String(Date.now()), update_time: String(Date.now()) },
    },
  })
}

interface Button {
  readonly label: string
  readonly value: unknown
}

/** The buttons of a card, in their order. */
export function buttonsOf({ content }: Pick<StoredMessage, 'content'>): readonly Button[] {
  const found: Button[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as { tag?: string; text?: { content: string }; behaviors?: { value: unknown }[] }
    if (node.tag === 'button') found.push({ label: node.text?.content ?? '', value: node.behaviors?.[0]?.value })
    for (const child of Object.values(value)) visit(child)
  }
  visit(content)
  return found
}

export const pressEvent = (state: LarkServerState, message: StoredMessage, value: unknown, user = 'ou_owner') =>
  envelope(state, 'card.action.trigger', {
    operator: { tenant_key: 'tenant', open_id: user, union_id: `on_${user}` },
    token: state.nextId('c-token'),
    action: { value, tag: 'button' },
    ...{ host: 'im_message', context: { open_message_id: message.message_id, open_chat_id: message.chat_id } },
  })

export interface WebhookPost {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function encrypt(value: unknown, key: string): string {
  const vector = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(key).digest(), vector)
  return Buffer.concat([vector, cipher.update(JSON.stringify(value)), cipher.final()]).toString('base64')
}

/** `at`: the time of the request in milliseconds. */
export function signedPost(value: unknown, key: string, at: number): WebhookPost {
  const body = JSON.stringify({ encrypt: encrypt(value, key) })
  const [timestamp, nonce] = [String(Math.floor(at / 1000)), randomBytes(8).toString('hex')]
  const signature = createHash('sha256').update(`${timestamp}${nonce}${key}${body}`).digest('hex')
  return {
    headers: {
      'content-type': 'application/json',
      'x-lark-request-timestamp': timestamp,
      'x-lark-request-nonce': nonce,
      'x-lark-signature': signature,
    },
    body,
  }
}
