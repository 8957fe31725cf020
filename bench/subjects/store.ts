/** The commits of a step on the same store without the engine: the limit of the engine's speed. */

import { join } from 'node:path'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { JournalRecord, RecordBody } from '../../src/domain/journal-record.ts'
import { commitOne, type Fence, type Store } from '../../src/ports/store.ts'
import { serve } from '../meter.ts'
import { argsOf, resultOf, TASK, TOOL } from './loop.ts'

const EPOCH_MS = 3_600_000
const DIGEST = 'a'.repeat(64)
const EFFECT = { recovery: 'idempotent', reach: 'none' } as const
const USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

/** The bodies of a step's records, one list per commit. */
function commitsOf(turn: number, head: number): readonly (readonly RecordBody[])[] {
  const args = argsOf(turn)
  const call = { id: `call-${turn}`, tool: TOOL, args }
  const modelCall = { ...call, args: JSON.stringify(args) }
  const reference = { model: 'bench/instant', from: 1, upto: head + 2, compiler: 1, digest: DIGEST }
  return [
    [
      { kind: 'input_bound', turn, input: [] },
      { kind: 'model_requested', turn, ...reference },
    ],
    [
      { kind: 'model_answered', turn, answer: { text: '', calls: [modelCall], finish: 'calls', usage: USAGE } },
      { kind: 'call_intended', turn, index: 0, attempt: 1, call, effect: EFFECT },
    ],
    [
      {
        kind: 'call_settled',
        turn,
        index: 0,
        call_id: call.id,
        result: { status: 'ok', content: resultOf(args.text) },
      },
      { kind: 'step_committed', turn, next: { kind: 'continue' }, ms: 0 },
    ],
  ]
}

async function runSession(store: Store, session_id: string, fence: Fence, steps: number, step: () => void) {
  let head = 0
  for (let turn = 1; turn <= steps; turn++) {
    step()
    for (const bodies of commitsOf(turn, head)) {
      const records = bodies.map((body): JournalRecord => ({ ...body, seq: ++head, ts: Date.now() }))
      await commitOne(store, [{ op: 'append', session_id, records }], fence)
    }
  }
  step()
}

async function claimSessions(store: Store, sessions: number) {
  const now = Date.now()
  const dispatches = Array.from({ length: sessions }, (_, i) => ({
    dispatch_id: `dispatch-${i}`,
    kernel_id: 'bench',
    agent_id: 'default',
    session_id: `session-${i}`,
    prompt: TASK,
    priority: 0,
    metadata: {},
    source: 'bench',
    workspace: `none-${i}`,
  }))
  const [{ epoch }] = await commitOne(store, [
    { op: 'join', name: 'bench', now, lease_until: now + EPOCH_MS, alone: true },
    { op: 'enqueue', dispatches, now },
  ])
  const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: sessions, now }])
  return claimed
}

await serve(async ({ folder, sessions, steps, step, measure }) => {
  const store = await openSqliteStore({ file: join(folder, 'store.db'), clock: systemClock })
  try {
    const claimed = await claimSessions(store, sessions)
    await measure(() =>
      Promise.all(claimed.map((run) => runSession(store, run.session_id, run, steps, () => step(store.commits())))),
    )
  } finally {
    await store.close()
  }
})
