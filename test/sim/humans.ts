/**
 * People: they ask for tasks, send messages early, late and twice, say what they know of unknown outcomes and what they
 * allow, late or twice.
 */

import { asTirelessError } from '../../src/domain/error.ts'
import type { Resolution } from '../../src/domain/unknown-outcome.ts'
import { keyOf } from './ground-truth.ts'
import type { Act, Task } from './plan.ts'
import { Life } from './process.ts'
import type { World } from './world.ts'

export class Humans {
  readonly #world: World
  /** What was asked for and answered, by the id of the plan's item. */
  readonly #answered = new Set<string>()
  readonly #asked = new Set<string>()
  /** When somebody will say a word, in events, by unknown and how often it was asked. */
  readonly #due = new Map<string, number>()
  readonly #words = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  task(task: Task): Promise<void> {
    const { id, tag, by, priority, key, delay } = task
    this.#asked.add(id)
    if (by === 'run') return this.#errand(id, 'run', { task: `task ${tag}` })
    const options = { priority, ...(key === undefined ? {} : { key }), ...(delay === undefined ? {} : { at: delay }) }
    return this.#errand(id, 'enqueue', { prompt: `task ${tag}`, ...options })
  }

  act(act: Act): Promise<void> {
    this.#asked.add(act.id)
    if (act.kind === 'edit') return Promise.resolve(this.#world.state.edit())
    if (act.kind === 'look' || act.kind === 'reign') return this.#errand(act.id, act.command, {})
    if (act.kind === 'retain') return this.#errand(act.id, 'retain', { before: this.#world.wall })
    const session = this.#world.sessionOf(act.tag)?.session_id
    // Somebody who was never told of a session cannot write to it.
    if (session === undefined) return Promise.resolve()
    if (act.kind === 'flood')
      return this.#errand(act.id, 'flood', { session, of: `${act.tag}#${act.id}`, count: act.count })
    return this.#errand(act.id, 'send', { session, text: act.text, ...(act.key === undefined ? {} : { key: act.key }) })
  }

  /** Whoever was not answered and has a key tries again. */
  async again(settle: () => Promise<void>): Promise<void> {
    const { tasks, acts } = this.#world.plan
    for (const task of tasks) {
      if (this.#answered.has(task.id) || (this.#asked.has(task.id) && task.key === undefined)) continue
      void this.task({ ...task, by: 'enqueue' })
      await settle()
    }
    for (const act of acts) {
      if (act.kind === 'edit' || act.kind === 'reign' || act.kind === 'retain') continue
      if (this.#answered.has(act.id) || (act.kind === 'send' && this.#asked.has(act.id) && act.key === undefined))
        continue
      void this.act(act)
      await settle()
    }
  }

  /** Looks at the list of unknown outcomes; a word is said some time after it was asked for. */
  words(now: number, everything: boolean): readonly (() => Promise<void>)[] {
    const said: (() => Promise<void>)[] = []
    for (const { id, status } of this.#world.watch.unknowns.values()) {
      if (status === 'resolved') continue
      const times = this.#words.get(id) ?? 0
      const question = `${id}#${times}`
      if (status === 'told_model' && (everything || this.#world.chance('bother', question) < 0.4)) continue
      const due = this.#due.get(question) ?? now + Math.floor(this.#world.chance('delay', question) ** 4 * 60)
      this.#due.set(question, due)
      if (due > now && !everything) continue
      this.#words.set(id, times + 1)
      said.push(() => this.#say(id, this.#wordFor(id, question, everything)))
      if (this.#world.chance('twice', question) < 0.25) said.push(() => this.#say(id, 'not', true))
    }
    return [...said, ...this.#answers(now, everything)]
  }

  /** Some are never answered, and some by two people at once. */
  #answers(now: number, everything: boolean): readonly (() => Promise<void>)[] {
    const open = [...this.#world.watch.approvals.values()].filter(({ status }) => status === 'open')
    return open.flatMap(({ id }) => {
      const due = this.#due.get(id) ?? now + Math.floor(this.#world.chance('answer', id) ** 3 * 150)
      this.#due.set(id, due)
      if ((due > now && !everything) || this.#world.chance('never', id) < 0.15) return []
      const verb = this.#world.chance('verb', id) < 0.7 ? 'allow' : 'deny'
      const answer = (verb: string) => () => this.#errand(`answer ${id}`, `approvals ${verb}`, { id })
      return this.#world.chance('two', id) < 0.3 ? [answer(verb), answer('deny')] : [answer(verb)]
    })
  }

  #wordFor(id: string, question: string, everything: boolean): Resolution {
    if (!everything && this.#world.chance('recheck', question) < 0.3) return 'recheck'
    const attempt = Number(id.split('.')[3] ?? 1)
    return this.#world.truth.of(keyOf(id)).some((happening) => happening.attempt === attempt) ? 'happened' : 'not'
  }

  /** A second word that contradicts the first is refused; where the first was not heard, it must be true as well. */
  #say(id: string, word: Resolution, second = false): Promise<void> {
    const status = this.#world.watch.unknowns.get(id)?.status
    if (second && status !== 'resolved') return Promise.resolve()
    return this.#errand(`word ${id}`, 'unknowns resolve', { id, as: word })
  }

  /** Through the process that holds the home, or else as a process of its own. */
  async #errand(what: string, command: string, input: object): Promise<void> {
    const holder = this.#world.holder()
    // Locked, and whoever has it does not hear.
    if (!holder && this.#world.held()) return
    const life = holder ?? new Life(this.#world)
    this.#world.note(`${life.id} asked ${command} ${JSON.stringify(input)}`)
    if (command === 'flood') this.#world.counters.add('flood of messages')
    try {
      const output = await (holder ? life.errand(command, input) : life.live(command, input))
      this.#answered.add(what)
      this.#checkKept(command, input, output)
    } catch (thrown) {
      this.#checkRefusal(command, thrown, life)
    }
  }

  /** Acknowledged means that it is there. */
  #checkKept(command: string, input: object, output: unknown): void {
    const { watch } = this.#world
    if (command === 'send') {
      const { session } = input as { session: string }
      if (watch.gone.has(session)) return
      const { observation_id } = output as { observation_id: string }
      const n = watch.byId.get(session)?.n
      if (!watch.inbox.has(`${n}/${observation_id}`))
        this.#world.fail('incoming message', `${observation_id} was acknowledged and is not there`)
    }
    if (command === 'flood') {
      const { session } = input as { session: string }
      const { observation_ids } = output as { observation_ids: string[] }
      const n = watch.byId.get(session)?.n
      const lost = watch.gone.has(session) ? [] : observation_ids.filter((id) => !watch.inbox.has(`${n}/${id}`))
      if (lost.length > 0) this.#world.fail('incoming message', `${lost.length} were acknowledged and are not there`)
    }
    if (command === 'enqueue') {
      const { dispatch_id } = output as { dispatch_id: string }
      if (!watch.dispatches.has(dispatch_id) && !watch.gone.has(dispatch_id))
        this.#world.fail('enqueue', `${dispatch_id} was acknowledged and is not there`)
    }
  }

  #checkRefusal(command: string, thrown: unknown, life: Life): void {
    const { code, message } = asTirelessError(thrown)
    const known =
      (code === 'store_failed' && Number.isFinite(life.sickSince)) ||
      (code === 'store_fenced' && life.superseded) ||
      (code === 'aborted' && command === 'cycle now') ||
      (code === 'not_found' && this.#world.watch.gone.size > 0) ||
      (code === 'conflict' && (command === 'unknowns resolve' || command.startsWith('approvals ')))
    if (!known) this.#world.fail('commands', `${command}: ${code}: ${message}`)
  }
}
