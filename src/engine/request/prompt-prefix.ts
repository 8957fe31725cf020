/**
 * The prompt prefix: system prompt and tools, the start of every request of a run. Built for the first request; the
 * bytes never change afterwards, so that providers can cache them.
 */

import { hash } from 'node:crypto'
import { compileSystemPrompt } from '../../prompt-compiler/sections.ts'
import { copyState } from '../phases/reduce.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { instructionsPort, systemPromptPort } from '../plugins/return-shapes.ts'
import type { PromptPrefix, Run } from '../run.ts'
import { weighText } from '../session/message-digest.ts'
import { describeAnswerSchema } from './answer-schema.ts'
import { describeTools } from './toolbox.ts'

export function getPromptPrefix(run: Run): PromptPrefix {
  run.prefix ??= buildPrefix(run)
  return run.prefix
}

/**
 * Tokens left for the conversation; infinite without a limit. Ignores an error in building the prefix, because the next
 * request reports it.
 */
export function roomForConversation(run: Run): number {
  const { context } = run.overrides.budget
  const { learntTokenLimit: roomLearnt } = run.thread
  if (context === null) return roomLearnt
  try {
    const tokens = Object.values(getPromptPrefix(run).sections).reduce((sum, of) => sum + of, 0)
    return Math.max(0, Math.min(context - tokens, roomLearnt))
  } catch {
    return Math.min(context, roomLearnt)
  }
}

function buildPrefix({ behaviour, toolbox, parser, thread, overrides }: Run): PromptPrefix {
  const specs = describeTools(toolbox)
  const prompt = askPlugin(systemPromptPort(behaviour.name), () => behaviour.buildSystemPrompt(copyState(thread.state)))
  const protocol = parser && askPlugin(instructionsPort(parser.name), () => parser.instructions(specs))
  const answer = describeAnswerSchema(overrides.answerSchema)
  const rules = [protocol ?? '', answer].filter((text) => text !== '').join('\n\n')
  const { text: system, parts } = compileSystemPrompt(prompt, rules, thread.setup)
  const own = parser ? compileSystemPrompt(prompt, answer, thread.setup).text : system
  const tools = parser ? [] : specs
  const toolsWeight = weighText(JSON.stringify(tools))
  return {
    system,
    ownSystem: own,
    tools,
    digest: hash('sha256', JSON.stringify([system, tools])),
    bytes: Buffer.byteLength(system) + toolsWeight.bytes,
    sections: { ...Object.fromEntries(parts.map(({ name, tokens }) => [name, tokens])), tools: toolsWeight.tokens },
    parts: parts.map(({ name, text, tokens }) => ({ name, text, tokens })),
  }
}
