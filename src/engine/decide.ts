/**
 * DECIDE: what a person has allowed, the behaviour's own decision, or the model's. An answer in the journal is used as it stands (I4).
 * Must not know: retries. What fails is thrown; setback.ts rules what follows.
 */

import { hash } from 'node:crypto'
import type { Decision } from '../domain/decision.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { deepFreeze, type Json } from '../domain/json.ts'
import type { Answer, Composition } from '../domain/record.ts'
import type { Behaviour } from '../ports/behaviour.ts'
import type { Parsed, Parser } from '../ports/parser.ts'
import { COMPILER_VERSION } from '../prompt/conversation.ts'
import { approvedDecision } from './approved.ts'
import { askPlugin, callPlugin } from './ask-plugin.ts'
import { choose } from './branch.ts'
import { modelToAsk } from './chain.ts'
import { compositionOf } from './composition.ts'
import { weighConversation } from './conversation.ts'
import { decisionOf } from './decision-of.ts'
import { askModel, mostOf, reserve, settle } from './money.ts'
import { fittingCut, isNewCut } from './past.ts'
import { prefixOf } from './prefix.ts'
import { ownCopy } from './reduce.ts'
import { parsedPort, preparedPort } from './return-shapes.ts'
import { type Prefix, type Run, record, say } from './run.ts'
import type { OpenTurn } from './thread.ts'
import { checkCall } from './toolbox.ts'
import { Unusable } from './unusable.ts'
import { decisionOfWish } from './wish.ts'

export async function decide(run: Run, open: OpenTurn): Promise<Decision> {
  const decided =
    open.decided ?? (await approvedDecision(run, open)) ?? ownDecision(run, open) ?? (await modelDecision(run, open))
  const decision = deepFreeze(decided.kind === 'branch' ? choose(run, open, decided.candidates) : decided)
  if (decision.kind !== 'invalid') return decision
  // Judged usable once, and a hand has moved since: if the tools changed while the program was down, each call is judged by itself.
  if (open.intended.size > 0) return { kind: 'act', calls: decision.calls }
  throw new Unusable(decision)
}

function ownDecision(run: Run, open: OpenTurn): Decision | undefined {
  if (open.answer || open.requested) return undefined
  const { behaviour } = run
  const method = { who: `behaviour ${behaviour.name}`, method: 'decide' }
  const wish = callPlugin(method, () => behaviour.decide?.(ownCopy(run.thread.state), open.observation))
  if (wish === undefined || wish === null) return undefined
  const decision = decisionOfWish(wish, { ...method, toolbox: run.toolbox, turn: open.turn })
  record(run, { kind: 'decided', turn: open.turn, decision })
  return decision
}

async function modelDecision(run: Run, open: OpenTurn): Promise<Decision> {
  if (!open.answer) {
    const answer = readBy(run, await ask(run, open))
    const usd = settle(run, open, answer)
    record(run, { kind: 'model_answered', turn: open.turn, answer, ...(usd === undefined ? {} : { usd }) })
  }
  const answer = open.answer as Answer
  const decision = decisionOf(answer, run.toolbox, open.answeredAt)
  if (decision.kind !== 'invalid' || run.engine.replaying) return decision
  await meetTools(run, answer)
  return decisionOf(answer, run.toolbox, open.answeredAt)
}

/** Who knows the name of a server's tool need not have looked for it before. */
async function meetTools({ engine, toolbox, leaving }: Run, { calls }: Answer): Promise<void> {
  const strange = calls.filter((call) => checkCall(toolbox, call).fault !== undefined)
  const names = strange.flatMap(({ tool, args }) => `${tool} ${args}`.match(SERVED) ?? [])
  for (const name of new Set(names))
    await leaving.or(
      async () => engine.meet?.(name),
      () => {},
    )
}

/** `server__tool`, be it named in the arguments of a call that stands for it. */
const SERVED = /[\w-]+?__[\w-]+/g

