/**
 * Progress messages: while a run of a conversation works, its chat sees one message that says what is done now and is
 * replaced in place. A short run gets none, and neither does a chat whose channel cannot replace messages.
 * Must not know: how channels work, what a run decides.
 * Invariants: I9 (nothing here delays a run or fails it); one message per run, also after a restart; nothing is written
 * while no run works for a chat.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { DispatchStatus } from '../../domain/dispatch.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import type { NewChannelMessage } from '../../domain/message.ts'
import { isFrontSession, type ReplyTo } from '../../domain/reply-to.ts'
import type { Todo } from '../../domain/todo.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { RunRef, RunSink } from '../../ports/run-sink.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { readTalk } from '../conversation/expectations.ts'
import { createWakeSignal } from '../queue/wake-signal.ts'

/** A run that takes less time than this gets no message. */
const FIRST_AFTER_MS = 8_000
const NEXT_AFTER_MS = 5_000
const SHOWN_CALLS = 3
const SHOWN_TODOS = 12
const MAX_CALL = 120
const MAX_TITLE = 80
/** Calls that people need not see. */
const HIDDEN: ReadonlySet<string> = new Set(['route', 'finish', 'todo'])

interface ProgressDeps {
  readonly store: Store
  readonly clock: Clock
  readonly channels: ReadonlyMap<string, Channel>
  /** Contract: the sink also gets the runs of other processes, until the result is called. */
  follow(): () => void
  /** Contract: the text without secrets. */
  redact(text: string): string
  log(level: 'warn', event: string, details: Readonly<Record<string, string>>): void
}

/** A run that works, or has just stopped. */
interface Work extends RunRef {
  readonly since: number
  readonly calls: string[]
  steps: number
  isOpen: boolean
  /** A message of this run may exist: it was posted now, or before the run parked or the process ended. */
  mayBePosted: boolean
  /** When it is looked at next. */
  due: number
}

type ChatTarget = Extract<ReplyTo, { channel: string }>

export class ProgressMessages {
  readonly #deps: ProgressDeps
  readonly #works = new Map<string, Work>()
  readonly #changed = createWakeSignal()
  #isRunning = false

  constructor(deps: ProgressDeps) {
    this.#deps = deps
  }

  readonly sink: RunSink = {
    onRunOpened: (run, past) => this.#begin(run, past.length > 0),
    onRecord: (run, record) => this.#note(run.run_id, record),
    onRunClosed: (run) => this.#end(run.run_id),
    delta: () => {},
  }

