/**
 * Notifier: posts notices and digests about cycles to the outbox, and runs the deliverer, next to the kernel's loop.
 * Must not know: how channels work.
 * Invariants: I9 (no failure here keeps a cycle from ending or delays a beat, except one of the store); the notice of a
 * cycle is in the commit that ends it; a digest is in the commit that records its beat.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { CycleResult } from '../../domain/cycle.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { type Language, languageOfAgents } from '../../domain/language.ts'
import type { NewChannelMessage, OutboxMessage } from '../../domain/message.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { MessageSender, OutgoingMessage } from '../../ports/message-sender.ts'
import { commitOne, fallbackIfUnreadable, type Op } from '../../ports/store.ts'
import { talkOps } from '../conversation/talk.ts'
import type { CycleOutcome } from '../cycle/cycle.ts'
import type { WakeSignal } from '../queue/wake-signal.ts'
import { localZone } from '../schedule/time-zone.ts'
import type { KernelSettings } from '../settings.ts'
import { CardPoster } from './card-poster.ts'
import { Deliverer, type DelivererDeps, type DeliveryDeps } from './deliverer.ts'
import { type DigestDeps, DigestPoster } from './digest-poster.ts'
import { type ReportedIssues, selectNews } from './notice-policy.ts'
import {
  findNamedTarget,
  isOwnerTarget,
  NOTICE_SETTING,
  type NoticeTarget,
  pairCommand,
  resolveNoticeTarget,
} from './notice-target.ts'
import { noticeCard, renderNoticeWithNews } from './notice-text.ts'
import { isOwnersChat } from './owners-chat.ts'
import { type PingDeps, Pings } from './pings.ts'
import { quietHoursEnd } from './quiet-hours.ts'
import { sessionsThatWait } from './waiting-items.ts'

/** Key of the reported issues in the store's settings. */
const TOLD = 'told'
const MAX_TEXT = 8000
/** Target of an agent's message to the owner if no target is set: the terminal that runs the kernel, and the log. */
const TERMINAL = { channel: 'console', chat_id: null }
/** A long sleep is split, because the wall clock may jump. */
const MAX_SLEEP_MS = 30_000

interface NotifierDeps extends DeliveryDeps, PingDeps, Pick<DelivererDeps, 'checkFile'>, Pick<DigestDeps, 'report'> {
  readonly wakeSignal: WakeSignal
  settings(): KernelSettings
  /** Contract: the text without secrets. */
  redact(text: string): string
}

export class Notifier implements MessageSender {
  readonly #deps: NotifierDeps
  readonly #deliverer: Deliverer
  readonly #pings: Pings
  readonly #cards: CardPoster
  readonly #digests: DigestPoster

