/**
 * One resident: what it has not seen yet, and when it looks next.
 * Must not know: how a look decides; where observations come from.
 * Invariants: looks of one resident never overlap; an observation is acknowledged only in the commit of the step that
 * saw it; without news there is no look and no write (I8).
 */

import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { PeopleText } from '../../domain/language.ts'
import { LOOK_FAILED_EVENT, OVERFLOW_EVENT, type ResidentSetup, SLICES_EVENT } from '../../domain/resident.ts'
import type { BusAction, BusSnapshot, Publication } from '../../ports/bus.ts'
import { commitOne, type Op } from '../../ports/store.ts'
import { tooManySlices, tooManyUnread } from './check-publication.ts'
import { LookGrid, SLOWDOWN } from './look-grid.ts'
import { IS_LOOKING, NOTHING_YET, reasonAfterFailure, reasonAfterLook } from './resident-notes.ts'
import { type AddedEvent, type ResidentDeps, ResidentSession } from './resident-session.ts'
import { type ResidentSettings, setupOf } from './resident-settings.ts'

/** Unread observations from which on events are refused, and messages of people. */
const MAX_EVENTS = 1000
const MAX_MESSAGES = 2000
const MAX_SLICES = 100
/** Failures in a row after which a look that has read its input is not tried again. */
const MAX_REMINDERS = 4
/** How long a resident whose look failed waits at first, and at most. */
const FIRST_BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 3_600_000
const CANCELLED = 'it was cancelled'
/** How exactly the next look is told. */
const NEXT_LOOK_MS = 100

const roundTo = (step: number, value: number): number => Math.round(value / step) * step

export class Resident {
  #settings: ResidentSettings
  readonly #deps: ResidentDeps
  #grid: LookGrid
  readonly #session: ResidentSession
  #loading: Promise<void> | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** Observations refused since the last look. */
  readonly #refused = new Set<string>()
  readonly #slices = new Map<string, Json>()
  #areSlicesNew = false
  /** `isParked`: it waits, for an approval for example. */
  #look: { readonly dispatch_id: string; readonly began: number; readonly isParked?: boolean } | undefined
  /** Failed looks since the last good one. */
  #failures = 0
  /** Number of the last look on the grid. */
  #tick: number
  /** Looks of this process. */
  #looks = 0
  /** The next look comes at the first instant of the grid from here on. */
  #freeSince: number
  #lastLookAt: number | undefined
  /** Error of the last look; null if it was good. */
  #error: string | null = null
  #why: PeopleText = NOTHING_YET

  constructor(deps: ResidentDeps, settings: ResidentSettings) {
    this.#deps = deps
    this.#settings = settings
    this.#grid = new LookGrid(deps.clock, settings.hz)
    this.#session = new ResidentSession(deps, settings.agent_id)
    this.#freeSince = deps.clock.monotonic()
    this.#tick = this.#grid.tickAt(this.#freeSince)
  }

  get settings(): ResidentSettings {
    return this.#settings
  }

