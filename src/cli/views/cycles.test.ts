/** The counts of a cycle add up: what is of earlier cycles is said. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderCycle } from './cycles.ts'
import { renderCycles } from './lists.ts'

const agent = (agent_id: string) => ({
  ...{
    agent_id,
    dispatch_id: `d-${agent_id}`,
    session_id: 's',
    status: 'done' as const,
    summary: `${agent_id} is well`,
  },
  ...{ failure_class: null, attempts: 1, recovered_from: null },
})

const CYCLE = {
  ...{ cycle_id: 'c1', status: 'success' as const, dispatched: 1, succeeded: 3, failed: 0, parked: 0 },
  ...{ failed_agents: [], idle_reason: null, error: null, duration_ms: 5 },
  agents: [agent('a'), agent('b'), agent('c')],
}

test('a cycle in which work of earlier cycles ended says how much of it', () => {
  assert.match(renderCycle(CYCLE), /: 3 done, 0 failed, 0 waiting, in 0\.0 s; 2 of them dispatched by earlier cycles\n/)
  assert.doesNotMatch(renderCycle({ ...CYCLE, dispatched: 3 }), /earlier/)
  const times = { trigger: 'manual', due: null, started_at: '2026-01-01T00:00:00.000Z', ended_at: null }
  const listed = renderCycles({ items: [{ cycle_id: 'c1', ...times, result: CYCLE }] })
  assert.match(listed, /dispatched +earlier +succeeded .*\n.* 1 +2 +3 /)
})
