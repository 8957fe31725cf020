/**
 * DECIDE: the behaviour's own decision, or the model's. An answer in the journal is used as it stands (I4).
 * Must not know: retries. A failed call is recorded and thrown; setback.ts rules what follows.
 */

import { createHash } from 'node:crypto'
import type { Decision } from '../domain/decision.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Answer } from '../domain/record.ts'
import type { ModelRequest } from '../ports/model.ts'
import { COMPILER_VERSION } from '../prompt/conversation.ts'
import { decisionOf } from './decision-of.ts'
import { flush, type Run, record, stateOf } from './run.ts'
import type { OpenTurn } from './thread.ts'

export async function decide(run: Run, open: OpenTurn, signal: AbortSignal): Promise<Decision> {
  if (open.decided) return open.decided
  if (!open.answer) {
    const own = run.behaviour.decide?.(stateOf(run), open.input)
    if (own) {
      record(run, { kind: 'decided', turn: open.turn, decision: own })
      return own
    }
    record(run, { kind: 'model_answered', turn: open.turn, answer: await ask(run, open, signal) })
  }
  const decision = decisionOf(open.answer as Answer, run.toolbox, open.answeredAt)
  // Judged usable once, and a hand has moved since: if the tools changed while the program was down, each call is judged by itself.
  return decision.kind === 'invalid' && open.intended.size > 0 ? { kind: 'act', calls: decision.calls } : decision
}

async function ask(run: Run, open: OpenTurn, signal: AbortSignal): Promise<Answer> {
  const request: ModelRequest = { ...run.prefix, messages: run.thread.messages }
  record(run, {
    kind: 'model_requested',
    turn: open.turn,
    model: run.model.id,
    from: 1,
    upto: run.thread.head + 1,
    compiler: COMPILER_VERSION,
    digest: createHash('sha256').update(run.prefix.digest).update(run.thread.digest).digest('hex'),
  })
  await flush(run, [])
  if (signal.aborted) throw new TirelessError('aborted', 'the runtime was stopping; the model was not asked')
  const { dispatch_id: run_id, session_id } = run.dispatch
  try {
    return await run.model.call(request, {
      signal,
      onText: (text) => run.engine.sink.delta({ run_id, session_id, text }),
    })
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code !== 'aborted')
      record(run, { kind: 'model_failed', turn: open.turn, code: error.code, message: error.message })
    throw error
  }
}
