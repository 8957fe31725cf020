/** What the processes of the drill work on: beats of a schedule, and tasks with real commands that a model asks for. */

import { setTimeout } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { App } from '../../../src/app.ts'
import { asTirelessError } from '../../../src/domain/error.ts'
import type { Script } from '../../../src/testing/provider-server.ts'
import { chance } from '../../sim/random.ts'
import type { CommandEvidence } from './command-evidence.ts'

export const BEAT_MS = 4000
/** US dollars, for each agent and day. */
export const CAP_USD = 1
/** What one answer of the dear model costs. Its largest answer is not much dearer, so the cap is nearly used up. */
export const DEAR_USAGE = { input_tokens: 100, output_tokens: 500 }
const DEAR_PRICE = { input: 1, output: 100, max_output: 600 }
const CHEAP_PRICE = { input: 0.001, output: 0.001, max_output: 1000 }
export const DEAR_ANSWER_USD =
  (DEAR_USAGE.input_tokens * DEAR_PRICE.input + DEAR_USAGE.output_tokens * DEAR_PRICE.output) / 1_000_000

/** Every fourth task is of the agent whose model is dear. */
export const isDear = (task: number): boolean => task % 4 === 3
const promptOf = (task: number): string => `This is task ${task}.`

/** Contract: the number of the task in a conversation; undefined: it is no task. */
export const taskIn = (conversation: string): number | undefined => {
  const found = /This is task (\d+)\./.exec(conversation)
  return found ? Number(found[1]) : undefined
}

/** Two commands one after the other, then the end. */
export function scriptOf(evidence: CommandEvidence, seed: number, tasks: number, leaseMs: number): Script {
  /** Some first commands outlast the lease of a worker that is gone. */
  const secondsOf = (task: number, command: number): number => {
    if (command === 2) return 0.3
    return chance(seed, 'long', task) < 0.4 ? (2.5 * leaseMs) / 1000 : 0.3 + 4 * chance(seed, 'seconds', task)
  }
  const conversations = Array.from({ length: tasks }, (_, task) => {
    const call = (command: number) => ({
      calls: [{ tool: 'bash', args: { command: evidence.commandFor(task, command, secondsOf(task, command)) } }],
    })
    const turns = [call(1), call(2), { text: `task ${task} is done` }]
    return {
      match: promptOf(task),
      turns: isDear(task) ? turns.map((turn) => ({ ...turn, usage: DEAR_USAGE })) : turns,
    }
  })
  return { conversations, turns: [{ calls: [{ tool: 'bash', args: { command: 'true' } }] }, { text: 'looked' }] }
}

/** Works only when it is given a task. */
const ON_CALL = { enabled: false, description: 'does tasks' }

export function configOf(store: string, providerUrl: string, leaseMs: number): string {
  const agent = (agent_id: string, more: object = {}): object => ({
    ...{ agent_id, prompt: 'Look after things.', workspace: null, ...more },
  })
  return stringify({
    ...{ sandbox: 'off', server: { port: 0 }, store },
    models: {
      default: 'local/cheap',
      providers: { local: { type: 'openai-compatible', base_url: providerUrl } },
      prices: { 'local/cheap': CHEAP_PRICE, 'local/dear': DEAR_PRICE },
    },
    budget: { per_agent_usd: CAP_USD },
    kernel: {
      ...{ lease: `${leaseMs}ms`, max_concurrent: 3, schedule: { every: `${BEAT_MS}ms` } },
      ...{ missed: 'all', overrun: 'catch_up', stop_timeout: '5s', planner: { mode: 'static' } },
      agents: [agent('tick'), agent('rich', ON_CALL), agent('poor', { ...ON_CALL, model: 'local/dear' })],
    },
  })
}

/** Enqueues tasks, one after the other, through a home that no kernel runs in. */
export class TaskLoad {
  readonly #app: App
  readonly #pauseMs: number
  readonly #limit: number
  #isOver = false
  readonly #working: Promise<void>
  /** Ids of dispatches by task, as they were acknowledged. */
  readonly acknowledged = new Map<number, string>()

  constructor(app: App, pauseMs: number, limit: number) {
    this.#app = app
    this.#pauseMs = pauseMs
    this.#limit = limit
    this.#working = this.#enqueueAll()
  }

  /** Contract: nothing more is enqueued. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  async #enqueueAll(): Promise<void> {
    for (let task = 0; !this.#isOver && task < this.#limit; task += 1) {
      await this.#enqueue(task)
      await setTimeout(this.#pauseMs)
    }
  }

  /** Repeated until it is acknowledged; the key makes one task of it. */
  async #enqueue(task: number): Promise<void> {
    for (;;)
      try {
        const agent = isDear(task) ? 'poor' : 'rich'
        const wanted = { prompt: promptOf(task), agent, key: `task-${task}`, behaviour: 'solo' }
        const { dispatch_id } = await this.#app.run('enqueue', wanted)
        this.acknowledged.set(task, dispatch_id)
        return
      } catch (thrown) {
        if (asTirelessError(thrown).code !== 'store_failed') throw thrown
      }
  }
}
