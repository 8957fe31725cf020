/** The channel `lark`: cards and files to chats of Lark or Feishu; messages and pressed buttons from them. */

import { TirelessError } from '../../../domain/error.ts'
import type { Channel } from '../../../ports/channel.ts'
import { untilAborted } from '../../../ports/deadline.ts'
import { BotThreads } from './bot-threads.ts'
import { createLarkApi, type LarkApi, type LarkApp } from './lark-api.ts'
import { holdConnection, type LarkConnectionDeps } from './long-connection.ts'
import { LARK } from './parse-event.ts'
import { eventHandlers, receiveRequest } from './receive-events.ts'
import { sendToLark } from './send-to-lark.ts'

export interface LarkSettings {
  readonly app_id: string
  /** Such as https://open.feishu.cn. */
  readonly domain: string
  readonly mode: 'connection' | 'webhook'
  /** The chat for messages that name no chat. */
  readonly chat_id: string | null
  /** Contract for the three: throws if the secret is not available. Undefined: not configured. */
  appSecret(): string
  encryptKey(): string | undefined
  verificationToken(): string | undefined
}

/** Lark refuses cards of more than 30 kB; a character takes up to four bytes there, and some are escaped. */
const MAX_TEXT = 6000

/** `configured`: returns the current configuration; undefined if Lark is not configured. */
export function larkChannel(configured: () => LarkSettings | undefined, deps: LarkConnectionDeps): Channel {
  const apiOf = rememberApi(deps)
  const threads = new BotThreads()
  const open = (): { readonly settings: LarkSettings; readonly api: LarkApi } => {
    const settings = requireSettings(configured())
    return { settings, api: apiOf(settings) }
  }
  return {
    ...{ name: LARK, maxText: MAX_TEXT, replaces: true, sendsFiles: true },
    trouble: () => troubleOf(configured()),
    ownChat: () => configured()?.chat_id ?? null,
    async deliver(message, signal) {
      const { settings, api } = open()
      const id = await sendToLark(api, message, requireChat(message.chat_id ?? settings.chat_id), signal)
      threads.add(message.thread_id ?? id)
      return id
    },
    async probe(signal) {
      const { app_name, open_id } = await open().api.askBot(signal)
      return app_name || open_id
    },
    async connect(listener, signal) {
      const { settings, api } = open()
      // Asked first: wrong keys are explained here, and the bot must be known to recognise mentions of it.
      await api.askBot(signal)
      if (settings.mode === 'connection')
        return holdConnection(api.app, eventHandlers(api, threads, listener, signal), deps, signal)
      listener.connected()
      await untilAborted(signal)
    },
    receive(request) {
      const { settings, api } = open()
      if (settings.mode !== 'webhook') throw new TirelessError('not_found', 'channels.lark.mode is not webhook')
      const { app_id: appId } = settings
      const keys = { appId, encryptKey: settings.encryptKey(), verificationToken: settings.verificationToken() }
      return receiveRequest(request, keys, api, threads)
    },
  }
}

function troubleOf(settings: LarkSettings | undefined): string | null {
  if (!settings) return 'channels.lark is not configured'
  try {
    settings.appSecret()
    settings.encryptKey()
    settings.verificationToken()
    return null
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

function requireSettings(settings: LarkSettings | undefined): LarkSettings {
  if (!settings) throw new TirelessError('not_found', 'channels.lark is not configured')
  return settings
}

function requireChat(chat: string | null): string {
  if (chat !== null) return chat
  throw new TirelessError('channel_refused', {
    what: 'the message has no chat',
    fix: 'set channels.lark.chat_id, or pair a chat: tireless channels pair lark',
  })
}

/** Keeps the client, with its access token and its bot, as long as the keys are the same. */
function rememberApi(deps: LarkConnectionDeps): (settings: LarkSettings) => LarkApi {
  let known: LarkApi | undefined
  return (settings) => {
    const app: LarkApp = { appId: settings.app_id, appSecret: settings.appSecret(), domain: settings.domain }
    const isKnown = (['appId', 'appSecret', 'domain'] as const).every((key) => known?.app[key] === app[key])
    if (!known || !isKnown) known = createLarkApi(app, deps)
    return known
  }
}
