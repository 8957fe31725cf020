/** Runs whose steps are given as functions on the workspace, or as calls of built-in tools. */

import { z } from 'zod'
import type { App } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import type { Json } from '../../src/domain/json.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { runTaskIn } from './open-app.ts'

export type WorkStep = ((root: string) => void | Promise<void>) | { readonly tool: string; readonly args: Json }

/** Agents that keep their workspaces, with every tool that these tests use. */
const TOOLS = 'work, remember, forget, edit_state, bash, create_file, wait, finish'
export const WORK_YAML = `kernel:
  agents:
    - { agent_id: writer, prompt: work, enabled: false, workspace: workspaces/writer, tools: [${TOOLS}] }
    - { agent_id: other, prompt: work, enabled: false, workspace: workspaces/writer, tools: [${TOOLS}] }
`

export interface ScriptedWork {
  readonly model: ScriptedModel
  readonly tool: ReturnType<typeof defineTool>
  /** Contract: a run that makes these steps, one each turn, and then ends. */
  run(app: App, steps: readonly WorkStep[], agent?: string): Promise<CommandOutput<'run'>>
}

/** `otherwise`: the answer to a task that names no script. */
export function scriptedWork(otherwise: (text: string) => ScriptedAnswer = () => ({ text: 'done' })): ScriptedWork {
  const scripts: (readonly WorkStep[])[] = []
  const scriptOf = (task: string): number => Number(/script (\d+)\./.exec(task)?.[1] ?? -1)
  const model = scriptedModel((request, turn) => {
    const text = request.messages.map((message) => message.text).join('\n')
    const number = scriptOf(text)
    const step = scripts[number]?.[turn]
    if (!step) return number < 0 ? otherwise(text) : { text: 'done' }
    const call = typeof step === 'function' ? { tool: 'work', args: { script: number, step: turn } } : step
    return { calls: [call] }
  })
  const tool = defineTool({
    name: 'work',
    description: 'works',
    args: z.strictObject({ script: z.number(), step: z.number() }),
    effect: () => ({ recovery: 'once', reach: 'workspace' }),
    async run({ script, step }, { env }) {
      const work = scripts[script]?.[step]
      if (typeof work === 'function') await work(env.root)
      return { status: 'ok', content: 'worked' }
    },
  })
  return {
    model,
    tool,
    run(app, steps, agent = 'writer') {
      scripts.push(steps)
      return runTaskIn(app, `Work as script ${scripts.length - 1}. says`, { agent })
    },
  }
}
