/** Stop reasons of a run, and the dispatch status that follows from each. */

export const STOP_REASONS = [
  'success',
  'final',
  'budget_steps',
  'budget_time',
  'budget_tokens',
  'budget_money',
  'agent_condition',
  'critic_stop',
  'stagnation',
  'env_terminal',
  'stop_rule',
  'task_validation_failed',
  'env_capability_mismatch',
  'unrecoverable_error',
  'cancelled',
  'context_overflow',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

export const FAILURE_CLASSES = [
  'timeout',
  'cancelled',
  'awaiting_input',
  'no_real_action',
  'invalid_result',
  'budget',
  'policy',
  'provider',
  'infra',
] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

type DispatchEnd =
  | { readonly status: 'done' }
  | { readonly status: 'cancelled' }
  | { readonly status: 'failed'; readonly failure_class: FailureClass }

const ENDINGS: Readonly<Record<StopReason, DispatchEnd>> = {
  success: { status: 'done' },
  final: { status: 'done' },
  agent_condition: { status: 'done' },
  env_terminal: { status: 'done' },
  stop_rule: { status: 'done' },
  budget_steps: { status: 'failed', failure_class: 'budget' },
  budget_time: { status: 'failed', failure_class: 'timeout' },
  budget_tokens: { status: 'failed', failure_class: 'budget' },
  budget_money: { status: 'failed', failure_class: 'budget' },
  critic_stop: { status: 'failed', failure_class: 'invalid_result' },
  stagnation: { status: 'failed', failure_class: 'invalid_result' },
  task_validation_failed: { status: 'failed', failure_class: 'invalid_result' },
  env_capability_mismatch: { status: 'failed', failure_class: 'infra' },
  unrecoverable_error: { status: 'failed', failure_class: 'infra' },
  context_overflow: { status: 'failed', failure_class: 'provider' },
  cancelled: { status: 'cancelled' },
}

/** An env or a stop rule says itself whether the run that it ends has failed. */
const MAY_FAIL: ReadonlySet<StopReason> = new Set(['env_terminal', 'stop_rule'])

/** `failureClass` overrides the usual class of a failure, e.g. `provider` for an unrecoverable_error. */
export function dispatchEndOf(reason: StopReason, failureClass?: FailureClass): DispatchEnd {
  const ending = ENDINGS[reason]
  const canFail = ending.status === 'failed' || MAY_FAIL.has(reason)
  return canFail && failureClass ? { status: 'failed', failure_class: failureClass } : ending
}
