/**
 * DECIDE: runs the calls that a person allowed, or takes the behaviour's decision, or asks the model. An answer that is
 * in the journal is reused (I4).
 * Must not know: retries. Errors are thrown; retry-policy.ts decides what follows.
 */

import { hash } from 'node:crypto'
import type { Decision } from '../../domain/decision.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ModelAnswer, PromptComposition } from '../../domain/journal-record.ts'
import { deepFreeze, type Json } from '../../domain/json.ts'
import type { Behaviour } from '../../ports/behaviour.ts'
import type { ParsedAnswer, Parser } from '../../ports/parser.ts'
import { COMPILER_VERSION } from '../../prompt-compiler/turn-messages.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { decideApprovedCalls } from '../calls/approved-calls.ts'
import { askPlugin, callPlugin } from '../plugins/ask-plugin.ts'
import { keepsThoughtPort, parsedPort, preparedPort } from '../plugins/return-shapes.ts'
import { reserveMoney, settleCost } from '../request/budget-reservation.ts'
import { checkProposedDecision } from '../request/check-behaviour-decision.ts'
import { InvalidDecisionError } from '../request/invalid-decision-error.ts'
import { chooseModel } from '../request/model-fallback.ts'
import { parseDecision } from '../request/parse-decision.ts'
import { getPromptPrefix } from '../request/prompt-prefix.ts'
import { buildComposition } from '../request/token-breakdown.ts'
import { checkCall } from '../request/toolbox.ts'
import { appendRecord, type PromptPrefix, type Run, sendDelta } from '../run.ts'
import { findFittingCut, isNewCut } from '../session/memory-view.ts'
import { measureConversation } from '../session/message-digest.ts'
import type { OpenTurn } from '../session/session-thread.ts'
import { chooseCandidate } from './branch.ts'
import { copyState } from './reduce.ts'

export async function decide(run: Run, open: OpenTurn): Promise<Decision> {
  const decided =
    open.decided ??
    (await decideApprovedCalls(run, open)) ??
    behaviourDecision(run, open) ??
    (await decideByModel(run, open))
  const decision = deepFreeze(decided.kind === 'branch' ? chooseCandidate(run, open, decided.candidates) : decided)
  if (decision.kind !== 'invalid') return decision
  // A call of this decision has already started, so the decision was valid then. If the tools changed while the program
  // was down, each call is checked on its own.
  if (open.intended.size > 0) return { kind: 'act', calls: decision.calls }
  throw new InvalidDecisionError(decision)
}

function behaviourDecision(run: Run, open: OpenTurn): Decision | undefined {
  if (open.answer || open.isRequested) return undefined
  const { behaviour } = run
  const method = { who: `behaviour ${behaviour.name}`, method: 'decide' }
  const proposal = callPlugin(method, () => behaviour.decide?.(copyState(run.thread.state), open.observation))
  if (proposal === undefined || proposal === null) return undefined
  const decision = checkProposedDecision(proposal, { ...method, toolbox: run.toolbox, turn: open.turn })
  appendRecord(run, { kind: 'decided', turn: open.turn, decision })
  return decision
}

async function decideByModel(run: Run, open: OpenTurn): Promise<Decision> {
  if (!open.answer) {
    const answer = withoutThought(run, parseAnswer(run, await requestAnswer(run, open)))
    const usd = settleCost(run, open, answer)
    appendRecord(run, { kind: 'model_answered', turn: open.turn, answer, ...(usd === undefined ? {} : { usd }) })
  }
  const answer = open.answer as ModelAnswer
  const decision = parseDecision(answer, run.toolbox, open.answeredAt)
  if (decision.kind !== 'invalid' || !run.engine.discoverTool) return decision
  await discoverTools(run, answer)
  return parseDecision(answer, run.toolbox, open.answeredAt)
}

/** Loads tools of MCP servers that the model calls by name without having searched for them. */
async function discoverTools({ engine, toolbox, grace: leaving }: Run, { calls }: ModelAnswer): Promise<void> {
  const unknownCalls = calls.filter((call) => checkCall(toolbox, call).fault !== undefined)
  const names = unknownCalls.flatMap(({ tool, args }) => `${tool} ${args}`.match(SERVER_TOOL_NAME) ?? [])
  for (const name of new Set(names))
    await leaving.race(
      async () => engine.discoverTool?.(name),
      () => {},
    )
}

/** Matches a name of the form `server__tool`, also inside the arguments of tool_call. */
const SERVER_TOOL_NAME = /[\w-]+?__[\w-]+/g