async function ask(run: Run, open: OpenTurn): Promise<Answer> {
  const { thread, behaviour } = run
  run.model = modelToAsk(run, open)
  const prepared = open.unprepared ? preparedBy(behaviour, thread.state, open) : undefined
  const prefix = prefixOf(run)
  const composition = fitting(run, open, prefix, prepared)
  const reserved = mostOf(run, composition.bytes)
  const upto = thread.head + 1
  record(run, {
    kind: 'model_requested',
    turn: open.turn,
    model: run.model.id,
    from: 1,
    upto,
    compiler: COMPILER_VERSION,
    // Of what was said before; what this request itself adds stands in it.
    digest: hash('sha256', prefix.digest + weighConversation(thread.conversation).digest),
    ...(prepared === undefined ? {} : { prepared }),
    composition,
    ...(reserved === undefined ? {} : { reserved }),
  })
  await reserve(run, open)
  if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted; the model was not asked')
  const request = { system: prefix.system, tools: prefix.tools, messages: thread.conversation.messages }
  const { model, signal } = run
  const onText = (text: string): void => {
    if (typeof text === 'string') say(run, { kind: 'text', text })
  }
  const answer = await orInterrupted(run, () => askModel(run, () => model.call(request, { signal, onText })))
  run.engine.breaker.heard({ model: run.model.id, code: null, at: run.engine.clock.now() })
  return answer
}

function preparedBy(behaviour: Behaviour, state: Json, { observation }: OpenTurn): string {
  // The program has changed since its turn was opened.
  if (!behaviour.prepare) return ''
  return askPlugin(preparedPort(behaviour.name), () => behaviour.prepare?.(ownCopy(state), observation))
}

/** As much of the past as there is room for. Contract: throws `model_oversize` where even without it the request is too long. */
function fitting(run: Run, open: OpenTurn, prefix: Prefix, prepared: string | undefined): Composition {
  const { context } = run.wishes.budget
  const composition = compositionOf(run, open, prefix, prepared)
  const tokens = tokensOf(composition)
  const besides = tokens - weighConversation(run.thread.conversation).tokens
  const cut = fittingCut(run, open, context === null ? Number.POSITIVE_INFINITY : context - besides)
  if (!cut) throw oversize(tokens, context)
  if (!isNewCut(run, cut)) return composition
  record(run, { kind: 'cut', turn: open.turn, cut })
  return compositionOf(run, open, prefix, prepared)
}

const tokensOf = ({ sections }: Composition): number => Object.values(sections).reduce((sum, of) => sum + of, 0)

function oversize(tokens: number, most: number | null): TirelessError {
  return new TirelessError('model_oversize', {
    what: 'the request is too long: the task, the system prompt and the tools leave no room, and nothing else is left that could be cut',
    got: `about ${tokens} tokens`,
    expected: `at most ${most} (models.max_input)`,
    fix: 'shorten the task, offer fewer tools, or raise models.max_input',
  })
}

async function orInterrupted(run: Run, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run.leaving.or(ask, () => {
      throw new TirelessError('aborted', 'the run was interrupted while the model was asked')
    })
  } catch (thrown) {
    if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted', { cause: thrown })
    const error = asTirelessError(thrown)
    const { code, retryAfterMs } = error
    run.engine.breaker.heard({ model: run.model.id, code, at: run.engine.clock.now(), retryAfterMs })
    throw error
  }
}

/** What a text protocol makes of an answer is recorded with it, so that a resumed turn need not read it again. */
function readBy({ parser }: Run, answer: Answer): Answer {
  if (!parser || answer.finish === 'length') return answer
  const parsed = parsedBy(parser, answer.text)
  if (parsed.kind === 'fault') return { ...answer, calls: [], fault: parsed.reason }
  const { text, calls, notes } = parsed
  return { ...answer, calls, said: text, ...(notes === undefined ? {} : { notes }) }
}

/** One that breaks its contract must not cost the answer, which is paid for. */
function parsedBy(parser: Parser, text: string): Parsed {
  try {
    return askPlugin(parsedPort(parser.name), () => parser.parse(text))
  } catch (thrown) {
    return { kind: 'fault', reason: `the parser ${parser.name} failed: ${asTirelessError(thrown).message}` }
  }
}
