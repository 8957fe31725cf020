import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentResult, type Cycle, cycleStatusOf, errorCycleResult, tallyResults } from '../../domain/cycle.ts'
import { renderDigest } from './digest.ts'

const HOUR = 3_600_000
const FROM = Date.UTC(2026, 0, 1, 1)
const PERIOD = { from: FROM, to: FROM + 24 * HOUR, timezone: 'Asia/Shanghai' }

const cycle = (ended: number, agents: readonly Pick<AgentResult, 'agent_id' | 'status'>[], error?: string): Cycle => {
  const results = agents.map((agent) => ({
    ...{ ...agent, dispatch_id: 'd', session_id: 's', summary: '', failure_class: null, attempts: 1 },
    recovered_from: null,
  }))
  const tally = tallyResults(results)
  const result = {
    ...{ ...errorCycleResult('c', '', 0), error: null, ...tally, agents: results, dispatched: results.length },
    status: cycleStatusOf(tally),
  }
  return {
    ...{ cycle_id: 'c', kernel_id: 'k', trigger: 't', due: null, open: [] },
    ...{ started_at: new Date(ended - 1).toISOString(), ended_at: new Date(ended).toISOString() },
    result: error === undefined ? result : errorCycleResult('c', error, 0),
  }
}

const CYCLES = [
  cycle(FROM, [{ agent_id: 'before', status: 'failed' }]),
  cycle(FROM + 1, []),
  cycle(FROM + HOUR, [
    { agent_id: 'a', status: 'done' },
    { agent_id: 'b', status: 'failed' },
  ]),
  cycle(FROM + 2 * HOUR, [{ agent_id: 'b', status: 'dead' }]),
  cycle(FROM + 3 * HOUR, [{ agent_id: 'c', status: 'failed' }]),
  cycle(FROM + 4 * HOUR, [], 'plan: broken'),
  cycle(FROM + 24 * HOUR, []),
  cycle(FROM + 25 * HOUR, [{ agent_id: 'after', status: 'failed' }]),
]

test('E12: a digest counts the cycles of its period, in the kernel’s language and the owner’s zone', () => {
  assert.equal(
    renderDigest('default', CYCLES, PERIOD, 'en'),
    `Kernel[default] digest (2026-01-01 09:00 – 2026-01-02 09:00)
- cycles: 6
- idle cycles: 2
- cycles with an error: 1
- tasks: 4
- completed: 1
- failed: 3
- failed tasks: b ×2, c ×1`,
  )
  assert.match(
    renderDigest('default', CYCLES, PERIOD, 'zh') ?? '',
    /^Kernel\[default\] 汇总.*\n- 周期数: 6\n- 空闲周期: 2\n/,
  )
})

test('E12: there is no digest without a finished cycle', () => {
  const running = { ...cycle(FROM + 1, []), ended_at: null, result: null }
  assert.equal(renderDigest('default', [running], PERIOD, 'en'), undefined)
})
