/**
 * A home with a kernel and two agents, each with one effect, and a process that is killed at a named point of a cycle.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, createApp } from '../../src/app.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { Op } from '../../src/ports/store.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { actTool, type KillPoint } from './recovery-tools.ts'

export const SEED_STATE = '# Kernel State\n\n## notes\n- | pipes | and `### cycle_history`\n'

/** `kernel`: further keys of the kernel's configuration. */
export function writeHome(home: string, kernel: object = {}): void {
  const agents = ['a', 'b'].map((agent_id) => ({ agent_id, prompt: `work of ${agent_id}` }))
  const settings = { timezone: 'UTC', schedule: '0 0 1 1 *', seed_state: SEED_STATE, agents, ...kernel }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify({ kernel: settings, server: { port: 0 } }))
}

const isPlanning = ({ system }: Pick<ModelRequest, 'system'>): boolean => system.includes('You decide which agents')

/** The planner chooses both agents; each agent calls its tool once and reports it. */
function actOnceAndReport({ system, messages }: ModelRequest): ScriptedAnswer {
  if (isPlanning({ system })) return { text: '[{"agent_id":"a"},{"agent_id":"b"}]' }
  const acted = messages.some(
    (message) => message.role === 'tool' && /^acted$|says that it took effect/.test(message.text),
  )
  return acted ? { text: '## Execution Summary\nacted' } : { calls: [{ tool: 'act' }] }
}

export interface CycleSetup {
  readonly home: string
  /** The file that counts the effects. */
  readonly log: string
  readonly effect: Effect
  /** The text that a user writes into STATE.md as a cycle begins. */
  readonly edit?: string
}

/**
 * `point`: `before` or `after` a commit, a read of the store, a model's answer, or a tool's effect; undefined: never
 * killed.
 */
export async function openCycleApp(
  { home, log, effect, edit }: CycleSetup,
  point?: string,
  clock?: Clock,
): Promise<App> {
  const tool: KillPoint = point === 'before effect' ? 'before' : point === 'after effect' ? 'after' : 'never'
  const killPoint = point === undefined ? undefined : crashAt(point)
  return createApp({
    home,
    tools: [actTool(log, effect, tool)],
    model: killPoint ? crashingModel(killPoint) : scriptedModel(actOnceAndReport),
    plugins: killPoint ? [crashingStore(killPoint), ...(edit === undefined ? [] : [stateEditor(home, edit)])] : [],
    ...(clock ? { clock } : {}),
  })
}

/** Kills the process before or after the first such operation, or the nth with `#n`. */
interface CrashPoint {
  runAt<T>(what: string | undefined, work: () => Promise<T>): Promise<T>
}

function crashAt(point: string): CrashPoint {
  const [, when, operation = '', nth = '1'] = /^(before|after) (.*?)(?:#(\d+))?$/.exec(point) ?? []
  let left = Number(nth)
  return {
    async runAt(what, work) {
      if (what === operation) left -= 1
      const isPoint = what === operation && left === 0
      if (isPoint && when === 'before') process.kill(process.pid, 'SIGKILL')
      const done = await work()
      if (isPoint) process.kill(process.pid, 'SIGKILL')
      return done
    },
  }
}

/** The name of an op in a point: `enqueue cycle`, `document STATE.md cycle`, `claim` … */
function nameOfOp(op: Op): string {
  if (op.op === 'enqueue') return `enqueue ${op.dispatches[0]?.source}`
  if (op.op === 'document') return `document ${op.name} ${op.reason}`
  return op.op === 'project' ? `project ${op.name}` : op.op
}

const READS = ['recent', 'cycles', 'setting'] as const

function crashingStore({ runAt }: CrashPoint): Plugin {
  return definePlugin({
    name: 'death',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const crashingCommit: typeof commit = (batches) => {
        const words = batches.flatMap(({ ops }) => ops.map(nameOfOp))
        return words.reduce(
          (work, what) => () => runAt(what, work),
          () => commit(batches),
        )()
      }
      Object.assign(store, { commit: crashingCommit })
      for (const name of READS) {
        const read = store[name].bind(store) as (...settings: unknown[]) => Promise<unknown>
        Object.assign(store, { [name]: (...settings: unknown[]) => runAt(`read ${name}`, () => read(...settings)) })
      }
    },
  })
}

function stateEditor(home: string, text: string): Plugin {
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

/** A request of the planner is `model planner`, one of an agent `model agent`. */
function crashingModel({ runAt }: CrashPoint): ScriptedModel {
  const model = scriptedModel(actOnceAndReport)
  return {
    ...model,
    call: (request, how) =>
      runAt(isPlanning(request) ? 'model planner' : 'model agent', () => model.call(request, how)),
  }
}
