/** What every request of a behaviour begins with: system prompt and tools. Made with the first request, and the same bytes from then on. */

import { hash } from 'node:crypto'
import { compileSystem } from '../prompt/sections.ts'
import { askPlugin } from './ask-plugin.ts'
import { weightOf } from './conversation.ts'
import { ownCopy } from './reduce.ts'
import { instructionsPort, systemPromptPort } from './return-shapes.ts'
import type { Prefix, Run } from './run.ts'
import { specsOf } from './toolbox.ts'

export function prefixOf(run: Run): Prefix {
  run.prefix ??= madePrefix(run)
  return run.prefix
}

/** What a request has room for beside its prefix; infinite where there is no limit. A prompt that cannot be made is told of by whoever needs it. */
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

function madePrefix({ behaviour, toolbox, parser, thread }: Run): Prefix {
  const specs = specsOf(toolbox)
  const prompt = askPlugin(systemPromptPort(behaviour.name), () => behaviour.buildSystemPrompt(ownCopy(thread.state)))
  const protocol = parser && askPlugin(instructionsPort(parser.name), () => parser.instructions(specs))
  const { text: system, parts } = compileSystem(prompt, protocol, thread.setup)
  const own = parser ? compileSystem(prompt, '', thread.setup).text : system
  const tools = parser ? [] : specs
  const offered = weightOf(JSON.stringify(tools))
  return {
    system,
    own,
    tools,
    digest: hash('sha256', JSON.stringify([system, tools])),
    bytes: Buffer.byteLength(system) + offered.bytes,
    sections: { ...Object.fromEntries(parts.map(({ name, tokens }) => [name, tokens])), tools: offered.tokens },
  }
}
