/**
 * What a person has allowed is decided already: the turn that hears of it runs exactly those calls, and no model is asked.
 * Must not know: how they came to be asked for. That is gate.ts.
 * Invariants: the arguments that were shown are the arguments that run (digest); an answer is good for one use (the journal has it).
 */

import { hash } from 'node:crypto'
import { type Approval, allowedBy, boundText, canonical } from '../domain/approval.ts'
import type { Call, Decision } from '../domain/decision.ts'
import { type Run, record } from './run.ts'
import type { OpenTurn } from './thread.ts'
import { checkArgs } from './toolbox.ts'

export const digestOf = (bound: Pick<Approval, 'session_id' | 'tool' | 'args'>): string =>
  hash('sha256', boundText(bound))

export async function approvedDecision(run: Run, open: OpenTurn): Promise<Decision | undefined> {
  if (open.answer || open.requested) return undefined
  const calls = run.engine.replaying ? run.engine.replaying.approved() : await approvedCalls(run, open)
  if (calls.length === 0) return undefined
  const decision: Decision = { kind: 'act', calls }
  record(run, { kind: 'decided', turn: open.turn, decision })
  return decision
}

async function approvedCalls(run: Run, { input }: OpenTurn): Promise<readonly Call[]> {
  const { engine, dispatch, thread } = run
  const calls: Call[] = []
  for (const id of new Set(input.flatMap((observation) => allowedBy(observation) ?? []))) {
    const approval = await engine.store.approval(id)
    // Anybody can say that something was allowed; only what was asked for here, answered, and not used yet, counts.
    if (approval?.session_id !== dispatch.session_id || approval.status === 'open' || thread.used.has(id)) continue
    calls.push(callOf(run, approval))
  }
  return calls
}

function callOf({ toolbox }: Run, approval: Approval): Call {
  const { id, tool, args } = approval
  const checked = checkArgs(toolbox, { id, tool }, args)
  const fault = checked.fault ?? changeIn(approval, checked)
  const call = { ...checked, args, approval: id }
  return fault === undefined ? call : { ...call, fault: `it was allowed, and is not run: ${fault}` }
}

function changeIn(approval: Approval, checked: Call): string | undefined {
  const { status, answer_reason } = approval
  if (status !== 'allowed') return `it is ${status} by now${answer_reason === null ? '' : `: ${answer_reason}`}`
  if (digestOf(approval) !== approval.digest) return 'it is not what was shown to whoever allowed it'
  if (canonical(checked.args) !== canonical(approval.args)) return 'the tool would take other arguments by now'
  return undefined
}
