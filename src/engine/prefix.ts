/**
 * The prompt prefix: system prompt and tools, the start of every request of a run. Built for the first request; the
 * bytes never change afterwards, so that providers can cache them.
 */

import { hash } from 'node:crypto'
import { compileSystem } from '../prompt/sections.ts'
import { askPlugin } from './ask-plugin.ts'
import { weightOf } from './conversation.ts'
import { ownCopy } from './reduce.ts'
import { instructionsPort, systemPromptPort } from './return-shapes.ts'
import type { Prefix, Run } from './run.ts'
import { specsOf } from './toolbox.ts'

export function prefixOf(run: Run): Prefix {
  run.prefix ??= buildPrefix(run)
  return run.prefix
}

/** Tokens left for the conversation; infinite without a limit. The next request reports an error in the prefix. */
export function roomBesidePrefix(run: Run): number {
  const { context } = run.wishes.budget
  const { roomLearnt } = run.thread
  if (context === null) return roomLearnt
  try {
    const tokens = Object.values(prefixOf(run).sections).reduce((sum, of) => sum + of, 0)
    return Math.max(0, Math.min(context - tokens, roomLearnt))
  } catch {
    return Math.min(context, roomLearnt)
  }
}

function buildPrefix({ behaviour, toolbox, parser, thread }: Run): Prefix {
  const specs = specsOf(toolbox)
  const prompt = askPlugin(systemPromptPort(behaviour.name), () => behaviour.buildSystemPrompt(ownCopy(thread.state)))
  const protocol = parser && askPlugin(instructionsPort(parser.name), () => parser.instructions(specs))
  const { text: system, parts } = compileSystem(prompt, protocol, thread.setup)
  const own = parser ? compileSystem(prompt, '', thread.setup).text : system
  const tools = parser ? [] : specs
  const toolsWeight = weightOf(JSON.stringify(tools))
  return {
    system,
    own,
    tools,
    digest: hash('sha256', JSON.stringify([system, tools])),
    bytes: Buffer.byteLength(system) + toolsWeight.bytes,
    sections: { ...Object.fromEntries(parts.map(({ name, tokens }) => [name, tokens])), tools: toolsWeight.tokens },
  }
}
