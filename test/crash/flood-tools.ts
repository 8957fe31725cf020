/** A model that calls a tool while messages are unread, and a tool that can kill its process. */

import { z } from 'zod'
import { defineBehaviour } from '../../src/ports/behaviour.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'

export const FLOOD_YAML = `models: { max_input: 6000 }
budget: { per_dispatch_calls: 500 }
`

export const watcher = defineBehaviour({
  name: 'onlooker',
  tools: ['look', 'wait'],
  initState: () => null,
  buildSystemPrompt: () => 'be brief',
})

/** `dies`: the number of the call that kills the process. */
export function lookTool(killAtLook = Number.POSITIVE_INFINITY) {
  let looks = 0
  return defineTool({
    name: 'look',
    description: 'looks',
    args: z.strictObject({ n: z.number() }),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    async run({ n }) {
      looks += 1
      if (looks >= killAtLook) process.kill(process.pid, 'SIGKILL')
      return { status: 'ok', content: `looked ${n}` }
    },
  })
}

/** Waits for a message first; calls `look` in every step that leaves messages unread. */
export function lookWhileUnread(): ScriptedModel {
  let asked = 0
  return scriptedModel((request, turn) => {
    asked += 1
    if (turn === 0 && request.messages.length === 1) return { calls: [{ tool: 'wait', args: { for: 'message' } }] }
    const lastAnswer = request.messages.findLastIndex(({ role }) => role === 'assistant')
    const news = request.messages.slice(lastAnswer + 1).filter(({ role }) => role === 'user')
    const more = news.some(({ text }) => text.includes('"still_unread":'))
    return more ? { calls: [{ tool: 'look', args: { n: asked } }] } : { text: 'all read' }
  })
}
