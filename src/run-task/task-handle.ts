/** A handle on one task: follows it, works on it in this process, and answers what it waits for. */

import { type HeldApp, useApp } from '../app/share-app.ts'
import type { App, AppOptions } from '../app.ts'
import { ignoreProgress, type Progress } from '../commands/lib/progress.ts'
import { taskEvent, taskState } from '../commands/lib/task-commands.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { type CancelMode, type Dispatch, type DispatchStatus, isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { eventsFromRecords } from '../domain/event-fold.ts'
import { recordsOfRun } from '../domain/journal-record.ts'
import { checkEventPayload, type EventType } from '../ports/define-event.ts'
import { answerTask, type TaskAnswer } from './answer-task.ts'
import type { TaskEnd, TaskResult } from './task.ts'
import { type TaskEvent, TaskEvents } from './task-events.ts'
import { buildResult, type WantedResult } from './task-result.ts'
import { endsByItself, readTaskWait, type TaskWait } from './task-wait.ts'

export interface TaskStatus {
  readonly status: DispatchStatus
  /** What the task waits for; null if it works, is queued or has ended. */
  readonly wait: TaskWait | null
}

/**
 * A task that was started. It goes on in this process while the handle is open, and with the next handle (or a kernel)
 * after a crash. Every iterator gets all events of the run, also earlier ones, then a `wait` for each wait, and ends
 * when the task has ended; `break` leaves the task running.
 */
export interface TaskHandle<A = string> extends AsyncIterable<TaskEvent>, AsyncDisposable {
  readonly id: string
  readonly sessionId: string
  /** Contract: resolves when the task has ended, through every wait; rejects with `aborted` if the handle is closed. */
  result(): Promise<TaskResult<A>>
  /** Contract: resolves when the task needs an answer from outside to go on; with null when it has ended. */
  waiting(): Promise<TaskWait | null>
  status(): Promise<TaskStatus>
  /**
   * Contract: the message or event is on disk when it resolves; throws `usage` if a payload does not match its event,
   * `conflict` if the task has ended.
   */
  send(text: string): Promise<void>
  send<P>(event: EventType<P>, payload: P): Promise<void>
  /**
   * Contract: answers what the task or a sub-agent waits for: text a question, `allow` a call that needs approval.
   * Throws `conflict` if it waits for no such answer.
   */
  answer(answer: TaskAnswer): Promise<void>
  /** Contract: resolves when the task has ended: at once, or with `after_step` after its current step. */
  cancel(how?: CancelMode): Promise<void>
  /** Contract: lets go of the task, which does not end; another handle or a kernel continues it. */
  close(): Promise<void>
}

interface FollowedTask<A> {
  readonly held: HeldApp
  readonly options: AppOptions
  readonly dispatch_id: string
  readonly session_id: string
  readonly wanted: WantedResult<A>
  readonly tell: (progress: Progress) => void
}

export class FollowingHandle<A> implements TaskHandle<A> {
  readonly id: string
  readonly sessionId: string
  readonly #task: FollowedTask<A>
  readonly #events: TaskEvents
  readonly #left = new AbortController()
  /** Resolves when the task is not followed any more; undefined if the handle was closed before. */
  readonly #followed: Promise<TaskResult<A> | undefined>
  readonly #result: Promise<TaskResult<A>>
  /** Resolves when the handle holds the app no more; never rejects. */
  readonly #released: Promise<void>
  /** The app while it is held; afterwards it is opened for each request. */
  #app: App | undefined
  /** The requests that use the held app; it is not let go before they are done. */
  readonly #uses = new Set<Promise<unknown>>()

