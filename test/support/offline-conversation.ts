/** Conversations with the offline model; the test executes its tool calls. */

import assert from 'node:assert/strict'
import { offlineModel } from '../../src/adapters/models/offline/offline.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ModelMessage } from '../../src/ports/model.ts'

export type ToolOutput = { readonly ok?: boolean; readonly text: string }
export type RunTool = (tool: string, args: Record<string, string>) => ToolOutput | Promise<ToolOutput>

export const ALL_TOOLS = ['bash', 'view_file', 'list_files', 'create_file', 'edit_file', 'wait', 'finish']
export const NO_BASH = ALL_TOOLS.filter((tool) => tool !== 'bash')
const signal = new AbortController().signal
export const askOffline = (messages: readonly ModelMessage[], tools = ALL_TOOLS) =>
  offlineModel.call(
    { system: 's', messages, tools: tools.map((name) => ({ name, description: '', parameters: {} })) },
    { signal },
  )

/** Runs a conversation to its end; `runTool` executes each call. */
export async function converse(task: string, runTool: RunTool, tools = ALL_TOOLS) {
  const messages: ModelMessage[] = [{ role: 'user', text: task }]
  const calls: [string, Json][] = []
  for (let turn = 0; turn < 50; turn++) {
    const answer = await askOffline(messages, tools)
    if (answer.calls.length === 0) return { messages, calls, text: answer.text, turns: turn }
    assert.equal(answer.calls.length, 1)
    for (const { id, tool, args } of answer.calls) {
      const parsed = JSON.parse(args)
      calls.push([tool, parsed])
      const { ok = true, text } = await runTool(tool, parsed)
      messages.push({ role: 'assistant', text: answer.text, calls: [{ id, tool, args: parsed }] })
      messages.push({ role: 'tool', call_id: id, tool, text, ok })
    }
  }
  return assert.fail('the conversation did not end within 50 turns')
}
