/** What the server of the tests knows, and what it received. */

export interface LarkServerRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface StoredMessage {
  readonly message_id: string
  readonly chat_id: string
  readonly msg_type: string
  /** The parsed content; for a card, the card. */
  content: unknown
  readonly uuid: string | undefined
  /** The first message of the thread, if the message is in one. */
  readonly root_id: string | undefined
  readonly sender: string
  readonly mentions: readonly string[]
  /** How often it was replaced. */
  edits: number
  isDeleted: boolean
}

export interface StoredFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
}

/** What the server answers instead of doing what it is asked. */
export interface Fault {
  readonly path: RegExp
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** How many requests get it. */
  times: number
}

export interface LarkServerOptions {
  /** Seconds between the pings that the client is told to send. */
  readonly pingSeconds?: number
  /** Lifetime of access tokens in seconds. */
  readonly tokenSeconds?: number
  /** An event that is not acknowledged in this time is sent again. */
  readonly ackMs?: number
  /** Events are split into frames of this size. */
  readonly chunkBytes?: number
  /** After so many messages to one chat (230020), or of the app (99991400), no more are taken for `restMs`. */
  readonly limits?: { readonly chat?: number; readonly app?: number; readonly restMs: number }
}

export class LarkServerState {
  readonly appId = 'cli_a1b2c3d4e5f60718'
  readonly appSecret = 'the-app-secret-of-lark-0123456789'
  readonly encryptKey = 'the encrypt key'
  readonly verificationToken = 'the verification token'
  readonly bot = { open_id: 'ou_bot', app_name: 'Tireless' }
  readonly chats = new Set(['oc_home', 'oc_group', 'ou_owner'])
  readonly requests: LarkServerRequest[] = []
  readonly messages: StoredMessage[] = []
  readonly files = new Map<string, StoredFile>()
  readonly faults: Fault[] = []
  /** Access tokens, and when they expire. */
  readonly tokens = new Map<string, number>()
  /** Requests that are not answered, while set. */
  hangs: RegExp | undefined
  readonly options: LarkServerOptions
  /** By chat; `app` is the sum: messages since the last rest, and when the rest ends. */
  readonly #counts = new Map<string, { count: number; restsUntil: number }>()
  #last = 0

  constructor(options: LarkServerOptions) {
    this.options = options
  }

  nextId(prefix: string): string {
    this.#last += 1
    return `${prefix}_${String(this.#last).padStart(6, '0')}`
  }

  /** Which limit this message would exceed; the message is counted if none. */
  exceededLimit(chat: string): 'chat' | 'app' | undefined {
    const { limits } = this.options
    if (!limits) return undefined
    const now = performance.now()
    const entryOf = (name: string) => this.#counts.get(name) ?? { count: 0, restsUntil: 0 }
    const places = [['app', 'app', limits.app] as const, ['chat', chat, limits.chat] as const]
    for (const [kind, name] of places) if (entryOf(name).restsUntil > now) return kind
    for (const [, name, most = Number.POSITIVE_INFINITY] of places) {
      const count = entryOf(name).count + 1
      const next = count < most ? { count, restsUntil: 0 } : { count: 0, restsUntil: now + limits.restMs }
      this.#counts.set(name, next)
    }
    return undefined
  }

  findMessage(id: string): StoredMessage | undefined {
    return this.messages.find(({ message_id }) => message_id === id)
  }
}
