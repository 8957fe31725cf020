import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentResult, type CycleResult, cycleStatusOf, tallyResults } from '../../domain/cycle.ts'
import { renderAgentLine, renderNotice } from './notice-text.ts'

const result = (overrides: Partial<AgentResult> = {}): AgentResult => ({
  agent_id: 'report',
  dispatch_id: 'd1',
  session_id: 's1',
  status: 'done',
  summary: '## 执行总结 ...',
  failure_class: null,
  attempts: 1,
  recovered_from: null,
  ...overrides,
})

const cycle = (agents: readonly AgentResult[], overrides: Partial<CycleResult> = {}): CycleResult => {
  const tally = tallyResults(agents)
  return {
    cycle_id: 'run-abc123',
    status: cycleStatusOf(tally),
    dispatched: agents.length,
    ...tally,
    idle_reason: null,
    error: null,
    duration_ms: 15_432,
    agents,
    ...overrides,
  }
}

describe('E12: the notice of a cycle', () => {
  test('E12: in Chinese, line by line as the seed shows it', () => {
    const finished = cycle([
      result({ agent_id: 'research', attempts: 2, recovered_from: 'no_real_action', summary: '## 执行总结\n...' }),
      result(),
    ])
    assert.equal(
      renderNotice('default', finished, 'zh'),
      `Kernel[default] 周期完成总结
- cycle_id: run-abc123
- 状态: success
- 任务总数: 2
- 已完成: 2
- 失败: 0
- 完成率: 100.0%
- 失败任务: (none)
- 主动性: actionable=2/2, auto_recovered=1, blocked_awaiting_input=0, blocked_no_action=0
- 执行总结:
  - [research|done] [autonomy=actionable, attempts=2, recovered_from=no_real_action] ## 执行总结 ...
  - [report|done] [autonomy=actionable] ## 执行总结 ...
- 耗时: 15.4s`,
    )
  })

  test('E12: in English, with failure classes, parked dispatches and the error of the cycle', () => {
    const agents = [
      result({ agent_id: 'a', status: 'failed', failure_class: 'awaiting_input', summary: 'it asked', attempts: 3 }),
      result({ agent_id: 'b', status: 'failed', failure_class: 'no_real_action', summary: 'it talked', attempts: 3 }),
      result({ agent_id: 'c', status: 'waiting', summary: 'wants to push' }),
      result({ agent_id: 'd', summary: 'done' }),
    ]
    assert.equal(
      renderNotice('k', cycle(agents, { error: 'the disk\nis full', status: 'error', duration_ms: 40 }), 'en'),
      `Kernel[k] cycle summary
- cycle_id: run-abc123
- status: error
- tasks: 4
- completed: 1
- failed: 2
- parked: 1
- completion rate: 25.0%
- failed tasks: a, b
- autonomy: actionable=1/4, auto_recovered=0, blocked_awaiting_input=1, blocked_no_action=1
- execution summary:
  - [a|failed] [awaiting_input] it asked
  - [b|failed] [no_real_action] it talked
  - [c|waiting] wants to push
  - [d|done] [autonomy=actionable] done
- error: the disk is full
- duration: 0.0s`,
    )
  })

  test('E12: counts come from fields, not from the text of a summary', () => {
    const misleading = result({
      status: 'failed',
      failure_class: 'timeout',
      summary: '[autonomy=actionable] blocked_no_action',
    })
    const text = renderNotice('k', cycle([misleading]), 'en')
    assert.match(text, /actionable=0\/1, auto_recovered=0, blocked_awaiting_input=0, blocked_no_action=0/)
  })

  test('E12: an agent’s line is one line of at most 220 characters', () => {
    const line = renderAgentLine(result({ summary: `一\n- 失败: 7\n${'字'.repeat(400)}` }))
    assert.equal([...line].length, 220)
    assert.ok(!line.includes('\n') && line.endsWith('...'))
  })

  test('E12: an idle cycle has its reason', () => {
    const text = renderNotice('k', cycle([], { idle_reason: 'nothing has changed' }), 'en')
    assert.match(
      text,
      /- completion rate: -\n.*\n.*actionable=0\/0.*\n- execution summary: \(none\)\n- idle: nothing has/,
    )
  })
})
