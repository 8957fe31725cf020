/**
 * The users: they enqueue tasks, send messages, resolve unknown outcomes and answer approvals, sometimes late or twice.
 */

import { isTerminal } from '../../src/domain/dispatch.ts'
import { asTirelessError } from '../../src/domain/error.ts'
import type { Resolution } from '../../src/domain/unknown-outcome.ts'
import { callKeyOf } from './ground-truth.ts'
import { homeFor } from './homes.ts'
import type { Task, UserAction } from './plan.ts'
import { ASSISTANT } from './ports/talk.ts'
import { SimProcess } from './process.ts'
import { integerBelow } from './random.ts'
import type { Observe } from './resident-plan.ts'
import type { Cancel } from './sub-agent-plan.ts'
import { CHANNEL, type Say } from './talk-plan.ts'
import type { World } from './world.ts'

/** How long a user waits, in events, after a process said that it could not store the answer to an approval. */
const PAUSE_AFTER_FAILURE = 30
/** Users who get no reply answer again, but not so often that the process comes to nothing else. */
const MAX_UNREPLIED = 10

interface ObserveInput {
  readonly agent: string
  readonly latest?: boolean
  readonly key?: string
  readonly id?: string
}

export class Humans {
  readonly #world: World
  /** Ids of plan items that were answered. */
  readonly #answered = new Set<string>()
  readonly #asked = new Set<string>()
  /** The event at which a user replies, by unknown outcome and number of earlier questions. */
  readonly #replyAt = new Map<string, number>()
  readonly #timesAsked = new Map<string, number>()
  /** Answers to an approval that have no reply yet. */
  readonly #unreplied = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  requestTask(task: Task): Promise<void> {
    const { id, tag, by, priority, key, delay } = task
    this.#asked.add(id)
    if (by === 'run') return this.#runCommand(id, 'run', { task: `task ${tag}` })
    const options = { priority, ...(key === undefined ? {} : { key }), ...(delay === undefined ? {} : { at: delay }) }
    return this.#runCommand(id, 'enqueue', { prompt: `task ${tag}`, ...options })
  }

  perform(action: UserAction): Promise<void> {
    this.#asked.add(action.id)
    if (action.kind === 'edit') return Promise.resolve(this.#world.stateDocument.edit())
    if (action.kind === 'query' || action.kind === 'kernel_command')
      return this.#runCommand(action.id, action.command, {})
    if (action.kind === 'say') return this.#say(action)
    if (action.kind === 'cancel') return this.#cancel(action)
    if (action.kind === 'undo') return this.#undo(action.id)
    if (action.kind === 'observe') return this.#observe(action)
    if (action.kind === 'slice')
      return this.#runCommand(action.id, 'observe', {
        ...{ agent: action.agent, type: action.name, payload: String(action.value), latest: true },
      })
    if (action.kind === 'retain') return this.#runCommand(action.id, 'retain', { before: this.#world.wall })
    const session = this.#world.sessionOfTask(action.tag)?.session_id
    // No user knows of this session yet.
    if (session === undefined) return Promise.resolve()
    if (action.kind === 'flood')
      return this.#runCommand(action.id, 'flood', { session, of: `${action.tag}#${action.id}`, count: action.count })
    return this.#runCommand(action.id, 'send', {
      session,
      text: action.text,
      ...(action.key === undefined ? {} : { key: action.key }),
    })
  }

  #say({ id, via, chat, text, message_id, route }: Say): Promise<void> {
    if (via === 'channel') return this.#runCommand(id, 'say', { chat, text, message_id })
    const said = { text, key: message_id, chat }
    if (via === 'terminal') return this.#runCommand(id, 'send', said)
    const sessions = [...this.#world.mirror.byId.keys()].filter((session) => session.startsWith(`${ASSISTANT}-`))
    const session = sessions[integerBelow(this.#world.plan.seed, Math.max(1, sessions.length), 'to', id)]
    // No user knows of a session yet.
    return session === undefined
      ? Promise.resolve()
      : this.#runCommand(id, 'send', { ...said, session, route: route === true })
  }

  #cancel({ id, what, how }: Cancel): Promise<void> {
    const { subAgents, mirror, plan } = this.#world
    const open = [...mirror.dispatches.values()].filter(({ status }) => !isTerminal(status))
    const known = open.filter(({ dispatch_id }) => subAgents.isChild(dispatch_id) === (what === 'sub_agent'))
    const dispatch = known[integerBelow(plan.seed, Math.max(1, known.length), 'cancelled', id)]
    if (!dispatch) return Promise.resolve()
    this.#world.counters.add('dispatch cancelled by a user')
    return this.#runCommand(id, 'queue cancel', { id: dispatch.dispatch_id, how })
  }

  #observe({ id, agent, key, what }: Observe): Promise<void> {
    if (what === 'chat')
      return this.#runCommand(id, 'bring', { agent, id: key, text: `${key} to ${agent}`, chat: 'left' })
    const payload = JSON.stringify(what === 'event' ? { seen: key } : { text: `${key} to ${agent}` })
    const type = what === 'event' ? 'sound' : 'user_message'
    return this.#runCommand(id, 'observe', { agent, type, payload, key })
  }

  /** Of a run that has written; most have ended. */
  #undo(id: string): Promise<void> {
    const { mirror, plan, versionedFiles } = this.#world
    const writers = [...mirror.dispatches.values()].filter((row) => versionedFiles.hasWritten(row.dispatch_id))
    const ended = writers.filter(({ status }) => isTerminal(status))
    const known = ended.length > 0 ? ended : writers
    const target = known[integerBelow(plan.seed, Math.max(1, known.length), 'undone', id)]?.dispatch_id
    return target === undefined ? Promise.resolve() : this.#runCommand(id, 'undo', { target, yes: true })
  }

  /** Users repeat a request that was not answered and has a key. */
  async retryUnanswered(settle: () => Promise<void>): Promise<void> {
    const { tasks, actions } = this.#world.plan
    for (const task of tasks) {
      if (this.#answered.has(task.id) || (this.#asked.has(task.id) && task.key === undefined)) continue
      void this.requestTask({ ...task, by: 'enqueue' })
      await settle()
    }
    for (const action of actions) {
      if (['edit', 'kernel_command', 'retain', 'cancel', 'undo', 'slice'].includes(action.kind)) continue
      if (
        this.#answered.has(action.id) ||
        (action.kind === 'send' && this.#asked.has(action.id) && action.key === undefined)
      )
        continue
      void this.perform(action)
      await settle()
    }
  }

  /**
   * Returns the replies to unknown outcomes and approvals that are due. A reply comes some events after the question.
   */
  dueReplies(now: number, answerAll: boolean): readonly (() => Promise<void>)[] {
    const replies: (() => Promise<void>)[] = []
    for (const { id, status } of this.#world.mirror.unknowns.values()) {
      if (status === 'resolved') continue
      const times = this.#timesAsked.get(id) ?? 0
      const question = `${id}#${times}`
      if (status === 'told_model' && (answerAll || this.#world.chance('bother', question) < 0.4)) continue
      const due = this.#replyAt.get(question) ?? now + Math.floor(this.#world.chance('delay', question) ** 4 * 60)
      this.#replyAt.set(question, due)
      if (due > now && !answerAll) continue
      this.#timesAsked.set(id, times + 1)
      replies.push(() => this.#resolve(id, this.#resolutionFor(id, question, answerAll)))
      if (this.#world.chance('twice', question) < 0.25) replies.push(() => this.#resolve(id, 'not', true))
    }
    return [...replies, ...this.#dueApprovalAnswers(now, answerAll)]
  }

  /** Some approvals are never answered, and some by two users at once. */
  #dueApprovalAnswers(now: number, answerAll: boolean): readonly (() => Promise<void>)[] {
    const open = [...this.#world.mirror.approvals.values()].filter(({ status }) => status === 'open')
    return open.flatMap(({ id }) => {
      const due = this.#replyAt.get(id) ?? now + Math.floor(this.#world.chance('answer', id) ** 3 * 150)
      this.#replyAt.set(id, due)
      if ((due > now && !answerAll) || this.#world.chance('never', id) < 0.15) return []
      const verb = this.#world.chance('verb', id) < 0.7 ? 'allow' : 'deny'
      const answer = (verb: string) => () => this.#answerApproval(id, verb)
      return this.#world.chance('two', id) < 0.3 ? [answer(verb), answer('deny')] : [answer(verb)]
    })
  }

  /** Without a pause, the answers to one approval would keep a process busy that cannot write and is exiting. */
  async #answerApproval(id: string, verb: string): Promise<void> {
    const unreplied = this.#unreplied.get(id) ?? 0
    if (unreplied >= MAX_UNREPLIED) return
    this.#unreplied.set(id, unreplied + 1)
    await this.#runCommand(`answer ${id}`, `approvals ${verb}`, { id })
    this.#unreplied.set(id, (this.#unreplied.get(id) ?? 1) - 1)
    if (this.#world.mirror.approvals.get(id)?.status === 'open')
      this.#replyAt.set(id, this.#world.events + PAUSE_AFTER_FAILURE)
  }

  #resolutionFor(id: string, question: string, answerAll: boolean): Resolution {
    if (!answerAll && this.#world.chance('recheck', question) < 0.3) return 'recheck'
    const attempt = Number(id.split('.')[3] ?? 1)
    return this.#world.truth.of(callKeyOf(id)).some((occurrence) => occurrence.attempt === attempt) ? 'happened' : 'not'
  }

  /**
   * A second, contradicting resolution is refused. It is sent only after the first one was stored: alone it would be
   * untrue.
   */
  #resolve(id: string, resolution: Resolution, second = false): Promise<void> {
    const status = this.#world.mirror.unknowns.get(id)?.status
    if (second && status !== 'resolved') return Promise.resolve()
    return this.#runCommand(`resolve ${id}`, 'unknowns resolve', { id, as: resolution })
  }

  /** Runs a command in the process that holds the home, or else in a process of its own. */
  async #runCommand(what: string, command: string, input: object): Promise<void> {
    const home = homeFor(this.#world, what, this.#world.events)
    const holder = home ? home.holder() : this.#world.homeHolder()
    // Another process holds the lock and does not answer.
    if (!holder && (home ? home.isLocked() : this.#world.isHomeLocked())) return
    const proc = holder ?? new SimProcess(this.#world, home)
    this.#world.logEvent(`${proc.id} asked ${command} ${JSON.stringify(input)}`)
    if (command === 'flood') this.#world.counters.add('flood of messages')
    if (command === 'queue cancel' && home) this.#countCancel(proc, (input as { readonly id: string }).id)
    try {
      const output = await (holder ? proc.runCommand(command, input) : proc.runToExit(command, input))
      this.#answered.add(what)
      this.#checkAcknowledged(command, input, output)
    } catch (thrown) {
      this.#checkErrorExpected(command, thrown, proc)
    }
  }

  #countCancel({ epoch }: SimProcess, id: string): void {
    const row = this.#world.mirror.dispatches.get(id)
    if (row?.status === 'running' && row.epoch !== epoch) this.#world.counters.add('run cancelled from another home')
  }

  /** Whatever was acknowledged must be in the store. */
  #checkAcknowledged(command: string, input: object, output: unknown): void {
    const { mirror } = this.#world
    if (command === 'say') this.#checkHeard(input as Say)
    if (command === 'undo' && (output as { status: string }).status === 'done') this.#world.counters.add('undo done')
    if (command === 'observe' || command === 'bring') this.#checkObserved(input as ObserveInput)
    if (command === 'send') {
      const { observation_id, session_id: session } = output as { observation_id: string; session_id: string | null }
      if (session === null || mirror.pruned.has(session)) return
      const n = mirror.byId.get(session)?.n
      if (!mirror.inbox.has(`${n}/${observation_id}`))
        this.#world.fail('incoming message', `${observation_id} was acknowledged and is not in the inbox`)
    }
    if (command === 'flood') {
      const { session } = input as { session: string }
      const { observation_ids } = output as { observation_ids: string[] }
      const n = mirror.byId.get(session)?.n
      const lost = mirror.pruned.has(session) ? [] : observation_ids.filter((id) => !mirror.inbox.has(`${n}/${id}`))
      if (lost.length > 0)
        this.#world.fail('incoming message', `${lost.length} messages were acknowledged and are not in the inbox`)
    }
    if (command === 'enqueue') {
      const { dispatch_id } = output as { dispatch_id: string }
      if (!mirror.dispatches.has(dispatch_id) && !mirror.pruned.has(dispatch_id))
        this.#world.fail('enqueue', `${dispatch_id} was acknowledged and is not in the queue`)
    }
  }

  #checkObserved({ agent, latest, key, id }: ObserveInput): void {
    const published = key ?? id ?? ''
    if (!latest && !this.#world.looks.isPublished(agent, published))
      this.#world.fail('incoming message', `${published} was acknowledged, and ${agent} will never see it`)
  }

  /** A message that a channel has delivered is in an inbox. Retention may have deleted it since. */
  #checkHeard({ message_id }: Say): void {
    const { mirror } = this.#world
    const isKept = [...mirror.inbox.values()].some(({ observation }) => observation.id === `${CHANNEL} ${message_id}`)
    if (!isKept && mirror.pruned.size === 0)
      this.#world.fail('incoming message', `${message_id} was acknowledged and is in no inbox`)
  }

  #checkErrorExpected(command: string, thrown: unknown, proc: SimProcess): void {
    const { code, message } = asTirelessError(thrown)
    const known =
      (code === 'store_failed' && (Number.isFinite(proc.diskFailedAt) || proc.lostStore)) ||
      (code === 'store_fenced' && proc.superseded) ||
      // Another process leads, or leads by now.
      ((code === 'conflict' || code === 'store_fenced') && command === 'cycle now' && proc.home !== undefined) ||
      (code === 'aborted' && command === 'cycle now') ||
      (code === 'not_found' && this.#world.mirror.pruned.size > 0) ||
      (code === 'conflict' && (command === 'unknowns resolve' || command.startsWith('approvals '))) ||
      (code === 'conflict' && command === 'undo') ||
      // The latest value of something, before the kernel has started or while it stops.
      (code === 'not_found' && command === 'observe')
    if (code === 'conflict' && command === 'undo') this.#world.counters.add('undo refused')
    if (!known) this.#world.fail('commands', `${command}: ${code}: ${message}`)
  }
}
