/**
 * Runs the calls that a person allowed. The turn that receives the approval runs exactly those calls, without a model.
 * Must not know: why approval was requested, see gate.ts.
 * Invariants: the arguments shown to the person are the arguments that run (digest); an approval is valid once (the
 * journal records its use).
 */

import { hash } from 'node:crypto'
import { type Approval, allowedApprovalId, approvalDigestInput, canonicalJson } from '../../domain/approval.ts'
import type { Call, Decision } from '../../domain/decision.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { checkCallArgs } from '../request/toolbox.ts'
import { appendRecord, type Run } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'

export const approvalDigest = (bound: Pick<Approval, 'session_id' | 'tool' | 'args'>): string =>
  hash('sha256', approvalDigestInput(bound))

export async function decideApprovedCalls(run: Run, open: OpenTurn): Promise<Decision | undefined> {
  if (open.answer || open.isRequested) return undefined
  const calls = await run.engine.sources.calls.findApprovedCalls(run, open)
  if (calls.length === 0) return undefined
  const decision: Decision = { kind: 'act', calls }
  appendRecord(run, { kind: 'decided', turn: open.turn, decision })
  return decision
}

export async function findApprovedCalls(run: Run, { input }: OpenTurn): Promise<readonly Call[]> {
  const { engine, dispatch, thread } = run
  const calls: Call[] = []
  for (const id of new Set(input.flatMap((observation) => allowedApprovalId(observation) ?? []))) {
    const approval = await engine.store.approval(id)
    // An observation alone proves nothing: the stored approval must belong to this session, be answered, and be unused.
    if (approval?.session_id !== dispatch.session_id || approval.status === 'open' || thread.usedApprovals.has(id))
      continue
    calls.push(callFromApproval(run, approval))
  }
  return calls
}

function callFromApproval({ toolbox }: Run, approval: Approval): Call {
  const { id, tool, args } = approval
  const checked = checkCallArgs(toolbox, { id, tool }, args)
  const fault = checked.fault ?? findMismatch(approval, checked)
  const call = { ...checked, args, approval: id }
  return fault === undefined
    ? call
    : { ...call, fault: loadPrompt('results/held-call.md#allowed_not_run', { reason: fault }) }
}

function findMismatch(approval: Approval, checked: Call): string | undefined {
  const { status, answer_reason } = approval
  if (status !== 'allowed')
    return loadPrompt('results/held-call.md#approval_changed', {
      status,
      why: answer_reason === null ? '' : `: ${answer_reason}`,
    })
  if (approvalDigest(approval) !== approval.digest) return loadPrompt('results/held-call.md#call_changed')
  if (canonicalJson(checked.args) !== canonicalJson(approval.args))
    return loadPrompt('results/held-call.md#arguments_changed')
  return undefined
}
