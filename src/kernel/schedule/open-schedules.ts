/**
 * The schedules whose beats the loop waits for, each with the instant up to which its beats are handled.
 * Must not know: what a beat starts.
 */

import { asTirelessError } from '../../domain/error.ts'
import { commitOne } from '../../ports/store.ts'
import type { KernelDeps } from '../settings.ts'
import { dueAgents, invalidSchedules, listSchedules, type ScheduleRow, tickPolicy } from './all-schedules.ts'
import { nextBeatToFire } from './missed-beats.ts'

export interface OpenSchedule {
  readonly row: ScheduleRow
  /** All beats up to this instant are handled; none of them fires again. */
  over: number
}

export class OpenSchedules {
  readonly #deps: Pick<KernelDeps, 'store' | 'clock' | 'settings' | 'log'>
  readonly #open = new Map<string, OpenSchedule>()

  constructor(deps: Pick<KernelDeps, 'store' | 'clock' | 'settings' | 'log'>) {
    this.#deps = deps
  }

  /** Contract: replaces the open schedules by those that are active now; rejects only if the store fails. */
  async open(): Promise<readonly OpenSchedule[]> {
    const rows = await this.activeRows()
    const opened = (await Promise.all(rows.map((row) => this.read(row)))).filter((one) => one !== undefined)
    this.#open.clear()
    for (const schedule of opened) this.#open.set(schedule.row.schedule_id, schedule)
    return opened
  }

  close(): void {
    this.#open.clear()
  }

  /** The next beat of each schedule. Computed on each call, so that a late beat or a changed clock does no harm. */
  upcomingBeats(from: number): readonly { readonly due: number; readonly fires: number }[] {
    const { settings } = this.#deps
    return [...this.#open.values()].flatMap(
      ({ row, over }) => nextBeatToFire(row.schedule, tickPolicy(row, settings()), over, from) ?? [],
    )
  }

  /** Reads which beats of a schedule are handled; undefined if that is unreadable, so that other schedules continue. */
  async read(row: ScheduleRow): Promise<OpenSchedule | undefined> {
    const { store, clock, log } = this.#deps
    const { schedule_id: id } = row
    try {
      const [{ until }] = await commitOne(store, [{ op: 'schedule_open', id, now: clock.now() }])
      return { row, over: until }
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (code !== 'row_unreadable') throw thrown
      log('error', 'schedule ignored', { schedule_id: id, message })
      return undefined
    }
  }

  /** Schedules that are not paused and make an agent due. */
  async activeRows(): Promise<readonly ScheduleRow[]> {
    const { store, settings, log } = this.#deps
    const entries = await store.schedules()
    for (const { id, why } of invalidSchedules(entries))
      log('error', 'schedule ignored', { schedule_id: id, message: why })
    const rows = listSchedules(settings(), entries)
    return rows.filter((row) => !row.paused && dueAgents(row, settings().agents).length > 0)
  }
}
