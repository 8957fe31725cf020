/** A home whose kernel has two agents, each with one effect to have; and a process that dies at a named point of a cycle. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, createApp } from '../../src/app.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { Op } from '../../src/ports/store.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { acting, type Death } from './recovery-tools.ts'

export const SEED_STATE = '# Kernel State\n\n## notes\n- | pipes | and `### cycle_history`\n'

/** `effect`: what the agents' tool declares. `kernel`: more keys of the configuration's. */
export function writeHome(home: string, kernel: object = {}): void {
  const agents = ['a', 'b'].map((agent_id) => ({ agent_id, prompt: `work of ${agent_id}` }))
  const given = { timezone: 'UTC', schedule: '0 0 1 1 *', seed_state: SEED_STATE, agents, ...kernel }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify({ kernel: given, server: { port: 0 } }))
}

const isPlanning = ({ system }: Pick<ModelRequest, 'system'>): boolean => system.includes('You decide which agents')

/** Everybody is sent; each acts until it has done so, and says it. */
function dutiful({ system, messages }: ModelRequest): ScriptedAnswer {
  if (isPlanning({ system })) return { text: '[{"agent_id":"a"},{"agent_id":"b"}]' }
  const acted = messages.some(
    (message) => message.role === 'tool' && /^acted$|says that it took effect/.test(message.text),
  )
  return acted ? { text: '## Execution Summary\nacted' } : { calls: [{ tool: 'act' }] }
}

export interface Scene {
  readonly home: string
  /** Where the effects are counted. */
  readonly log: string
  readonly effect: Effect
  /** What somebody writes into the file of STATE.md as a cycle begins. */
  readonly edit?: string
}

/** `point`: `before` or `after` a commit, a read of the store, a model's answer, or the effect of a tool; undefined: it lives. */
export async function openScene({ home, log, effect, edit }: Scene, point?: string, clock?: Clock): Promise<App> {
  const tool: Death = point === 'before effect' ? 'before' : point === 'after effect' ? 'after' : 'never'
  const death = point === undefined ? undefined : deathAt(point)
  return createApp({
    home,
    tools: [acting(log, effect, tool)],
    model: death ? dyingModel(death) : scriptedModel(dutiful),
    plugins: death ? [dyingStore(death), ...(edit === undefined ? [] : [editingState(home, edit)])] : [],
    ...(clock ? { clock } : {}),
  })
}

/** Dies with the first such thing, or with `#2`, the second: before it is done, or once it is. */
interface Killer {
  around<T>(what: string | undefined, work: () => Promise<T>): Promise<T>
}

function deathAt(point: string): Killer {
  const [, when, wanted = '', nth = '1'] = /^(before|after) (.*?)(?:#(\d+))?$/.exec(point) ?? []
  let left = Number(nth)
  return {
    async around(what, work) {
      if (what === wanted) left -= 1
      const isIt = what === wanted && left === 0
      if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL')
      const done = await work()
      if (isIt) process.kill(process.pid, 'SIGKILL')
      return done
    },
  }
}

/** What is committed, as a point is named after it: `enqueue cycle`, `document STATE.md cycle`, `claim` … */
function wordsOf(op: Op): string {
  if (op.op === 'enqueue') return `enqueue ${op.dispatches[0]?.source}`
  if (op.op === 'document') return `document ${op.name} ${op.reason}`
  return op.op === 'project' ? `project ${op.name}` : op.op
}

const READS = ['recent', 'cycles', 'setting'] as const

function dyingStore({ around }: Killer): Plugin {
  return definePlugin({
    name: 'death',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const mortal: typeof commit = (batches) => {
        const words = batches.flatMap(({ ops }) => ops.map(wordsOf))
        return words.reduce(
          (work, what) => () => around(what, work),
          () => commit(batches),
        )()
      }
      Object.assign(store, { commit: mortal })
      for (const name of READS) {
        const read = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>
        Object.assign(store, { [name]: (...given: unknown[]) => around(`read ${name}`, () => read(...given)) })
      }
    },
  })
}

function editingState(home: string, text: string): Plugin {
  return definePlugin({
    name: 'edit',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const edited: typeof commit = async (batches) => {
        const outcomes = await commit(batches)
        if (batches.some(({ ops }) => ops.some(({ op }) => op === 'cycle_begin')))
          writeFileSync(join(home, 'kernels', 'default', 'STATE.md'), text)
        return outcomes
      }
      Object.assign(store, { commit: edited })
    },
  })
}

/** The planner's is called `model planner`, an agent's `model agent`. */
function dyingModel({ around }: Killer): ScriptedModel {
  const model = scriptedModel(dutiful)
  return {
    ...model,
    call: (request, how) =>
      around(isPlanning(request) ? 'model planner' : 'model agent', () => model.call(request, how)),
  }
}