  constructor(task: FollowedTask<A>) {
    this.id = task.dispatch_id
    this.sessionId = task.session_id
    this.#task = task
    this.#app = task.held.app
    this.#events = new TaskEvents(() => this.#use((app) => readEvents(app, this.id, this.sessionId)))
    this.#followed = this.#follow(task.held.app)
    this.#result = this.#followed.then((end) => (end && isTerminal(end.status) ? end : this.#failUnended()))
    // A program need not ask for the result.
    this.#released = this.#result.then(
      () => {},
      () => {},
    )
  }

  [Symbol.asyncIterator](): AsyncIterator<TaskEvent, undefined> {
    return this.#events[Symbol.asyncIterator]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  result(): Promise<TaskResult<A>> {
    return this.#result
  }

  waiting(): Promise<TaskWait | null> {
    return this.#use(async (app) => {
      const wait = await this.#untilStopped(app, (found) => !endsByItself(found))
      if (wait) return wait
      const { status } = await readDispatch(app.context.store, this.id)
      return isTerminal(status) ? null : this.#failUnended()
    })
  }

  status(): Promise<TaskStatus> {
    return this.#use(async ({ context: { store } }) => {
      const dispatch = await readDispatch(store, this.id)
      return { status: dispatch.status, wait: (await readTaskWait(store, dispatch)) ?? null }
    })
  }

  send(what: string | EventType, given?: unknown): Promise<void> {
    return this.#use(async (app) => {
      if (typeof what !== 'string') {
        const payload = checkEventPayload(what, given)
        return void (await validateAndRun(
          taskEvent,
          app.context,
          { id: this.id, name: what.name, payload },
          ignoreProgress,
        ))
      }
      const { status } = await readDispatch(app.context.store, this.id)
      if (isTerminal(status)) throw hasEnded(status)
      await app.run('send', { session: this.sessionId, text: what })
    })
  }

  answer(answer: TaskAnswer): Promise<void> {
    return this.#use(async (app) => answerTask(app, await readDispatch(app.context.store, this.id), answer))
  }

  cancel(how: CancelMode = 'immediate'): Promise<void> {
    return this.#use(async (app) => void (await app.run('queue cancel', { id: this.id, how })))
  }

  async close(): Promise<void> {
    this.#left.abort()
    await this.#released
  }

  /** The result, or what has come of the task when the app was asked to stop. */
  async readEnding(): Promise<TaskResult<A>> {
    return (await this.#followed) ?? this.#result
  }

  /** A text that changes when the task goes on. */
  progressMark(): Promise<string> {
    return this.#use(async ({ context: { store } }) => {
      const { token, status, updated_at } = await readDispatch(store, this.id)
      return `${token} ${status} ${updated_at}`
    })
  }

  /** What has come of the task so far. */
  async readResult(): Promise<TaskResult<A>> {
    const { wanted, tell } = this.#task
    return buildResult(await this.#use((app) => readEnd(app, this.id, tell)), wanted)
  }

  /** Works on the task until it has ended, then lets go of the app. */
  async #follow(app: App): Promise<TaskResult<A> | undefined> {
    const { held, tell } = this.#task
    const { listen } = app.context
    const listening = [
      listen((progress) => isProgressOf(progress, this.id) && this.#events.push(progress)),
      // Its promise is returned, so that a rejection is ignored like a throw.
      ...(tell === ignoreProgress ? [] : [listen((progress) => isProgressOf(progress, this.id) && tell(progress))]),
    ]
    try {
      await this.#work(app)
      const { status } = await readDispatch(app.context.store, this.id)
      return isTerminal(status) || !this.#left.signal.aborted ? await this.readResult() : undefined
    } finally {
      for (const stopListening of listening) stopListening()
      this.#events.end()
      this.#app = undefined
      await Promise.allSettled(this.#uses)
      await held.release()
    }
  }

  /** Contract: resolves when the task has ended, the handle is closed or the app stops; no run is left behind. */
  async #work(app: App): Promise<void> {
    const { drain, wakeSignal } = app.context
    let isOver = false
    const watching = this.#untilStopped(app, (wait) => {
      this.#events.push({ kind: 'wait', wait })
      return false
    }).finally(() => {
      isOver = true
      wakeSignal.ring()
    })
    const draining = drain({ untilIdle: () => isOver, only: [this.id], until: this.#left.signal })
    // A drain that failed will not make the task go on.
    draining.catch(() => this.#left.abort())
    await Promise.all([draining, watching])
  }

  /** Resolves with the first wait that `isStop` accepts; undefined: the task has ended, or is not followed any more. */
  async #untilStopped(app: App, isStop: (wait: TaskWait) => boolean): Promise<TaskWait | undefined> {
    const { store, wakeSignal, signals } = app.context
    const stopped = AbortSignal.any([signals.drain, this.#left.signal])
    let seen: string | undefined
    for (;;) {
      const since = wakeSignal.ringCount()
      const dispatch = await readDispatch(store, this.id)
      if (isTerminal(dispatch.status) || stopped.aborted) return undefined
      const wait = await readTaskWait(store, dispatch)
      const now = JSON.stringify([dispatch.token, wait])
      if (wait && now !== seen && isStop(wait)) return wait
      seen = wait && now
      await wakeSignal.wait(since, stopped)
    }
  }

  #failUnended(): never {
    const isClosed = this.#left.signal.aborted
    throw new TirelessError('aborted', {
      what: `task ${this.id} has not ended: ${isClosed ? 'its handle was closed' : 'this process was asked to stop'}`,
      fix: 'call startTask with the same key, or attachTask with its id, to continue it',
    })
  }

  #use<T>(work: (app: App) => Promise<T>): Promise<T> {
    if (!this.#app) return this.#released.then(() => useApp(this.#task.options, work))
    const use = work(this.#app)
    const noteDone = (): void => void this.#uses.delete(use)
    this.#uses.add(use)
    use.then(noteDone, noteDone)
    return use
  }
}

const hasEnded = (status: DispatchStatus): TirelessError =>
  new TirelessError('conflict', { what: 'the task has ended', got: status, fix: 'start another task' })

export async function readDispatch(store: App['context']['store'], id: string): Promise<Dispatch> {
  const dispatch = await store.dispatch(id)
  if (dispatch) return dispatch
  throw new TirelessError('not_found', { what: 'no such task', got: id, fix: 'run tireless queue list' })
}

/** Also delivers what people have to be told. */
const readEnd = (app: App, id: string, tell: (progress: Progress) => void): Promise<TaskEnd> =>
  validateAndRun(taskState, app.context, { id }, tell) as Promise<TaskEnd>

async function readEvents({ context }: App, run_id: string, session_id: string): Promise<readonly Event[]> {
  const records = recordsOfRun(await context.store.journal(session_id), run_id)
  return eventsFromRecords({ run_id, session_id }, records)
}

function isProgressOf(progress: Progress, id: string): progress is Extract<Progress, { kind: 'event' | 'delta' }> {
  if (progress.kind === 'event') return progress.event.run_id === id
  return progress.kind === 'delta' && progress.delta.run_id === id
}
