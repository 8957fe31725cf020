/** Posts the digest when it is due: the cycles since the last one, and a report of the work. */

import { asTirelessError } from '../../domain/error.ts'
import type { Language } from '../../domain/language.ts'
import type { NewChannelMessage } from '../../domain/message.ts'
import { digestScheduleId } from '../../domain/schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import { commitOne, fallbackIfUnreadable, type Op, type Store } from '../../ports/store.ts'
import { newestInstants } from '../schedule/missed-beats.ts'
import { parseSchedule, type Schedule } from '../schedule/schedule.ts'
import type { KernelSettings } from '../settings.ts'
import type { DeliveryDeps } from './deliverer.ts'
import { renderDigest } from './digest.ts'
import type { NoticeTarget } from './notice-target.ts'

const EVERY_MORNING = '0 9 * * *'
/** At most this many cycles are counted in a digest. */
const MAX_CYCLES = 5000

/** Instants; `to` is not included. */
interface ReportPeriod {
  readonly from: number
  readonly to: number
}

export interface DigestDeps extends Pick<DeliveryDeps, 'log'> {
  readonly store: Store
  readonly clock: Clock
  settings(): KernelSettings
  language(): Language
  zone(): string
  target(): Promise<NoticeTarget | null>
  postOp(target: NoticeTarget, message: Pick<NewChannelMessage, 'id' | 'kind' | 'text'>, now: number): Op
  /** Contract: Markdown about the work of a period; undefined if there was none. */
  report?(period: ReportPeriod, language: Language): Promise<string | undefined>
}

export class DigestPoster {
  readonly #deps: DigestDeps
  #settings: KernelSettings | undefined
  #schedule: Schedule | undefined

  constructor(deps: DigestDeps) {
    this.#deps = deps
  }

  /** Contract: posts a due digest; returns the instant of the next one. Of missed digests only the newest is posted. */
  async postIfDue(): Promise<number> {
    const { store, clock, settings } = this.#deps
    const schedule = this.#currentSchedule()
    // A kernel without agents has no cycles.
    if (!schedule || settings().agents.length === 0) return Number.POSITIVE_INFINITY
    const id = digestScheduleId(settings().id)
    const now = clock.now()
    const from = (await store.marks()).find(({ schedule_id }) => schedule_id === id)?.until
    if (from === undefined) {
      // If the row of this schedule cannot be read, no digest is posted; messages are delivered all the same.
      const opened = await fallbackIfUnreadable(commitOne(store, [{ op: 'schedule_open', id, now }]), undefined)
      return (opened && schedule.next(now)) ?? Number.POSITIVE_INFINITY
    }
    const to = newestInstants(schedule, from, now).at(-1)
    if (to === undefined) return schedule.next(from) ?? Number.POSITIVE_INFINITY
    const posts = await this.#postOps({ from, to }, now)
    await commitOne(store, [{ op: 'schedule_fired', id, instant: to }, ...posts])
    return schedule.next(to) ?? Number.POSITIVE_INFINITY
  }

  async #postOps({ from, to }: ReportPeriod, now: number): Promise<readonly Op[]> {
    const { store, settings, language, zone, postOp } = this.#deps
    const { id: kernel_id } = settings()
    const target = await this.#deps.target()
    if (!target) return []
    const cycles = await store.cycles(kernel_id, { limit: MAX_CYCLES })
    const digest = renderDigest(kernel_id, cycles, { from, to, timezone: zone() }, language())
    const texts = [digest, await this.#report({ from, to })].filter((text) => text !== undefined)
    if (texts.length === 0) return []
    return [postOp(target, { id: `digest-${kernel_id}-${to}`, kind: 'digest', text: texts.join('\n\n') }, now)]
  }

  /** A report that cannot be written must not hold up the digest. */
  async #report(period: ReportPeriod): Promise<string | undefined> {
    const { report, language, log } = this.#deps
    try {
      return await report?.(period, language())
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code.startsWith('store_')) throw error
      log('error', 'report not written', { message: error.message })
      return undefined
    }
  }

  #currentSchedule(): Schedule | undefined {
    const settings = this.#deps.settings()
    const { digest } = settings
    // The schedule is cached, because this runs at each wake-up; a changed configuration is a new object.
    if (this.#settings !== settings) {
      this.#settings = settings
      const isOff = digest === null || digest === false
      this.#schedule = isOff ? undefined : parseSchedule(digest === true ? EVERY_MORNING : digest, this.#deps.zone())
    }
    return this.#schedule
  }
}
