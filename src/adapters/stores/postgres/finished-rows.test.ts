import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import { commitOne, type Op, type Store } from '../../../ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestApproval,
  newTestDispatch,
  newTestMessage,
  newTestRecord,
  settleOp,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from '../../../testing/store-test-helpers.ts'
import { systemClock } from '../../system/clock.ts'
import { openPostgresStore } from './store.ts'

const FINISHED = 30_000

const CYCLE = JSON.stringify({
  ...{ cycle_id: 'c', status: 'success', dispatched: 0, succeeded: 0, failed: 0, parked: 0, failed_agents: [] },
  ...{ idle_reason: null, error: null, duration_ms: 1, agents: [] },
})

/** A history: finished sessions with a run, an entry, a read message, an outcome and an approval each, and cycles. */
const HISTORY = `
  INSERT INTO sessions (session_id, kernel_id, agent_id, workspace, metadata, created_at, head, last)
    SELECT 'old' || i, 'kernel', 'agent', '/old/' || i, '{}', i, 1, i FROM generate_series(1, ${FINISHED}) i;
  INSERT INTO journal (n, session, seq, body) SELECT n, n, 1, '[]' FROM sessions;
  INSERT INTO dispatches (dispatch_id, kernel_id, agent_id, session, prompt, priority, status, metadata, source,
    cycle_id, created_at, updated_at)
    SELECT 'old' || n, 'kernel', 'agent', n, 'p', 0, 'done', '{}', 'test', 'c' || n, n, n FROM sessions;
  INSERT INTO inbox (session, id, body, read_at) SELECT n, 'm', '{}', 1 FROM sessions;
  INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status, resolution)
    SELECT 'u' || n, n, 'old' || n, 't', '{}', 'none', '', '', 'resolved', 'happened' FROM sessions;
  INSERT INTO approvals (id, session, tool, args, effect, sinks, digest, reason, origin, asked_at, expires_at, status)
    SELECT 'a' || n, n, 't', '{}', '{"recovery":"once","reach":"none"}', '[]', '', '',
      '{"run_id":"r","step":1}', 1, 1, 'denied' FROM sessions;
  INSERT INTO cycles (cycle_id, kernel_id, trigger, started_at, ended_at, result, open)
    SELECT 'c' || n, 'kernel', 't', n, n, '${CYCLE}', '[]' FROM sessions;
  INSERT INTO workers (name, joined_at, lease_until, left_at) SELECT 'w', 1, 1, 1 FROM sessions LIMIT 1000;
  SELECT setval('journal_n_seq', ${FINISHED});
  ANALYZE;`

/** Rows that were read in tables and indexes, by table. */
const ROWS_READ = `SELECT t.relname AS name,
    (t.seq_tup_read + coalesce(t.idx_tup_fetch, 0) + coalesce(sum(i.idx_tup_read), 0))::int AS rows
  FROM pg_stat_user_tables t LEFT JOIN pg_stat_user_indexes i ON i.relid = t.relid
  GROUP BY t.relname, t.seq_tup_read, t.idx_tup_fetch`

async function workOneDay(store: Store): Promise<void> {
  const epoch = await joinTestWorker(store)
  await enqueueInStore(store, newTestDispatch('one', { key: 'k' }), newTestDispatch('two'))
  const [fence] = await claimInStore(store, epoch)
  assert.ok(fence)
  const now = TEST_NOW
  const caps = [{ name: 'day', scope: 'month', unit: 'usd', limit: 10 }] as const
  const spender = { kernel_id: 'k', agent_id: 'a', dispatch_id: 'one', model: 'p/m', day: '2030-01-31' }
  const steps: readonly (readonly Op[])[] = [
    [
      { op: 'append', session_id: 'session-one', records: [newTestRecord(1)] },
      { op: 'reserve', id: 'r', usd: 1, caps, ...spender },
    ],
    [{ op: 'ask', approval: newTestApproval('new') }],
    [{ op: 'park', wait: WAIT_FOR_MESSAGE, now }],
  ]
  for (const ops of steps) assert.ok((await store.commit([{ fence, ops }])).every(({ ok }) => ok))
  const observation = newTestMessage('m')
  await commitOne(store, [{ op: 'publish', session_id: 'session-one', observation, successor_id: 's', now }])
  await commitOne(store, [{ op: 'promote', now: now + 10_000 }])
  const [again] = await claimInStore(store, epoch)
  await commitOne(store, [{ op: 'acknowledge', session_id: 'session-one', observation_ids: ['m'], now }], again)
  await commitOne(store, [settleOp('done')], again)
  await commitOne(store, [
    { op: 'cycle_begin', cycle_id: 'new', kernel_id: 'kernel', trigger: 't', due: null, now },
    { op: 'cancel', dispatch_id: 'two', how: 'immediate', now },
    { op: 'recover', now: now + 1 },
    { op: 'prune', before: 1, limit: 10 },
    { op: 'leave', epoch, now },
  ])
}

async function readOneDay(store: Store): Promise<void> {
  await Promise.all([
    store.dispatch('one'),
    store.counts(),
    store.recent('kernel', 'agent', 12),
    store.dispatchesOf('c7'),
  ])
  await Promise.all([store.childrenOf('one'), store.cycles('kernel', { limit: 5 }), store.session('session-one')])
  await Promise.all([store.journal('session-one'), store.inbox('session-one'), store.prunable(1)])
  await Promise.all([store.unknowns({ status: 'open' }), store.unknowns({ session_id: 'old7' })])
  await Promise.all([store.approvals({ status: 'open', limit: 9 }), store.approvals({ session_id: 'old7', limit: 9 })])
  await Promise.all([store.dispatchesIn('old7', { offset: 0, limit: 9 }), store.sessions({ limit: 9 })])
  await Promise.all([store.countCycles('kernel', TEST_NOW), store.workers(1), store.nextTimer(), store.todos('old7')])
  await Promise.all([store.dispatches({ limit: 9 }), store.sessionsIn(['/old/7'], { limit: 9 })])
}

describe('finished rows', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off', autovacuum: 'off' })

  test('E15: what was finished is not read by a day of work', async (t) => {
    const url = await server.newDatabase()
    const open = () => openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases: 'given' })
    await (await open()).close()
    const connect = async () => {
      const client = new pg.Client(Object.assign(new URL(server.adminUrl), { pathname: new URL(url).pathname }).href)
      await client.connect()
      return client
    }
    const maker = await connect()
    await maker.query(HISTORY)
    await maker.end()
    const admin = await connect()
    t.after(() => admin.end())
    await admin.query('SELECT pg_stat_reset()')
    const store = await open()
    await workOneDay(store)
    await readOneDay(store)
    // A connection reports its numbers at the latest when it ends.
    await store.close()
    const isClosed = "SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'tireless'"
    while ((await admin.query(isClosed)).rows[0].open > 0) await systemClock.sleep(10)
    const { rows } = await admin.query(ROWS_READ)
    assert.ok(
      rows.some((row) => row.name === 'dispatches' && row.rows > 0),
      'the numbers are there',
    )
    const many = rows.filter((row) => row.rows >= FINISHED / 10).map((row) => `${row.name}: ${row.rows}`)
    assert.deepEqual(many, [])
  })
})
