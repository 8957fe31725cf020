/** A model in this process that says what its script says. Whatever the script does not name throws. */

import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { Answer, Usage } from '../domain/record.ts'
import type { Model, ModelRequest } from '../ports/model.ts'

export interface ScriptedAnswer {
  readonly text?: string
  /** `args` is sent as JSON; a string is sent raw, so that broken arguments can be scripted. */
  readonly calls?: readonly { readonly tool: string; readonly args?: Json; readonly id?: string }[]
  readonly finish?: Answer['finish']
  readonly usage?: Usage
  readonly reasoning?: Json
}

export interface ScriptedStep extends ScriptedAnswer {
  /** The k-th request for this turn of the same conversation throws faults[k]; then it answers. */
  readonly faults?: readonly Error[]
}

/** Contract: `turn` is the number of assistant messages in the request, so a resumed conversation gets the right next answer. */
export type Script = readonly ScriptedStep[] | ((request: ModelRequest, turn: number) => ScriptedAnswer)

export interface ScriptedModel extends Model {
  /** Every request so far, copied. */
  readonly requests: readonly ModelRequest[]
}

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

export function scriptedModel(script: Script, id = 'scripted/model'): ScriptedModel {
  const requests: ModelRequest[] = []
  const asked = new Map<string, number>()

  function say(request: ModelRequest, turn: number): ScriptedAnswer {
    if (typeof script === 'function') return script(request, turn)
    const step = script[turn]
    if (!step) throw unscripted(turn, script.length)
    const key = JSON.stringify([turn, request.messages.find((message) => message.role === 'user')])
    const attempt = asked.get(key) ?? 0
    asked.set(key, attempt + 1)
    const fault = step.faults?.[attempt]
    if (fault) throw fault
    return step
  }

  return {
    id,
    requests,
    async call(request, { signal, onText }) {
      if (signal.aborted) throw new TirelessError('aborted', `${id} was not asked: aborted`)
      requests.push(structuredClone(request))
      const turn = request.messages.filter((message) => message.role === 'assistant').length
      const answer = answerOf(say(request, turn), turn)
      if (answer.text) onText?.(answer.text)
      return answer
    },
  }
}

function answerOf(said: ScriptedAnswer, turn: number): Answer {
  const calls = (said.calls ?? []).map((call, index) => ({
    id: call.id ?? `call-${turn}-${index}`,
    tool: call.tool,
    args: typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {}),
  }))
  const { text = '', finish = calls.length > 0 ? 'calls' : 'stop', usage = NO_USAGE, reasoning } = said
  if (text === '' && calls.length === 0) {
    throw new TirelessError('model_empty', `the script says neither text nor calls in turn ${turn}`)
  }
  return { text, calls, finish, usage, ...(reasoning === undefined ? {} : { reasoning }) }
}

function unscripted(turn: number, length: number): TirelessError {
  return new TirelessError('internal', {
    what: 'the scripted model was asked for a turn that is not in its script',
    got: `turn ${turn}`,
    expected: `one of the ${length} scripted turns`,
    fix: 'script that turn, or find out why the run did not end before it',
  })
}
