/**
 * Notifier: posts what people are told of cycles, and carries the outbox away, beside the loop.
 * Must not know: how channels work.
 * Invariants: I9 (nothing here keeps a cycle from ending or makes a beat late, except a store that fails); a cycle's notice is in the commit
 * that ends it; a digest is in the commit that its schedule fires in.
 */

import type { CycleResult } from '../domain/cycle.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { type Language, languageOfAll } from '../domain/language.ts'
import type { NewMessage, Posted } from '../domain/message.ts'
import type { Note } from '../domain/note.ts'
import { digestScheduleId } from '../domain/schedule.ts'
import { clipped } from '../domain/summary.ts'
import type { Letter, Postbox } from '../ports/postbox.ts'
import { commitOne, type Op, unlessUnreadable } from '../ports/store.ts'
import type { Cycled } from './cycle.ts'
import { type Carriage, Deliverer } from './deliverer.ts'
import { digestOf } from './digest.ts'
import type { Doorbell } from './doorbell.ts'
import { newest } from './lateness.ts'
import { newsOf, type Told } from './news.ts'
import { noticeWith } from './notice.ts'
import { isOwnersChat } from './owners-chat.ts'
import { quietUntil } from './quiet-hours.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import type { Settings } from './settings.ts'
import { BOUND, pairCommand, type Target, targetOf } from './target.ts'
import { ownZone } from './zone.ts'

/** What was told, among the store's settings. */
const TOLD = 'told'
const EVERY_MORNING = '0 9 * * *'
/** More cycles than this are not counted in one digest. */
const MOST_CYCLES = 5000
const MOST_OF_A_TEXT = 8000
const PING_WITHIN_MS = 10_000
/** Where the owner is told of whom nobody knows where he is: the terminal that runs the kernel, and the log. */
const TERMINAL = { channel: 'console', chat_id: null }
/** Who sits at this machine is the owner. */
const OWN_MACHINE: readonly string[] = ['console', 'desktop']
/** The wall clock may jump, so a long sleep is taken in naps. */
const LONGEST_NAP_MS = 30_000

export interface NotifierParts extends Carriage {
  readonly bell: Doorbell
  settings(): Settings
  /** Contract: the text without what is secret. */
  redact(text: string): string
  /** Contract: a GET of that address; rejects where it is not answered well. */
  ping(url: string, signal: AbortSignal): Promise<void>
}