  constructor(deps: NotifierDeps) {
    this.#deps = deps
    this.#pings = new Pings(deps)
    this.#cards = new CardPoster({
      ...deps,
      language: () => this.language(),
      target: () => this.target(),
      quietUntil: (now) => this.#quietUntil(now),
    })
    this.#digests = new DigestPoster({
      ...deps,
      language: () => this.language(),
      target: () => this.target(),
      postOp: (target, message, now) => this.#post(target, message, now),
      zone: () => this.#zone(),
    })
    this.#deliverer = new Deliverer({
      ...deps,
      refuse: (posted) => this.#refuse(posted),
      isOver: (posted) => this.#cards.isOver(posted),
    })
  }

  /**
   * Contract: store operations for the commit that ends the cycle; `alerts`: all current alerts. Rejects if the store
   * fails.
   */
  async noticeOps(cycled: CycleOutcome, alerts: readonly OwnerNote[]): Promise<readonly Op[]> {
    const { clock, settings, log } = this.#deps
    try {
      const target = await this.target()
      const now = clock.now()
      const toldApart = target ? await sessionsThatWait(this.#deps.store) : new Set<string>()
      const news = selectNews(await this.#told(target), { ...cycled, toldApart }, alerts, now)
      const saveTold = { op: 'set', name: TOLD, value: news.told } as const
      // News is logged even if there is no target.
      for (const { text: message } of [...news.alerts, ...news.notes]) log('warn', 'notice', { message })
      if (news.kind === null || !target) return [saveTold]
      const { id } = settings()
      const text = this.#prepareText(renderNoticeWithNews(id, cycled.result, news, this.language()))
      const card = noticeCard(text, cycled.result, this.language())
      const message = { id: `notice-${cycled.result.cycle_id}`, kind: news.kind, text, ...(card ? { card } : {}) }
      return [saveTold, this.#post(target, message, now)]
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code.startsWith('store_')) throw error
      log('error', 'notice not written', { message: error.message })
      return []
    }
  }

  /**
   * Sends a ping to the configured URL after a good cycle; a service there raises the alarm if pings stay away.
   * Contract: never throws, does not wait for the reply.
   */
  pingAfterCycle({ status }: CycleResult): void {
    const { ping_url } = this.#deps.settings()
    if (ping_url !== null && status !== 'failed' && status !== 'error') this.#pings.send(ping_url)
  }

  /** Contract: the current target of notices; null if there is none. */
  async target(): Promise<NoticeTarget | null> {
    return resolveNoticeTarget(this.#deps.settings(), (await this.unpairedTarget()) ? null : await this.#bound())
  }

  /** Contract: the chosen chat if it gets no notices because it is not (or no longer) paired; otherwise null. */
  async unpairedTarget(): Promise<NoticeTarget | null> {
    const target = resolveNoticeTarget(this.#deps.settings(), await this.#bound())
    const isChat = target !== null && target.by === 'person' && target.chat_id !== null
    return isChat && !(await isOwnersChat(this.#deps, target)) ? target : null
  }

  /** Contract: posts digests and delivers messages until stopped; rejects only if the store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, wakeSignal } = this.#deps
    try {
      while (!signal.aborted) {
        const since = wakeSignal.ringCount()
        await this.#cards.refresh(true)
        const nextDigest = await this.#digests.postIfDue()
        const now = clock.now()
        const running = await this.#deliverer.begin(now, signal)
        const next = Math.min(nextDigest, (await store.nextMessageDue(now)) ?? Number.POSITIVE_INFINITY)
        await withDeadline({ clock, ms: Math.min(next - now, MAX_SLEEP_MS), stop: signal }, (over) =>
          Promise.race([...running, wakeSignal.wait(since, over)]),
        )
      }
    } finally {
      await this.#deliverer.finish()
      this.#pings.abort()
    }
  }

  /** Contract: posts a due digest, tries every due message once, waits for pings. Rejects only if the store fails. */
  async once(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await this.#cards.refresh(false)
    await this.#digests.postIfDue()
    await this.#deliverer.deliverDue(signal)
    if (!signal.aborted) await this.#pings.settled()
  }

  /** Contract: posts what waits, tries every due message once; rejects only if the store fails. */
  async deliver(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await this.#cards.refresh(false)
    await this.#deliverer.deliverDue(signal)
  }

  async post(letter: OutgoingMessage): Promise<{ readonly channel: string }> {
    const { id, to, text, urgent, question, replyTo = [] } = letter
    const { store, clock } = this.#deps
    if (to === null && replyTo.length > 0) {
      const ops = await talkOps(this.#deps, { id, text: this.#deps.redact(text), replyTo })
      if (ops.length > 0) await commitOne(store, ops)
      const chat = replyTo.find((one) => 'channel' in one)
      if (chat) return { channel: chat.channel }
      // The owner may not be at the terminal: a configured target gets the message, too.
      if (!(await this.target())) return { channel: 'chat' }
    }
    const target = to === null ? ((await this.target()) ?? TERMINAL) : findNamedTarget(this.#deps.channels, to)
    if (question && to === null && target !== TERMINAL) {
      await this.#cards.ask(id, question, target)
      return { channel: target.channel }
    }
    const now = clock.now()
    const kind = to !== null ? 'reply' : urgent ? 'alert' : 'notice'
    const post = this.#post(target, { id, kind, text }, now)
    // Quiet hours apply only to messages to the owner, not to named recipients.
    await commitOne(store, [to === null ? post : { ...post, due: now }])
    return { channel: target.channel }
  }

  isOwnerTarget(to: string): boolean {
    return isOwnerTarget(this.#deps.settings(), to)
  }

  refusal(to: string): string | undefined {
    try {
      findNamedTarget(this.#deps.channels, to)
      return undefined
    } catch (thrown) {
      return asTirelessError(thrown).message
    }
  }

  #bound(): Promise<Json> {
    return fallbackIfUnreadable(this.#deps.store.setting(NOTICE_SETTING), null)
  }

  /** Refuses a queued notice if its chat is no longer the owner's. Replies are never refused. */
  async #refuse({ kind, channel, chat_id }: OutboxMessage): Promise<TirelessError | null> {
    if (kind === 'reply' || chat_id === null || (await isOwnersChat(this.#deps, { channel, chat_id }))) return null
    return new TirelessError('channel_refused', {
      what: `the chat ${chat_id} of ${channel} is not paired`,
      fix: `if it is yours: ${pairCommand(channel, chat_id)}`,
    })
  }

  async #told(target: NoticeTarget | null): Promise<ReportedIssues> {
    const key = JSON.stringify(target && [target.channel, target.chat_id])
    const told = (await fallbackIfUnreadable(this.#deps.store.setting(TOLD), null)) as Partial<ReportedIssues> | null
    const isKnown = told?.target === key && typeof told.matters === 'object' && told.matters !== null
    return { target: key, matters: (isKnown && told.matters) || {} }
  }

  /** The store operation that posts a message. All but alerts are delayed until the end of the quiet hours. */
  #post(
    { channel, chat_id }: Pick<NoticeTarget, 'channel' | 'chat_id'>,
    message: Pick<NewChannelMessage, 'id' | 'kind' | 'text' | 'card'>,
    now: number,
  ): Extract<Op, { op: 'post' }> {
    const quiet = message.kind === 'alert' ? undefined : this.#quietUntil(now)
    const text = this.#prepareText(message.text)
    return { op: 'post', message: { ...message, text, channel, chat_id }, due: quiet ?? now, now }
  }

  #prepareText(text: string): string {
    return clipText(this.#deps.redact(text), MAX_TEXT)
  }

  #quietUntil(now: number): number | undefined {
    return quietHoursEnd(this.#deps.settings().quiet_hours, this.#zone(), now)
  }

  #zone(): string {
    return this.#deps.settings().timezone ?? localZone()
  }

  /** The language of notices. */
  language(): Language {
    return languageOfAgents(this.#deps.settings().agents)
  }
}
