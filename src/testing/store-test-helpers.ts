/** Helpers for the store conformance cases. */

import assert from 'node:assert/strict'
import type { Approval } from '../domain/approval.ts'
import type { NewDispatch } from '../domain/dispatch.ts'
import type { JournalRecord, RecordBody, RunSetup } from '../domain/journal-record.ts'
import type { Observation } from '../domain/observation.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Fence, type Op, type Store } from '../ports/store.ts'

export interface ConformanceCase {
  readonly name: string
  run(store: Store): Promise<void>
}

export const TEST_NOW = 1_000_000
export const TEST_LEASE_MS = 30_000

export const newTestDispatch = (id: string, more: Partial<NewDispatch> = {}): NewDispatch => ({
  dispatch_id: id,
  kernel_id: 'kernel',
  agent_id: 'agent',
  session_id: `session-${id}`,
  prompt: `task ${id}`,
  priority: 0,
  metadata: {},
  source: 'test',
  workspace: `/nowhere/${id}`,
  ...more,
})

/** An open approval of session-one. */
export const newTestApproval = (id: string): Approval => ({
  id,
  session_id: 'session-one',
  tool: 'pay',
  args: { amount: 1 },
  effect: { recovery: 'once', reach: 'third_party' },
  sinks: [{ to: 'x@example.org', from: 'fetch (turn 1)', trusted: false }],
  digest: 'd',
  reason: 'money',
  origin: { run_id: 'one', step: 1 },
  asked_at: new Date(TEST_NOW).toISOString(),
  expires_at: new Date(TEST_NOW + 1000).toISOString(),
  status: 'open',
  answered_at: null,
  answer_reason: null,
})

const SETUP: RunSetup = {
  ...{ model: null, parser: 'native', memory: 'whole', critics: [], tools: [], state_version: 0 },
  budget: { steps: null, ms: null, tokens: null, usd: null, context: null },
}

export const newTestRecord = (seq: number, body: Partial<RecordBody> = {}): JournalRecord =>
  ({
    ...{ kind: 'run_started', run_id: 'run', agent_id: 'agent', behaviour: 'solo', task: 'task', setup: SETUP },
    ...{ ...body, seq, ts: TEST_NOW },
  }) as JournalRecord

export const newTestMessage = (id: string, text = 'hello'): Observation => ({
  id,
  type: 'user_message',
  text,
  ts: TEST_NOW,
})

export const WAIT_FOR_MESSAGE: Extract<Wait, { kind: 'observation' }> = {
  kind: 'observation',
  match: 'user_message',
  until: TEST_NOW + 5000,
  reason: 'a reply',
}

export const settleOp = (status: 'done' | 'failed', successor_id = 'successor'): Extract<Op, { op: 'settle' }> => ({
  op: 'settle',
  status,
  result: status === 'done' ? 'answer' : null,
  error: status === 'failed' ? 'broken' : null,
  failure_class: status === 'failed' ? 'infra' : null,
  successor_id,
  now: TEST_NOW,
})

export async function joinTestWorker(
  store: Store,
  alone = true,
  leaseUntil = TEST_NOW + TEST_LEASE_MS,
): Promise<number> {
  const [{ epoch }] = await commitOne(store, [
    { op: 'join', name: 'worker', now: TEST_NOW, lease_until: leaseUntil, alone },
  ])
  return epoch
}

export async function enqueueInStore(store: Store, ...dispatches: NewDispatch[]): Promise<void> {
  await commitOne(store, [{ op: 'enqueue', dispatches, now: TEST_NOW }])
}

export async function claimInStore(store: Store, epoch: number, limit = 1): Promise<Fence[]> {
  const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit, now: TEST_NOW }])
  return claimed.map(({ dispatch_id, token }) => ({ dispatch_id, token }))
}

/** Enqueues and claims one dispatch. */
export async function startDispatch(store: Store, id = 'one'): Promise<{ epoch: number; fence: Fence }> {
  const epoch = await joinTestWorker(store)
  await enqueueInStore(store, newTestDispatch(id))
  const [fence] = await claimInStore(store, epoch)
  assert.ok(fence)
  return { epoch, fence }
}

export const readStatus = async (store: Store, id: string): Promise<string | undefined> =>
  (await store.dispatch(id))?.status

export async function assertRefusedWith(code: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: Error & { code?: string }) => error.code === code)
}
