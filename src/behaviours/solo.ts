/** The one behaviour there is so far: a task, tools, an answer. An answer without a tool call is final. */

import { TirelessError } from '../domain/error.ts'
import type { Behaviour, Behaviours } from '../ports/behaviour.ts'

const SYSTEM = `You are an agent at work in a folder of your own, your workspace. Paths are relative to it.

Do the task with the tools you have. Look before you change something, and check afterwards that what you wanted is so.
A result marked [unknown] means that the runtime was interrupted during that call: look at the state of things before you repeat it.
When you can only go on after something else has happened, call wait. When you are done, answer with the result in plain words, or call finish.
Claim nothing that a tool has not shown you.`

export function soloBehaviours(tools: () => readonly string[]): Behaviours {
  const solo: Omit<Behaviour, 'tools'> = { name: 'solo', systemPrompt: () => SYSTEM, initState: () => null }
  return {
    get(agentId, name = solo.name) {
      if (name !== solo.name)
        throw new TirelessError('not_found', {
          what: `the agent ${agentId} has no such behaviour`,
          got: name,
          expected: solo.name,
        })
      return { ...solo, tools: tools() }
    },
  }
}
