/** An in-process model that answers from a script. A turn outside the script throws. */

import { TirelessError } from '../domain/error.ts'
import type { ModelAnswer, Usage } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import type { Model, ModelRequest } from '../ports/model.ts'

export interface ScriptedAnswer {
  readonly text?: string
  /** `args` is sent as JSON; a string is sent raw, to script broken arguments. */
  readonly calls?: readonly { readonly tool: string; readonly args?: Json; readonly id?: string }[]
  readonly finish?: ModelAnswer['finish']
  readonly usage?: Usage
  readonly reasoning?: Json
}

export interface ScriptedStep extends ScriptedAnswer {
  /** The k-th request for this turn of a conversation throws faults[k]; later requests get the answer. */
  readonly faults?: readonly Error[]
}

/** `turn`: the number of assistant messages in the request, so a resumed conversation gets the right answer. */
export type ModelScript = readonly ScriptedStep[] | ((request: ModelRequest, turn: number) => ScriptedAnswer)

export interface ScriptedModel extends Model {
  /** Copies of all requests so far. */
  readonly requests: readonly ModelRequest[]
}

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

export function scriptedModel(script: ModelScript, id = 'scripted/model'): ScriptedModel {
  const requests: ModelRequest[] = []
  const attempts = new Map<string, number>()

  function chooseAnswer(request: ModelRequest, turn: number): ScriptedAnswer {
    if (typeof script === 'function') return script(request, turn)
    const step = script[turn]
    if (!step) throw missingTurn(turn, script.length)
    const key = JSON.stringify([turn, request.messages.find((message) => message.role === 'user')])
    const attempt = attempts.get(key) ?? 0
    attempts.set(key, attempt + 1)
    const fault = step.faults?.[attempt]
    if (fault) throw fault
    return step
  }

  return {
    id,
    requests,
    async call(request, { signal, onText }) {
      if (signal.aborted) throw new TirelessError('aborted', `${id}: the request was aborted`)
      requests.push(structuredClone(request))
      const turn = request.messages.filter((message) => message.role === 'assistant').length
      const answer = buildAnswer(chooseAnswer(request, turn), turn)
      if (answer.text) onText?.(answer.text)
      return answer
    },
  }
}

function buildAnswer(scripted: ScriptedAnswer, turn: number): ModelAnswer {
  const calls = (scripted.calls ?? []).map((call, index) => ({
    id: call.id ?? `call-${turn}-${index}`,
    tool: call.tool,
    args: typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {}),
  }))
  const { text = '', finish = calls.length > 0 ? 'calls' : 'stop', usage = NO_USAGE, reasoning } = scripted
  if (text === '' && calls.length === 0) {
    throw new TirelessError('model_empty', `the script has neither text nor calls for turn ${turn}`)
  }
  return { text, calls, finish, usage, ...(reasoning === undefined ? {} : { reasoning }) }
}

function missingTurn(turn: number, length: number): TirelessError {
  return new TirelessError('internal', {
    what: 'the script has no such turn',
    got: `turn ${turn}`,
    expected: `one of the ${length} scripted turns`,
    fix: 'add the turn to the script, or find out why the run did not end earlier',
  })
}
