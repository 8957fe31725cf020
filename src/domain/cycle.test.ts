import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentResult, annotateSummary, cycleStatusOf, isSameOutcome, sortResults, tallyResults } from './cycle.ts'

const result = (over: Partial<AgentResult> = {}): AgentResult => ({
  agent_id: 'report',
  dispatch_id: 'd1',
  session_id: 's1',
  status: 'done',
  summary: 'wrote it',
  failure_class: null,
  attempts: 1,
  recovered_from: null,
  ...over,
})

describe('E9: the result of a cycle', () => {
  for (const [counts, error, status] of [
    [[0, 0, 0], null, 'success'],
    [[2, 0, 0], null, 'success'],
    [[1, 1, 0], null, 'partial_success'],
    [[0, 2, 0], null, 'failed'],
    [[1, 0, 1], null, 'partial_success'],
    [[0, 0, 1], null, 'partial_success'],
    [[0, 1, 1], null, 'partial_success'],
    [[2, 0, 0], 'the queue refused', 'error'],
  ] as const)
    test(`E9: ${counts.join('/')} succeeded/failed/parked${error ? ' and an error' : ''} is ${status}`, () => {
      const [succeeded, failed, parked] = counts
      assert.equal(cycleStatusOf({ succeeded, failed, parked }, error), status)
    })

  test('E9: dispatches in flight are not counted; any end but done is a failure; failed agents are listed once', () => {
    const statuses = ['done', 'failed', 'dead', 'cancelled', 'waiting', 'running', 'pending'] as const
    const agents = statuses.map((status) => result({ agent_id: status === 'dead' ? 'failed' : status, status }))
    assert.deepEqual(tallyResults(agents), {
      succeeded: 1,
      failed: 3,
      parked: 1,
      failed_agents: ['cancelled', 'failed'],
    })
  })

  test('E9: results are sorted by agent, then status, then dispatch; the given list is not changed', () => {
    const agents = [
      result({ agent_id: 'b' }),
      result({ agent_id: 'a', status: 'failed', dispatch_id: 'd9' }),
      result({ agent_id: 'a', status: 'failed', dispatch_id: 'd2' }),
      result({ agent_id: 'a', status: 'done', dispatch_id: 'd5' }),
    ]
    const order = sortResults(agents).map(({ agent_id, status, dispatch_id }) => `${agent_id} ${status} ${dispatch_id}`)
    assert.deepEqual(order, ['a done d5', 'a failed d2', 'a failed d9', 'b done d1'])
    assert.equal(agents[0]?.agent_id, 'b')
  })

  test('E9: the prefix of a summary shows attempts and recovery, or the failure class', () => {
    assert.equal(annotateSummary(result()), '[autonomy=actionable] wrote it')
    assert.equal(
      annotateSummary(result({ attempts: 2, recovered_from: 'no_real_action' })),
      '[autonomy=actionable, attempts=2, recovered_from=no_real_action] wrote it',
    )
    assert.equal(
      annotateSummary(result({ status: 'failed', failure_class: 'timeout', summary: 'its time was up' })),
      '[timeout] its time was up',
    )
    assert.equal(annotateSummary(result({ status: 'waiting', summary: 'asked to push' })), 'asked to push')
  })

  test('case 135: equal outcomes are recognised in any run and with any spacing', () => {
    const first = result({ summary: 'nothing\n new' })
    assert.ok(isSameOutcome(first, result({ dispatch_id: 'd2', session_id: 's2', summary: 'nothing new ' })))
    assert.ok(!isSameOutcome(first, result({ summary: 'something new' })))
    assert.ok(!isSameOutcome(first, result({ summary: 'nothing new', status: 'failed', failure_class: 'infra' })))
    assert.ok(!isSameOutcome(first, result({ summary: 'nothing new', agent_id: 'other' })))
  })
})
