/** Builds journals by hand for tests that read them; records are one second apart. */

import type { Call, CallResult } from '../../src/domain/decision.ts'
import type {
  JournalRecord,
  ModelAnswer,
  RecordBody,
  RequestedCall,
  RunSetup,
} from '../../src/domain/journal-record.ts'
import type { Budget } from '../../src/domain/task.ts'

const START_MS = 1_767_225_600_000

export const RUN = { run_id: 'run-1', session_id: 'session-1' } as const

export const NO_BUDGET: Budget = { steps: null, ms: null, tokens: null, usd: null, context: null }

export const SETUP: RunSetup = {
  model: 'scripted/model',
  parser: 'native',
  memory: 'whole',
  critics: [],
  tools: ['poke', 'finish'],
  state_version: 1,
  budget: NO_BUDGET,
}

export function buildJournal(...bodies: readonly RecordBody[]): readonly JournalRecord[] {
  return bodies.map((body, i) => ({ ...body, seq: i + 1, ts: START_MS + i * 1000 }))
}

export const runStarted = (
  task = 'the task',
  setup: Partial<RunSetup> = {},
  run_id: string = RUN.run_id,
): RecordBody & { kind: 'run_started' } => ({
  kind: 'run_started',
  run_id,
  agent_id: 'default',
  behaviour: 'solo',
  task,
  setup: { ...SETUP, ...setup },
})

export const inputBound = (turn: number, text?: string): RecordBody => ({
  kind: 'input_bound',
  turn,
  input: text === undefined ? [] : [{ id: `o${turn}`, type: 'user_message', text, ts: START_MS }],
})

export const modelRequested = (turn: number): RecordBody => ({
  kind: 'model_requested',
  turn,
  model: 'scripted/model',
  from: 1,
  upto: 2,
  compiler: 1,
  digest: 'abc',
})

export const requestedCall = (tool: string, args: unknown = {}): RequestedCall => ({
  id: `call_${tool}`,
  tool,
  args: JSON.stringify(args),
})

export const modelAnswered = (turn: number, answer: Partial<ModelAnswer>): RecordBody => ({
  kind: 'model_answered',
  turn,
  answer: {
    text: '',
    calls: [],
    finish: 'stop',
    usage: { input_tokens: 10, output_tokens: 5, cached_tokens: 1 },
    ...answer,
  },
})

export const makeCall = (tool: string, args: Call['args'] = {}): Call => ({
  id: `call_${tool}`,
  tool,
  args,
  effect: { recovery: 'once', reach: 'workspace' },
})

export const callIntended = (turn: number, index: number, tool = 'poke', args: Call['args'] = {}): RecordBody => {
  const { effect, ...call } = makeCall(tool, args)
  return { kind: 'call_intended', turn, index, attempt: 1, call, effect }
}

export const callSettled = (turn: number, index: number, result: Partial<CallResult> = {}): RecordBody => ({
  kind: 'call_settled',
  turn,
  index,
  call_id: 'call_poke',
  result: { status: 'ok', content: 'poked', ...result },
})

export const stepCommitted = (
  turn: number,
  more: Partial<Extract<RecordBody, { kind: 'step_committed' }>> = {},
): RecordBody => ({ kind: 'step_committed', turn, next: { kind: 'continue' }, ms: 7, ...more })

export const runEnded = (
  more: Partial<Extract<RecordBody, { kind: 'run_ended' }>> = {},
): RecordBody & { kind: 'run_ended' } => ({ kind: 'run_ended', run_id: RUN.run_id, stop_reason: 'final', ...more })

/** A turn in which the model calls one tool, which succeeds. */
export const actingTurn = (turn: number, tool = 'poke', args: Call['args'] = {}, content = 'poked'): RecordBody[] => [
  inputBound(turn),
  modelRequested(turn),
  modelAnswered(turn, { text: 'I poke.', calls: [requestedCall(tool, args)], finish: 'calls' }),
  callIntended(turn, 0, tool, args),
  callSettled(turn, 0, { content }),
  stepCommitted(turn),
]

/** The last turn: the model answers and the run ends. */
export const finalTurn = (turn: number, answer = 'all done'): RecordBody[] => [
  inputBound(turn),
  modelRequested(turn),
  modelAnswered(turn, { text: answer }),
  stepCommitted(turn, { next: { kind: 'end', stop_reason: 'final', answer } }),
  runEnded({ answer }),
]