  /** Contract: writes the messages until stopped; rejects only if the store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, channels, follow } = this.#deps
    this.#isRunning = true
    const stopFollowing = [...channels.values()].some(showsProgress) ? follow() : undefined
    try {
      while (!signal.aborted) {
        const since = this.#changed.ringCount()
        const now = clock.now()
        for (const work of this.#works.values()) if (work.due <= now) await this.#show(work, now)
        const next = Math.min(...[...this.#works.values()].map(({ due }) => due))
        const limit = { clock, ms: next - clock.now(), stop: signal }
        await withDeadline(limit, (over) => this.#changed.wait(since, over))
      }
    } finally {
      stopFollowing?.()
      this.#isRunning = false
      this.#works.clear()
    }
  }

  #begin({ run_id, session_id }: RunRef, mayBePosted: boolean): void {
    if (!this.#isRunning || isFrontSession(session_id)) return
    const since = this.#deps.clock.now()
    this.#works.set(run_id, {
      ...{ run_id, session_id, since, calls: [], steps: 0, isOpen: true, mayBePosted },
      due: since + FIRST_AFTER_MS,
    })
    this.#changed.ring()
  }

  #note(run_id: string, record: JournalRecord): void {
    const work = this.#works.get(run_id)
    if (!work) return
    if (record.kind === 'step_committed') work.steps += 1
    if (record.kind !== 'call_intended' || HIDDEN.has(record.call.tool)) return
    const call = `${record.call.tool} ${JSON.stringify(record.call.args)}`
    work.calls.push(clipText(call.replaceAll('`', "'"), MAX_CALL))
    work.calls.splice(0, work.calls.length - SHOWN_CALLS)
  }

  #end(run_id: string): void {
    const work = this.#works.get(run_id)
    if (!work) return
    work.isOpen = false
    work.due = this.#deps.clock.now()
    this.#changed.ring()
  }

  async #show(work: Work, now: number): Promise<void> {
    const { isOpen, mayBePosted, run_id } = work
    work.due = now + NEXT_AFTER_MS
    if (!isOpen) this.#works.delete(run_id)
    if (!isOpen && !mayBePosted) return
    try {
      const messages = await this.#messages(work, now)
      for (const message of messages) await this.#put(message, isOpen, now)
      work.mayBePosted = messages.length > 0
      // No chat follows this run.
      if (messages.length === 0) this.#works.delete(run_id)
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code.startsWith('store_')) throw error
      this.#deps.log('warn', 'progress not shown', { message: error.message, run_id })
    }
  }

  /** Posts the message if there is none yet and `isNew` allows it; otherwise replaces it, if that is possible. */
  async #put(message: NewChannelMessage, isNew: boolean, now: number): Promise<void> {
    const { store } = this.#deps
    if (isNew && !(await commitOne(store, [{ op: 'post', message, due: now, now }]))[0].duplicate) return
    const { id, text } = message
    const [outcome] = await store.commit([{ ops: [{ op: 'revise', id, text, due: now }] }])
    // There is no such message, or it cannot be replaced.
    if (outcome?.ok || outcome?.code === 'conflict' || outcome?.code === 'not_found') return
    throw new TirelessError(outcome?.code ?? 'internal', outcome?.message ?? 'the store returned no outcome')
  }

  async #messages(work: Work, now: number): Promise<readonly NewChannelMessage[]> {
    const { store, channels } = this.#deps
    const dispatch = await fallbackIfUnreadable(store.dispatch(work.run_id), undefined)
    if (!dispatch) return []
    const { targets, said } = await readTalk(store, dispatch)
    const chats = targets.filter((to): to is ChatTarget => 'channel' in to)
    const shown = chats.filter(({ channel }) => channels.get(channel)?.replaces === true)
    if (shown.length === 0) return []
    const todos = await fallbackIfUnreadable(store.todos(work.session_id), [])
    const text = this.#deps.redact(
      renderProgress({ ...work, ms: now - work.since, status: dispatch.status, todos }, languageOf(said)),
    )
    return shown.map(({ channel, chat, thread }, at) => ({
      ...{ id: `progress-${work.run_id}${at === 0 ? '' : `-${at}`}`, kind: 'reply', text },
      ...{ channel, chat_id: chat, ...(thread === undefined ? {} : { thread_id: thread }) },
    }))
  }
}

function showsProgress(channel: Channel): boolean {
  try {
    return channel.replaces === true && channel.trouble() === null
  } catch {
    return false
  }
}

interface ShownProgress {
  readonly isOpen: boolean
  readonly status: DispatchStatus
  readonly steps: number
  readonly ms: number
  readonly calls: readonly string[]
  readonly todos: readonly Todo[]
}

/** Contract: pure; Markdown. */
function renderProgress({ isOpen, status, steps, ms, calls, todos }: ShownProgress, language: Language): string {
  const texts = TEXTS[language]
  const state = isOpen ? texts.running : (texts[status as keyof typeof texts] ?? texts.running)
  const plan = todos.slice(0, SHOWN_TODOS).map(({ code, title, status: is }) => {
    const mark = is === 'DONE' ? '☑' : is === 'IN_PROGRESS' || is === 'COMPLETE' ? '▶' : '☐'
    return `- ${mark} ${code} ${clipText(title, MAX_TITLE)}`
  })
  const doing = isOpen ? calls.map((call) => `- \`${call}\``) : []
  return [`**${state}** · ${texts.steps(steps)} · ${duration(ms)}`, ...plan, ...doing].join('\n')
}

const duration = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const TEXTS = {
  en: {
    running: '⏳ Working',
    waiting: '⏸ Waiting',
    done: '✔ Done',
    failed: '✖ Failed',
    cancelled: '✖ Cancelled',
    dead: '✖ Failed',
    steps: (count: number) => (count === 1 ? '1 step' : `${count} steps`),
  },
  zh: {
    running: '⏳ 处理中',
    waiting: '⏸ 等待中',
    done: '✔ 已完成',
    failed: '✖ 失败',
    cancelled: '✖ 已取消',
    dead: '✖ 失败',
    steps: (count: number) => `${count} 步`,
  },
} as const
