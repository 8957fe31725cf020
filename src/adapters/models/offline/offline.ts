/**
 * The built-in model for machines without another: deterministic and rule-based. It reads only the request and derives
 * its progress from the conversation, so it can resume an interrupted run.
 */

import { isDeepStrictEqual } from 'node:util'
import { TirelessError } from '../../../domain/error.ts'
import type { ModelAnswer, RequestedCall } from '../../../domain/journal-record.ts'
import type { Model, ModelRequest } from '../../../ports/model.ts'
import { withoutData } from './clauses.ts'
import { planAgents } from './cycle-plan.ts'
import { buildFinalAnswer } from './final-answer.ts'
import { type Attempt, nextStepAction } from './next-call.ts'
import type { OfflineStep } from './offline-step.ts'
import { isOwnTool } from './own-tools.ts'
import { parseSteps } from './parse-steps.ts'
import { nextPastAction } from './past-question.ts'
import { lookCalls, readLook } from './resident-look.ts'

export const offlineModel: Model = {
  id: 'offline/rules',
  price: { input: 0, output: 0, max_output: 0 },
  async call(request, { signal, onText }) {
    if (signal.aborted)
      throw new TirelessError('aborted', 'the request was aborted before the offline model was called')
    const answer = answerLook(request) ?? computeAnswer(request)
    if (answer.text) onText?.(answer.text)
    return answer
  },
  canDo(task, names) {
    const tools = names.map((name) => ({ name, description: '', parameters: {} }))
    const steps = parseSteps(task, tools.filter(isOwnTool))
    const isKnown = steps.length > 0 && steps.every(({ kind }) => kind !== 'unknown')
    return isKnown || nextPastAction(task, [], new Set(names)) !== undefined
  },
}

interface Progress {
  readonly step: OfflineStep
  readonly tried: Attempt[]
}

/** What the model has done since its last final answer. */
interface ConversationState {
  readonly task: string
  readonly steps: readonly Progress[]
  /** All calls, whatever rule they follow. */
  readonly calls: readonly Attempt[]
}

/** Contract: undefined if the request is not a look of a resident. Without slots, the owner's words are a task. */
function answerLook(request: ModelRequest): ModelAnswer | undefined {
  const look = readLook(request)
  if (!look) return undefined
  const calls = lookCalls(look)
  if (!calls) return computeAnswer(withTask(request, look.owner))
  return buildAnswer(
    request,
    '',
    calls.map(({ tool, args }, at) => ({ id: `offline-${at}`, tool, args: JSON.stringify(args) })),
  )
}

function withTask(request: ModelRequest, task: string): ModelRequest {
  const first = request.messages.findIndex(({ role }) => role === 'user')
  const messages = request.messages.map((message, at) =>
    at === first ? { role: 'user' as const, text: task } : message,
  )
  return { ...request, messages }
}

function computeAnswer(request: ModelRequest): ModelAnswer {
  const plan = planAgents(request)
  if (plan !== undefined) return buildAnswer(request, plan, [])
  const tools = new Set(request.tools.map((tool) => tool.name))
  const { steps, task, calls } = replayConversation(request, tools)
  const isUnknown = steps.every(({ step }) => step.kind === 'unknown')
  const past = isUnknown ? nextPastAction(task, calls, tools) : undefined
  if (past?.kind === 'report') return buildAnswer(request, past.text, [])
  const next = past ?? nextCall(steps, tools)
  const turn = request.messages.filter((message) => message.role === 'assistant').length
  if (next) {
    const call = { id: `offline-${turn}`, tool: next.tool, args: JSON.stringify(next.args) }
    return buildAnswer(request, '', [call])
  }
  return buildAnswer(request, buildFinalAnswer(steps, tools, task), [])
}

const FENCED = /<data ([0-9a-f]{12}) [^>\n]*>\n([\s\S]*)\n<\/data \1>/

/** Removes the marks around untrusted text in a tool result. The text is only reported, never followed. */
const removeFence = (text: string): string => text.replace(FENCED, (_, __, inside: string) => inside)

/**
 * Derives the progress from the conversation: a call counts for a step only if the rules would make the same call next.
 */
function replayConversation(request: ModelRequest, tools: ReadonlySet<string>): ConversationState {
  const ownTools = request.tools.filter(isOwnTool)
  let steps: Progress[] = []
  let calls: Attempt[] = []
  let task = ''
  const pendingCalls = new Map<string, Attempt>()
  for (const message of request.messages) {
    if (message.role === 'user') {
      steps.push(...parseSteps(message.text, ownTools).map((step) => ({ step, tried: [] })))
      task += `${withoutData(message.text)}\n`
    } else if (message.role === 'tool') {
      const attempt = pendingCalls.get(message.call_id)
      if (attempt) attempt.result = { ok: message.ok, text: removeFence(message.text) }
    } else if (message.calls.length === 0) {
      steps = []
      calls = []
      task = ''
    } else {
      for (const { id, tool, args } of message.calls) {
        const expected = nextCall(steps, tools)
        const isExpected = expected?.tool === tool && isDeepStrictEqual(expected.args, args)
        const attempt: Attempt = { tool, args: isExpected ? expected.args : {} }
        if (isExpected) expected.tried.push(attempt)
        calls.push(attempt)
        pendingCalls.set(id, attempt)
      }
    }
  }
  return { steps, task, calls }
}

function nextCall(steps: readonly Progress[], tools: ReadonlySet<string>) {
  for (const { step, tried } of steps) {
    const action = nextStepAction(step, tried, tools)
    if (action.kind === 'call') return { tool: action.tool, args: action.args, tried }
  }
  return undefined
}

function buildAnswer(request: ModelRequest, text: string, calls: readonly RequestedCall[]): ModelAnswer {
  return {
    text,
    calls,
    finish: calls.length > 0 ? 'calls' : 'stop',
    usage: {
      input_tokens: estimateTokens(JSON.stringify(request)),
      output_tokens: estimateTokens(text + calls.map((call) => call.args).join('')),
      cached_tokens: 0,
    },
  }
}

const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
