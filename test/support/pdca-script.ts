/** A scripted model for Plan, Do, Check, Adjust: the answers depend on the behaviour, the todo and the turn alone. */

import type { Json } from '../../src/domain/json.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'

export type BehaviourName = 'resolve_router' | 'router' | 'plan' | 'do' | 'check' | 'adjust'

/** A sentence of the rules by which each behaviour can be told from the others. */
export const SIGNS: Readonly<Record<BehaviourName, string>> = {
  resolve_router: 'Decide what becomes of it',
  router: 'In this one step',
  plan: 'You plan; others carry it out',
  do: 'You work on one todo',
  check: 'The runtime has run the checks',
  adjust: 'Find the cause; change nothing',
}

export function behaviourIn({ system }: ModelRequest): BehaviourName {
  const found = Object.entries(SIGNS).find(([, sign]) => system.includes(sign))
  if (!found) throw new Error(`no behaviour in: ${system.slice(0, 200)}`)
  return found[0] as BehaviourName
}

export const call = (tool: string, args: Json = {}): ScriptedAnswer => ({ calls: [{ tool, args }] })
export const finish = (answer: string, next?: string): ScriptedAnswer =>
  call('finish', { answer, ...(next === undefined ? {} : { next }) })

/** What the model sees of its situation: the text of the first message, and the number of its own turn. */
interface Situation {
  readonly behaviour: BehaviourName
  readonly turn: number
  readonly first: string
  readonly request: ModelRequest
}

/** `visited` lists the behaviours in which the model was asked, without repetitions. */
export function pdcaModel(
  answer: (situation: Situation) => ScriptedAnswer,
): ScriptedModel & { readonly visited: BehaviourName[] } {
  const visited: BehaviourName[] = []
  const model = scriptedModel((request, turn) => {
    const behaviour = behaviourIn(request)
    if (turn === 0) visited.push(behaviour)
    const first = request.messages.map((message) => message.text).at(0) ?? ''
    return answer({ behaviour, turn, first, request })
  })
  return Object.assign(model, { visited })
}
