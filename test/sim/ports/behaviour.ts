/** A behaviour that counts its steps and sometimes decides without the model, and a critic that follows the plan. */

import { plannerBehaviour } from '../../../src/behaviours/planner.ts'
import type { Verdict } from '../../../src/domain/decision.ts'
import type { Json } from '../../../src/domain/json.ts'
import { RESIDENT_BEHAVIOUR } from '../../../src/domain/resident.ts'
import type { Behaviour, Behaviours, Critic, ProposedDecision } from '../../../src/ports/behaviour.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'
import { simResidentBehaviour } from './residents.ts'
import { ASSISTANT, talkBehaviours } from './talk.ts'

export function simBehaviours(world: World, tools: readonly string[]): Behaviours {
  const behaviour: Behaviour = {
    name: 'sim',
    tools,
    buildSystemPrompt: () => 'you are simulated',
    initState: (task) => ({ task, steps: 0 }),
    // Uses its own list of tools, so that a replay sees the tools that were offered in the recorded run.
    decide(state) {
      return ownDecision(world, state, this.tools)
    },
    reduce: (state) => ({ ...(state as { readonly [key: string]: Json }), steps: stepsOf(state) + 1 }),
  }
  const assistant = talkBehaviours(world, tools)
  const resident = simResidentBehaviour(tools)
  return {
    get(agentId, name) {
      if (agentId === ASSISTANT) return assistant.get(agentId, name)
      if (name === RESIDENT_BEHAVIOUR) return resident
      return name === plannerBehaviour.name ? plannerBehaviour : behaviour
    },
  }
}

const stepsOf = (state: Json): number => Number((state as { readonly steps?: Json }).steps ?? 0)

/** Never in the first step of a run: the conversation must start with the task. */
function ownDecision(world: World, state: Json, tools: readonly string[]): ProposedDecision | undefined {
  const { task } = state as { readonly task: string }
  const steps = stepsOf(state)
  if (steps === 0 || steps > 6 || world.chance('own', task, steps) > 0.06) return undefined
  const tool = world.chance('own tool', task, steps) < 0.5 ? 'put' : 'post'
  if (!tools.includes(tool)) return { kind: 'final', answer: 'by itself' }
  return { kind: 'act', calls: [{ id: `own-${steps}`, tool, args: { n: steps } }] }
}

/** Retries the step at once, or the whole task after a delay. */
const retryDelay = (draw: number): { readonly attempt?: { readonly after_ms: number } } =>
  draw < 0.5 ? { attempt: { after_ms: draw * 60_000 } } : {}

export function simCritic(world: World, proc: SimProcess): Critic {
  return {
    name: 'sim',
    judge: () => orGarbage(world, proc, 'critic', verdict(world)),
  }
}

function verdict(world: World): Verdict {
  const { verdict, id = '' } = world.faults.nextFor('critic') ?? {}
  if (verdict === 'throw') throw new Error('the critic broke')
  if (verdict === 'retry') return { kind: 'retry', instruction: 'more', ...retryDelay(world.chance('rest', id)) }
  return verdict === 'stop' ? { kind: 'stop', reason: 'enough' } : { kind: 'continue' }
}
