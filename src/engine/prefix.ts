/** What every request of a behaviour begins with: system prompt and tools. Made with the first request, and the same bytes from then on. */

import { hash } from 'node:crypto'
import { compileSystem } from '../prompt/sections.ts'
import { weightOf } from './conversation.ts'
import { ownCopy } from './reduce.ts'
import type { Prefix, Run } from './run.ts'
import { specsOf } from './toolbox.ts'

export function prefixOf(run: Run): Prefix {
  run.prefix ??= madePrefix(run)
  return run.prefix
}

function madePrefix({ behaviour, toolbox, parser, thread }: Run): Prefix {
  const specs = specsOf(toolbox)
  const prompt = behaviour.buildSystemPrompt(ownCopy(thread.state))
  const { text: system, parts } = compileSystem(prompt, parser?.instructions(specs), thread.setup)
  const tools = parser ? [] : specs
  const offered = weightOf(JSON.stringify(tools))
  return {
    system,
    tools,
    digest: hash('sha256', JSON.stringify([system, tools])),
    bytes: Buffer.byteLength(system) + offered.bytes,
    sections: { ...Object.fromEntries(parts.map(({ name, tokens }) => [name, tokens])), tools: offered.tokens },
  }
}