export class Notifier implements Postbox {
  readonly #parts: NotifierParts
  readonly #deliverer: Deliverer
  /** By what ends them. */
  readonly #pings = new Map<AbortController, Promise<void>>()
  #digestsOf: Settings | undefined
  #digestSchedule: Schedule | undefined

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#deliverer = new Deliverer({ ...parts, refuse: (posted) => this.#refuse(posted) })
  }

  /** Contract: what belongs into the commit that ends the cycle. `alerts`: all there is to be alarmed about. Rejects only where the store fails. */
  async news(cycled: Cycled, alerts: readonly Note[]): Promise<readonly Op[]> {
    const { clock, settings, log } = this.#parts
    try {
      const target = await this.target()
      const now = clock.now()
      const news = newsOf(await this.#told(target), cycled, alerts, now)
      const remembered = { op: 'set', name: TOLD, value: news.told } as const
      // Whoever else is told, or nobody: it is in the log.
      for (const { text: message } of [...news.alerts, ...news.notes]) log('warn', 'worth knowing', { message })
      if (news.kind === null || !target) return [remembered]
      const { id } = settings()
      const text = noticeWith(id, cycled.result, news, this.language())
      const message = { id: `notice-${cycled.result.cycle_id}`, kind: news.kind, text }
      return [remembered, this.#post(target, message, now)]
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code.startsWith('store_')) throw error
      log('error', 'notice not written', { message: error.message })
      return []
    }
  }

  /** The dead man's ping: whoever expects it learns from its absence. Contract: never throws, and is waited for by nobody. */
  ended({ status }: CycleResult): void {
    const { clock, log, ping, settings } = this.#parts
    const { ping_url } = settings()
    if (ping_url === null || status === 'failed' || status === 'error') return
    const late = new AbortController()
    const over = new AbortController()
    void clock.sleep(PING_WITHIN_MS, over.signal).then(() => late.abort())
    const pinging = ping(ping_url, late.signal)
      .catch((thrown) => log('warn', 'ping failed', { message: asTirelessError(thrown).message }))
      .finally(() => {
        over.abort('over')
        this.#pings.delete(late)
      })
    this.#pings.set(late, pinging)
  }

  /** Contract: whom notices go to, as it is now; null where nobody is told. */
  async target(): Promise<Target | null> {
    return targetOf(this.#parts.settings(), (await this.unpairedTarget()) ? null : await this.#bound())
  }

  /** Contract: the chat that was bound before pairing existed, or has been unpaired since; it gets no notices. null: there is none. */
  async unpairedTarget(): Promise<Target | null> {
    const target = targetOf(this.#parts.settings(), await this.#bound())
    const isChat = target !== null && target.by === 'person' && target.chat_id !== null
    return isChat && !(await isOwnersChat(this.#parts, target)) ? target : null
  }

  /** Contract: digests and deliveries, until told to stop; rejects only where the store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, bell } = this.#parts
    try {
      while (!signal.aborted) {
        const since = bell.rung()
        const nextDigest = await this.#digest()
        const now = clock.now()
        const under = await this.#deliverer.begin(now)
        const next = Math.min(nextDigest, (await store.nextMessage(now)) ?? Number.POSITIVE_INFINITY)
        const awake = new AbortController()
        const either = AbortSignal.any([awake.signal, signal])
        const nap = clock.sleep(Math.min(next - now, LONGEST_NAP_MS), either)
        await Promise.race([...under, bell.wait(since, either), nap])
        awake.abort('over')
      }
    } finally {
      await this.#deliverer.leave()
      for (const late of this.#pings.keys()) late.abort()
    }
  }

  /** Contract: one try of everything that is due by now, and then it is over, or when it is told to stop; rejects only where the store fails. */
  async once(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await this.#digest()
    await this.#deliverer.all(signal)
    if (!signal.aborted) await Promise.all(this.#pings.values())
  }

  /** Contract: one try of what is due by now; rejects only where the store fails. */
  async deliver(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.#deliverer.all(signal)
  }

  async post({ id, to, text, urgent }: Letter): Promise<{ readonly channel: string }> {
    const { store, clock } = this.#parts
    const target = to === null ? ((await this.target()) ?? TERMINAL) : this.#named(to)
    const now = clock.now()
    const kind = to !== null ? 'reply' : urgent ? 'alert' : 'notice'
    const post = this.#post(target, { id, kind, text }, now)
    // Quiet hours are the owner's: nobody else's words wait for them.
    await commitOne(store, [to === null ? post : { ...post, due: now }])
    return { channel: target.channel }
  }

  isOwners(to: string): boolean {
    const { channel, chat_id } = this.#parts.settings()
    return (
      OWN_MACHINE.includes(to) || (channel !== null && to === (chat_id === null ? channel : `${channel}:${chat_id}`))
    )
  }

  refusal(to: string): string | undefined {
    try {
      this.#named(to)
      return undefined
    } catch (thrown) {
      return asTirelessError(thrown).message
    }
  }

  #bound(): Promise<Json> {
    return unlessUnreadable(this.#parts.store.setting(BOUND), null)
  }

  /** A notice that waited in the outbox goes to no chat that is not the owner's by now. Replies go to whoever asked. */
  async #refuse({ kind, channel, chat_id }: Posted): Promise<TirelessError | null> {
    if (kind === 'reply' || chat_id === null || (await isOwnersChat(this.#parts, { channel, chat_id }))) return null
    return new TirelessError('channel_refused', {
      what: `the chat ${chat_id} of ${channel} is not paired`,
      fix: `if it is yours: ${pairCommand(channel, chat_id)}`,
    })
  }

  #named(to: string): Pick<Target, 'channel' | 'chat_id'> {
    const { channels } = this.#parts
    const [, channel = '', chat_id = null] = /^([^:]+)(?::(.+))?$/s.exec(to) ?? []
    if (channels.get(channel)?.trouble() === null) return { channel, chat_id }
    const why = channels.has(channel)
      ? `${channel} cannot deliver: ${channels.get(channel)?.trouble()}`
      : 'there is no such channel'
    const open = [...channels.values()].filter((one) => one.trouble() === null).map(({ name }) => name)
    throw new TirelessError('not_found', {
      what: why,
      got: to,
      expected: `one of ${open.join(', ')}, or none: your owner`,
    })
  }

  async #told(target: Target | null): Promise<Told> {
    const key = JSON.stringify(target && [target.channel, target.chat_id])
    const told = (await unlessUnreadable(this.#parts.store.setting(TOLD), null)) as Partial<Told> | null
    const isKnown = told?.target === key && typeof told.matters === 'object' && told.matters !== null
    return { target: key, matters: (isKnown && told.matters) || {} }
  }

  /** What can wait is held back in quiet hours. */
  #post(
    { channel, chat_id }: Pick<Target, 'channel' | 'chat_id'>,
    message: Pick<NewMessage, 'id' | 'kind' | 'text'>,
    now: number,
  ): Extract<Op, { op: 'post' }> {
    const { settings, redact } = this.#parts
    const quiet = message.kind === 'alert' ? undefined : quietUntil(settings().quiet_hours, this.#zone(), now)
    const text = clipped(redact(message.text), MOST_OF_A_TEXT)
    return { op: 'post', message: { ...message, text, channel, chat_id }, due: quiet ?? now, now }
  }

  /** Contract: posts the digest where one is due; when the next one is. Of those that were missed, only the newest is made. */
  async #digest(): Promise<number> {
    const { store, clock, settings } = this.#parts
    const { id: kernel_id } = settings()
    const schedule = this.#digests()
    // A kernel without an agent has no cycles to tell of.
    if (!schedule || settings().agents.length === 0) return Number.POSITIVE_INFINITY
    const id = digestScheduleId(kernel_id)
    const now = clock.now()
    const from = (await store.marks()).find(({ schedule_id }) => schedule_id === id)?.until
    if (from === undefined) {
      // Where nobody can tell how far it has come, none is posted: what is due for sure is delivered all the same.
      const opened = await unlessUnreadable(commitOne(store, [{ op: 'schedule_open', id, now }]), undefined)
      return (opened && schedule.next(now)) ?? Number.POSITIVE_INFINITY
    }
    const to = newest(schedule, from, now).at(-1)
    if (to === undefined) return schedule.next(from) ?? Number.POSITIVE_INFINITY
    const target = await this.target()
    const cycles = target ? await store.cycles(kernel_id, { limit: MOST_CYCLES }) : []
    const text = digestOf(kernel_id, cycles, { from, to, timezone: this.#zone() }, this.language())
    const message = { id: `digest-${kernel_id}-${to}`, kind: 'digest' as const }
    const posts = target && text !== undefined ? [this.#post(target, { ...message, text }, now)] : []
    await commitOne(store, [{ op: 'schedule_fired', id, instant: to }, ...posts])
    return schedule.next(to) ?? Number.POSITIVE_INFINITY
  }

  #digests(): Schedule | undefined {
    const settings = this.#parts.settings()
    const { digest } = settings
    // Asked for at every ring of the bell; a configuration that has changed is another object.
    if (this.#digestsOf !== settings) {
      this.#digestsOf = settings
      const isOff = digest === null || digest === false
      this.#digestSchedule = isOff ? undefined : scheduleOf(digest === true ? EVERY_MORNING : digest, this.#zone())
    }
    return this.#digestSchedule
  }

  #zone(): string {
    return this.#parts.settings().timezone ?? ownZone()
  }

  /** In which people are told of the agents. */
  language(): Language {
    return languageOfAll(this.#parts.settings().agents)
  }
}