  /** Contract: the configuration changed. What is under way goes on. */
  configure(settings: ResidentSettings): void {
    if (settings.hz !== this.#settings.hz) this.#grid = new LookGrid(this.#deps.clock, settings.hz)
    this.#settings = settings
  }

  /** Contract: reads what an earlier process left, once. */
  load(): Promise<void> {
    this.#loading ??= this.#session.load().then((looks) => this.#recall(looks))
    this.#loading.catch(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Contract: what other processes may have changed is read again. */
  forget(): void {
    ;[this.#loading, this.#look] = [undefined, undefined]
  }

  /** Contract: reads what is unread, because another process has published something. */
  recount(): Promise<void> {
    return this.inTurn(async () => {
      const before = this.#session.unread
      if ((await this.#session.countUnread()) > 0 && before === 0) this.postpone(0)
    })
  }

  /** Contract: what changes the session is done in turn. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(() => this.load()).then(task)
    this.#turn = done.catch(() => {})
    return done
  }

  /** Contract: in turn; throws `bus_full`. After the commit call `notePublished`. */
  publishOps(publication: Publication): Promise<readonly Op[]> {
    this.#refuseIfFull(publication)
    return this.#session.publishOps(publication, this.#setup())
  }

  notePublished(id: string): void {
    this.#refused.delete(id)
    if (this.#session.unread === 0) this.postpone(0)
    this.#session.notePublished()
  }

  setSlice(name: string, value: Json): void {
    if (!this.#slices.has(name) && this.#slices.size >= MAX_SLICES)
      throw tooManySlices(this.settings.agent_id, name, MAX_SLICES)
    this.#slices.set(name, value)
    this.#areSlicesNew = true
  }

  async snapshot(): Promise<BusSnapshot> {
    await this.load()
    const observations = this.#session.exists ? await this.#deps.store.inbox(this.#session.id) : []
    return { observations, slices: Object.fromEntries(this.#slices), ts: this.#deps.clock.now() }
  }

  /** The run of the look that is under way. */
  get lookId(): string | undefined {
    return this.#look?.dispatch_id
  }

  /** Contract: the monotonic instant of the next look; undefined if there is nothing to see, or a look is under way. */
  dueAt(): number | undefined {
    if ((this.#look && !this.#look.isParked) || this.#session.unread === 0) return undefined
    return this.#grid.next(this.#freeSince, this.#isSlow ? SLOWDOWN : 1)
  }

  /** Contract: starts a look, if there is something to see and none is under way. */
  look(): Promise<void> {
    return this.inTurn(async () => {
      const { store, clock, ids } = this.#deps
      if ((this.#look && !this.#look.isParked) || (await this.#session.countUnread()) === 0) return
      if (this.#look) {
        this.#look = { ...this.#look, isParked: false }
        await commitOne<readonly Op[]>(store, this.#session.nudgeOps())
        return
      }
      const dispatch_id = ids.next()
      const added = this.#addedEvents()
      const areSlicesShown = this.#areSlicesNew
      // Before the commit: a slice that is set meanwhile is new again.
      this.#areSlicesNew = false
      try {
        await commitOne<readonly Op[]>(store, await this.#session.lookOps(dispatch_id, this.#setup(), added))
      } catch (thrown) {
        const { code } = asTirelessError(thrown)
        // A slice that cannot be stored must not stop the resident.
        if (code === 'store_invalid') this.#slices.clear()
        else this.#areSlicesNew ||= areSlicesShown
        // A message came to its session, and a run is under way.
        if (code === 'conflict') this.#noteOpenLook(await this.#session.lastLooks())
        if (!this.#look) throw thrown
        return
      }
      this.#refused.clear()
      this.#look = { dispatch_id, began: clock.monotonic() }
      this.#tick = this.#grid.tickAt(this.#look.began)
      this.#why = IS_LOOKING
    })
  }

  /** Contract: what a look came to, if one was under way and has ended in an action. */
  settle(): Promise<BusAction | undefined> {
    return this.inTurn(async () => {
      const look = this.#look
      const dispatch = look && (await this.#deps.store.dispatch(look.dispatch_id))
      if (!look) return undefined
      if (dispatch && !isTerminal(dispatch.status)) {
        const isParked = dispatch.status === 'waiting' && dispatch.wait?.kind === 'observation'
        if (isParked !== (look.isParked ?? false)) this.#look = { ...look, isParked }
        if (dispatch.status === 'waiting' && dispatch.wait) this.#why = { text: dispatch.wait.reason }
        if (isParked) await this.#session.countUnread()
        return undefined
      }
      await this.#session.readMind()
      this.#look = undefined
      const isDone = dispatch?.status === 'done'
      this.#noteEnd(look.began, isDone, dispatch?.error ?? null)
      if (!isDone) await this.#remindOfFailure(dispatch?.error ?? null)
      await this.#session.moveOn()
      const last = isDone ? this.#session.mind?.last : null
      return last ? { agent: this.settings.agent_id, run: look.dispatch_id, ...last } : undefined
    })
  }

  /** A look that failed after it had read its input is followed by another one, a few times. */
  async #remindOfFailure(error: string | null): Promise<void> {
    if (this.#session.unread > 0 || this.#failures >= MAX_REMINDERS) return
    const { store } = this.#deps
    await commitOne<readonly Op[]>(store, [this.#session.eventOp({ name: LOOK_FAILED_EVENT, payload: { error } })])
    await this.#session.countUnread()
  }

  /** Contract: no look for this time. Without a reason, the next instant of the grid is free, or a later one. */
  readonly postpone = (ms: number, why?: string): void => {
    const from = this.#deps.clock.monotonic() + ms
    this.#freeSince = why === undefined ? Math.max(this.#freeSince, from) : from
    if (why !== undefined) this.#why = { text: why }
  }

  describe() {
    const { clock } = this.#deps
    const { agent_id, hz, goals, slots } = this.settings
    const { mind, unread, exists, id } = this.#session
    const due = this.dueAt()
    const failures = this.#failures
    const isBackingOff = failures > 0 && unread > 0
    return {
      ...{ agent_id, hz: this.#isSlow ? hz / SLOWDOWN : hz, session_id: exists ? id : null },
      state: this.#look ? ('looking' as const) : isBackingOff ? ('backing_off' as const) : ('idle' as const),
      ...{ tick: this.#tick, looks: this.#looks, failures, error: this.#error },
      last_look: this.#lastLookAt ?? null,
      // Rounded, because it comes from two clocks: else it would differ by a millisecond at each call.
      next_look: due === undefined ? null : roundTo(NEXT_LOOK_MS, clock.now() + Math.max(0, due - clock.monotonic())),
      unread,
      goals: goals.map(({ text }) => text),
      known: mind?.known ?? {},
      missing: mind?.missing ?? slots.map(({ name }) => name),
      unanswered: mind?.unanswered ?? 0,
      last_action: mind?.last ? { action: mind.last.action, text: mind.last.text } : null,
      ...{ why: this.#why.text, why_zh: this.#why.zh ?? this.#why.text },
    }
  }

  get #isSlow(): boolean {
    const { max_queries } = this.settings
    return max_queries !== null && (this.#session.mind?.unanswered ?? 0) >= max_queries
  }

  #setup(): ResidentSetup {
    const { clock } = this.#deps
    return setupOf(this.settings, this.#grid.tickAt(clock.monotonic()), clock.now())
  }

  /** What a look sees besides the observations. */
  #addedEvents(): readonly AddedEvent[] {
    const slices = { name: SLICES_EVENT, payload: Object.fromEntries(this.#slices), label: UNTRUSTED_LABEL }
    const overflow = { name: OVERFLOW_EVENT, payload: { refused: this.#refused.size } }
    return [...(this.#areSlicesNew ? [slices] : []), ...(this.#refused.size > 0 ? [overflow] : [])]
  }

  #refuseIfFull({ id, observation: { type } }: Publication): void {
    const limit = type === 'user_message' ? MAX_MESSAGES : MAX_EVENTS
    const { unread } = this.#session
    if (unread < limit) return
    if (this.#refused.size < MAX_MESSAGES) this.#refused.add(id)
    throw tooManyUnread(this.settings.agent_id, unread, limit)
  }

  #noteEnd(began: number, isDone: boolean, error: string | null): void {
    const { clock } = this.#deps
    const now = clock.monotonic()
    this.#lastLookAt = clock.now()
    this.#looks += 1
    this.#failures = isDone ? 0 : this.#failures + 1
    this.#error = isDone ? null : (error ?? CANCELLED)
    const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS)
    // `catch_up`: a look that took longer than its time is followed by the next one at once.
    const isLate = this.#grid.tickAt(now) > this.#grid.tickAt(began)
    this.#freeSince = !isDone ? now + backoff : this.settings.overrun === 'catch_up' && isLate ? began + 1 : now + 1
    this.#why = this.#error === null ? reasonAfterLook(this.#session.mind) : reasonAfterFailure(this.#error)
  }

  /** The look of the session that is under way, started by the resident or by a message. */
  #noteOpenLook(looks: readonly Dispatch[]): void {
    const open = looks.find(({ session_id, status }) => session_id === this.#session.id && !isTerminal(status))
    if (open) this.#look = { dispatch_id: open.dispatch_id, began: this.#deps.clock.monotonic() }
  }

  #recall(looks: readonly Dispatch[]): void {
    this.#noteOpenLook(looks)
    const ended = looks.filter(({ status }) => isTerminal(status))
    const [last] = ended
    if (!last) return
    const lastGood = ended.findIndex(({ status }) => status === 'done')
    this.#failures = lastGood < 0 ? ended.length : lastGood
    this.#lastLookAt = Date.parse(last.updated_at)
    this.#error = lastGood === 0 ? null : (last.error ?? CANCELLED)
    this.#why = this.#error === null ? reasonAfterLook(this.#session.mind) : reasonAfterFailure(this.#error)
  }
}
