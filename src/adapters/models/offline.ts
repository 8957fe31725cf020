/**
 * The built-in model for a machine without one: deterministic, follows rules, says so. It reads the request only; what it did before it
 * finds again in the conversation, so it goes on wherever a run was interrupted.
 */

import { isDeepStrictEqual } from 'node:util'
import { TirelessError } from '../../domain/error.ts'
import type { Answer, AskedCall } from '../../domain/record.ts'
import type { Message, Model, ModelRequest } from '../../ports/model.ts'
import { withoutData } from './offline/clauses.ts'
import { type Attempt, moveOf } from './offline/moves.ts'
import { planOf } from './offline/plan.ts'
import { reportOf } from './offline/report.ts'
import { type Step, stepsOf } from './offline/rules.ts'

export const offlineModel: Model = {
  id: 'offline/rules',
  price: { input: 0, output: 0, max_output: 0 },
  async call(request, { signal, onText }) {
    if (signal.aborted) throw new TirelessError('aborted', 'the offline model was not asked: aborted')
    const answer = answerTo(request)
    if (answer.text) onText?.(answer.text)
    return answer
  },
}

interface Progress {
  readonly step: Step
  readonly tried: Attempt[]
}

/** What the conversation has come to since the last final answer. */
interface Place {
  readonly task: string
  readonly steps: readonly Progress[]
}

function answerTo(request: ModelRequest): Answer {
  const plan = planOf(request)
  if (plan !== undefined) return answer(request, plan, [])
  const tools = new Set(request.tools.map((tool) => tool.name))
  const { steps, task } = placeIn(request.messages, tools)
  const next = nextCall(steps, tools)
  const turn = request.messages.filter((message) => message.role === 'assistant').length
  if (next) {
    const asked = { id: `offline-${turn}`, tool: next.tool, args: JSON.stringify(next.args) }
    return answer(request, '', [asked])
  }
  return answer(request, reportOf(steps, tools, task), [])
}

const FENCED = /<data ([0-9a-f]{12}) [^>\n]*>\n([\s\S]*)\n<\/data \1>/

/** What others wrote stands between marks; here it is taken for what it says, never for what to do. */
const unfenced = (text: string): string => text.replace(FENCED, (_, __, inside: string) => inside)

/** Replays the conversation against the rules: a call counts for a step only if it is the very call that the step wanted next. */
function placeIn(messages: readonly Message[], tools: ReadonlySet<string>): Place {
  let steps: Progress[] = []
  let task = ''
  const open = new Map<string, Attempt>()
  for (const message of messages) {
    if (message.role === 'user') {
      steps.push(...stepsOf(message.text).map((step) => ({ step, tried: [] })))
      task += `${withoutData(message.text)}\n`
    } else if (message.role === 'tool') {
      const attempt = open.get(message.call_id)
      if (attempt) attempt.result = { ok: message.ok, text: unfenced(message.text) }
    } else if (message.calls.length === 0) {
      steps = []
      task = ''
    } else {
      for (const { id, tool, args } of message.calls) {
        const wanted = nextCall(steps, tools)
        if (!wanted || wanted.tool !== tool || !isDeepStrictEqual(wanted.args, args)) continue
        const attempt: Attempt = { tool, args: wanted.args }
        wanted.tried.push(attempt)
        open.set(id, attempt)
      }
    }
  }
  return { steps, task }
}

function nextCall(steps: readonly Progress[], tools: ReadonlySet<string>) {
  for (const { step, tried } of steps) {
    const move = moveOf(step, tried, tools)
    if (move.kind === 'call') return { tool: move.tool, args: move.args, tried }
  }
  return undefined
}

function answer(request: ModelRequest, text: string, calls: readonly AskedCall[]): Answer {
  return {
    text,
    calls,
    finish: calls.length > 0 ? 'calls' : 'stop',
    usage: {
      input_tokens: tokens(JSON.stringify(request)),
      output_tokens: tokens(text + calls.map((call) => call.args).join('')),
      cached_tokens: 0,
    },
  }
}

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