async function requestAnswer(run: Run, open: OpenTurn): Promise<ModelAnswer> {
  const { thread, behaviour } = run
  // A request that a crash left without an answer may have been charged. Whatever fails before the next one is sent,
  // that money does not come back.
  open.reserved = undefined
  run.model = chooseModel(run, open)
  const prepared = open.needsPrepare ? prepareText(behaviour, thread.state, open) : undefined
  const prefix = getPromptPrefix(run)
  const composition = await fitToContext(run, open, prefix, prepared)
  const { requests } = run.engine.sources
  const reserved = requests.maxCostUsd(run, composition.bytes)
  const upto = thread.head + 1
  // Digest of the prompt prefix and the conversation, without the text that only this request adds (`prepared`).
  const digest = hash('sha256', prefix.digest + measureConversation(thread.conversation).digest)
  appendRecord(run, {
    kind: 'model_requested',
    turn: open.turn,
    model: run.model.id,
    from: 1,
    upto,
    compiler: COMPILER_VERSION,
    digest,
    ...(prepared === undefined ? {} : { prepared }),
    composition,
    ...(reserved === undefined ? {} : { reserved }),
  })
  await reserveMoney(run, open)
  if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted before the model was called')
  const request = { system: prefix.system, tools: prefix.tools, messages: thread.conversation.messages }
  const { model, signal } = run
  requests.onRequest({ ...request, model: model.id, sections: prefix.parts, digest })
  const onText = (text: string): void => {
    if (typeof text === 'string') sendDelta(run, { kind: 'text', text })
  }
  const answer = await callUnlessInterrupted(run, () =>
    requests.checkAnswer(model, () => model.call(request, { signal, onText })),
  )
  run.engine.breaker.recordOutcome({ model: run.model.id, code: null, at: run.engine.clock.now() })
  return answer
}

function prepareText(behaviour: Behaviour, state: Json, { observation }: OpenTurn): string {
  // The behaviour had a prepare() when the turn was opened, and has none now.
  if (!behaviour.prepare) return ''
  return askPlugin(preparedPort(behaviour.name), () => behaviour.prepare?.(copyState(state), observation))
}

/**
 * Cuts history until the request fits. Contract: throws `model_oversize` if the request is too long even without
 * history.
 */
async function fitToContext(
  run: Run,
  open: OpenTurn,
  prefix: PromptPrefix,
  prepared: string | undefined,
): Promise<PromptComposition> {
  const { context } = run.overrides.budget
  const composition = buildComposition(run, open, prefix, prepared)
  const tokens = totalTokens(composition)
  const otherTokens = tokens - measureConversation(run.thread.conversation).tokens
  const cut = await findFittingCut(run, open, context === null ? Number.POSITIVE_INFINITY : context - otherTokens)
  if (!cut) throw oversizeError(tokens, context)
  if (!isNewCut(run, cut)) return composition
  appendRecord(run, { kind: 'cut', turn: open.turn, cut })
  return buildComposition(run, open, prefix, prepared)
}

const totalTokens = ({ sections }: PromptComposition): number =>
  Object.values(sections).reduce((sum, of) => sum + of, 0)

function oversizeError(tokens: number, limit: number | null): TirelessError {
  return new TirelessError('model_oversize', {
    what: 'the request is too long: the task, the system prompt and the tools alone exceed the limit',
    got: `about ${tokens} tokens`,
    expected: `at most ${limit} (models.max_input)`,
    fix: 'shorten the task, offer fewer tools, or raise models.max_input',
  })
}

async function callUnlessInterrupted(run: Run, callModel: () => Promise<ModelAnswer>): Promise<ModelAnswer> {
  try {
    return await run.grace.race(callModel, () => {
      throw new TirelessError('aborted', 'the run was interrupted during the model call')
    })
  } catch (thrown) {
    if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted', { cause: thrown })
    const error = asTirelessError(thrown)
    const { code, retryAfterMs } = error
    run.engine.breaker.recordOutcome({ model: run.model.id, code, at: run.engine.clock.now(), retryAfterMs })
    throw error
  }
}

/** Adds the parsed calls to the answer before it is recorded, so that a resumed turn does not parse it again. */
function parseAnswer({ parser, behaviour }: Run, answer: ModelAnswer): ModelAnswer {
  const reader = parser ?? nativeTextReader(behaviour, answer)
  if (!reader || answer.finish === 'length') return answer
  const parsed = runParser(reader, answer.text)
  if (parsed.kind === 'fault') return { ...answer, calls: [], fault: parsed.reason }
  const { text, calls, notes } = parsed
  return { ...answer, calls, said: text, ...(notes === undefined ? {} : { notes }) }
}

type TextReader = Pick<Parser, 'name' | 'parse'>

/** For the text of a model that calls tools natively; undefined if it made such calls. */
function nativeTextReader({ name, readText }: Behaviour, { calls, said }: ModelAnswer): TextReader | undefined {
  return readText && calls.length === 0 && said === undefined ? { name, parse: readText } : undefined
}

/** What the owner does not want to be kept is removed before it is recorded; the decision stays. */
function withoutThought({ behaviour, thread }: Run, answer: ModelAnswer): ModelAnswer {
  const { keepsThought } = behaviour
  if (!keepsThought || askPlugin(keepsThoughtPort(behaviour.name), () => keepsThought(copyState(thread.state))))
    return answer
  const { notes: _, reasoning: __, ...kept } = answer
  const isDecision = kept.calls.length === 0 && kept.said === undefined && kept.fault === undefined
  return isDecision ? kept : { ...kept, text: kept.said ?? '' }
}

/**
 * Contract: never throws; an error of the parser becomes a fault. Throwing would discard an answer that is already paid
 * for.
 */
function runParser(parser: TextReader, text: string): ParsedAnswer {
  try {
    return askPlugin(parsedPort(parser.name), () => parser.parse(text))
  } catch (thrown) {
    const values = { parser: parser.name, error: asTirelessError(thrown).message }
    return { kind: 'fault', reason: loadPrompt('retries/invalid-answer.md#parser_failed', values) }
  }
}
