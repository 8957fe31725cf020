/** A home whose kernel has two agents, each with one effect to have; and a process that dies at a named point of a cycle. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, createApp } from '../../src/app.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { Op } from '../../src/ports/store.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { acting, type Death } from './recovery-tools.ts'

export const SEED_STATE = '# Kernel State\n\n## notes\n- | pipes | and `### cycle_history`\n'

/** `effect`: what the agents' tool declares. `kernel`: more keys of the configuration's. */
export function writeHome(home: string, kernel: object = {}): void {
  const agents = ['a', 'b'].map((agent_id) => ({ agent_id, prompt: `work of ${agent_id}` }))
  const given = { timezone: 'UTC', schedule: '0 0 1 1 *', seed_state: SEED_STATE, agents, ...kernel }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify({ kernel: given, server: { port: 0 } }))
}

/** Everybody is sent; each acts until it has done so, and says it. */
function dutiful({ system, messages }: ModelRequest): ScriptedAnswer {
  if (system.includes('You decide which agents')) return { text: '[{"agent_id":"a"},{"agent_id":"b"}]' }
  const acted = messages.some((message) => message.role === 'tool' && /^acted$|it is done/.test(message.text))
  return acted ? { text: '## Execution Summary\nacted' } : { calls: [{ tool: 'act' }] }
}

export interface Scene {
  readonly home: string
  /** Where the effects are counted. */
  readonly log: string
  readonly effect: Effect
}

/** `point`: `before` or `after` a commit, or the effect of a tool; undefined: it lives. */
export async function openScene({ home, log, effect }: Scene, point?: string): Promise<App> {
  const tool: Death = point === 'before effect' ? 'before' : point === 'after effect' ? 'after' : 'never'
  return createApp({
    home,
    tools: [acting(log, effect, tool)],
    model: scriptedModel(dutiful),
    plugins: point === undefined ? [] : [dyingAt(point)],
  })
}

/** What is committed, as a point is named after it: `enqueue cycle`, `document STATE.md cycle`, `claim` … */
function wordsOf(op: Op): string {
  if (op.op === 'enqueue') return `enqueue ${op.dispatches[0]?.source}`
  if (op.op === 'document') return `document ${op.name} ${op.reason}`
  return op.op === 'project' ? `project ${op.name}` : op.op
}

/** Dies with the first such commit, before the store hears of it or once it is on disk; with `#2`, the second. */
function dyingAt(point: string): Plugin {
  const [, when, what = '', nth = '1'] = /^(before|after) (.*?)(?:#(\d+))?$/.exec(point) ?? []
  let left = Number(nth)
  return definePlugin({
    name: 'death',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const mortal: typeof commit = async (batches) => {
        const isIt = batches.some((batch) => batch.ops.some((op) => wordsOf(op) === what))
        if (isIt) left -= 1
        if (isIt && left === 0 && when === 'before') process.kill(process.pid, 'SIGKILL')
        const outcomes = await commit(batches)
        if (isIt && left === 0) process.kill(process.pid, 'SIGKILL')
        return outcomes
      }
      Object.assign(store, { commit: mortal })
    },
  })
}
