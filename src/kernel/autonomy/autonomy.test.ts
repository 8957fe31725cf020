import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallStatus, Decision } from '../../domain/decision.ts'
import type { CompletedStep } from '../../ports/behaviour.ts'
import { asksPerson } from './asks-person.ts'
import { type Autonomy, autonomyFailure, autonomyRules, DEFAULT_ATTEMPT_LIMITS, isRealAction } from './autonomy.ts'
import { extractSummary, isUsableResult } from './run-summary.ts'

const rules = autonomyRules(DEFAULT_ATTEMPT_LIMITS)
const critic = rules.critics?.[0]
const initial = rules.initState('do it')
const EFFECT = { recovery: 'pure', reach: 'none' } as const

const final = (answer: string): Decision => ({ kind: 'final', answer })
const waits = (match: 'any' | 'user_message' | 'system_event', reason: string): Decision => ({
  kind: 'wait',
  match,
  reason,
})
const acts = (...tools: string[]): Decision => ({
  kind: 'act',
  calls: tools.map((tool) => ({ id: tool, tool, args: {}, effect: EFFECT })),
})

function after(state: Autonomy, decision: Decision, ...statuses: CallStatus[]): Autonomy {
  const step = stepOf(decision, statuses)
  return rules.reduce?.(state, step) ?? state
}

const stepOf = (decision: Decision, statuses: readonly CallStatus[] = []): CompletedStep => ({
  input: [],
  observation: null,
  decision,
  results: statuses.map((status) => ({ status, content: '' })),
})

const ACTED = after(initial, acts('bash'), 'ok')

describe('E8, case 137: whether a text asks a person', () => {
  for (const asking of [
    'I can do either. Do you want me to go on?',
    'My understanding is that you want a report. Is that right?',
    'Everything is ready. PLEASE CONFIRM the deployment.',
    'Please choose one of these.',
    'Option A: delete it.\n\nOption B: keep it.',
    '你要我现在部署吗？',
    '我的理解是需要一份报告，对吗？',
    '我的理解是需要一份报告。是否继续？',
    '一切就绪，请确认。',
    '请选择一个方案。',
    '可选：Ａ）删除 b）保留',
    '完成后请回复。',
    'Please confirm "deploy to production".',
    '请确认「是否删除旧文件」。',
    'I’m done with 5" disks; please confirm the "rest".',
    '```\ncode\n```\nPlease confirm.',
  ])
    test(`asks a person: ${asking.replaceAll('\n', ' / ')}`, () => assert.equal(asksPerson(asking), true))

  for (const statement of [
    'The dialog says "please confirm"; I clicked it.',
    'The button reads “Please confirm”.',
    "The label is 'please choose' and wasn't changed.",
    '界面上的「请确认」按钮已经测试过。',
    '已将文案 “请选择” 改为 『请回复』。',
    'Renamed `please confirm` to `confirm`.',
    'Ran ``grep `please confirm` src`` without a hit.',
    '> Please confirm your order.\n\nThat mail was answered.',
    '＞ 请确认\n\n已处理该邮件。',
    'Found this:\n```html\n<p>Please confirm</p>\n```\nand left it.',
    '~~~\n请确认\n~~~\n已归档。',
    '```\nnever closed: please confirm',
    'My understanding is that the cache was stale; it is fixed now.',
    '我的理解是缓存过期，现已修复。',
    'The option a user has was documented.',
    'Nothing had to be confirmed.',
  ])
    test(`does not ask: ${statement.replaceAll('\n', ' / ')}`, () => assert.equal(asksPerson(statement), false))
})

describe('E8: the check of an attempt', () => {
  test('checks in order: waits for a person, no real action, no usable result', () => {
    const asking = final('Please confirm.')
    assert.equal(autonomyFailure(initial, asking), 'awaiting_input')
    assert.equal(autonomyFailure(ACTED, asking), 'awaiting_input')
    assert.equal(autonomyFailure(initial, final('')), 'no_real_action')
    assert.equal(autonomyFailure(ACTED, final('## Execution Summary\n')), 'invalid_result')
    assert.equal(autonomyFailure(ACTED, final('wrote report.md')), undefined)
    assert.equal(autonomyFailure(initial, acts('bash')), undefined)
  })

  test('waiting for a person counts as asking; waiting for anything else does not', () => {
    for (const decision of [
      waits('user_message', 'user_message'),
      waits('any', 'the user’s confirmation'),
      waits('any', '等待用户回复'),
    ])
      assert.equal(autonomyFailure(ACTED, decision), 'awaiting_input', JSON.stringify(decision))
    const asked = { id: 'q', tool: 'ask_user', args: {}, effect: EFFECT }
    const parked = { ...waits('user_message', 'red or blue?'), via: asked } as Decision
    for (const decision of [waits('system_event', 'events'), waits('any', 'the build to finish'), parked])
      assert.equal(autonomyFailure(ACTED, decision), undefined, JSON.stringify(decision))
  })

  test('only a successful result of a real tool is evidence, and it counts for the whole run', () => {
    for (const status of ['error', 'timed_out', 'interrupted', 'not_started', 'blocked', 'unknown'] as const)
      assert.equal(after(initial, acts('bash'), status).real, false, status)
    assert.equal(after(initial, acts('remember', 'view_file'), 'ok', 'error').real, false)
    assert.equal(after(initial, acts('remember', 'view_file'), 'error', 'ok').real, true)
    assert.equal(after(ACTED, acts('bash'), 'error').real, true)
  })

  test('orchestration tools are not real actions, nor is a tool without a name', () => {
    const orchestration =
      'plan clearify clarify todo_read todo_update attention context_checkpoint request_user wait finish remember ' +
      'recall forget todo_add todo_done route workspace_create send_message ask_user spawn_agent read_state'
    for (const tool of [...orchestration.split(' '), 'Plan', ' ask_user ', '', ' '])
      assert.equal(isRealAction(tool), false, tool)
    for (const tool of ['bash', 'view_file', 'edit_state', 'planner__plan', 'todo'])
      assert.equal(isRealAction(tool), true, tool)
  })

  test('with noop, doing nothing is a valid result', () => {
    const allowed = rules.initState('look', { noop: true })
    assert.equal(autonomyFailure(allowed, final('nothing to do')), undefined)
    assert.equal(autonomyFailure(allowed, final('Please confirm.')), 'awaiting_input')
  })

  test('waiting for an approval is no failure and uses up no attempt', () => {
    const held = after(initial, acts('bash'), 'parked')
    assert.equal(held.held, 1)
    assert.equal(autonomyFailure(held, waits('any', 'approval by the user')), undefined)
    const ended = after(held, final('I asked; please confirm.'))
    assert.equal(ended.failed, 0)
    const verdict = critic?.judge(ended, stepOf(final('I asked; please confirm.')))
    // The engine parks the run.
    assert.deepEqual(verdict, { kind: 'continue' })
    const answer = { id: 'o', type: 'system_event', name: 'approval', ts: 0 } as const
    const answered = rules.reduce?.(held, { ...stepOf(acts('bash'), ['ok']), input: [answer] })
    assert.deepEqual({ held: answered?.held, real: answered?.real }, { held: 0, real: true })
  })

  test('retried with the seed’s text and growing delays, then failed with the class of the last failure', () => {
    const said = final('## Execution Summary\nI thought about it.')
    let state = initial
    const verdicts = [1, 2, 3].map(() => {
      state = after(state, said)
      return critic?.judge(state, stepOf(said))
    })
    const attempts = verdicts.map((verdict) => verdict && 'attempt' in verdict && verdict.attempt)
    assert.deepEqual(attempts, [{ after_ms: 2_000 }, { after_ms: 8_000 }, false])
    const [first, , last] = verdicts as { instruction?: string; failure_class?: string; reason?: string }[]
    assert.match(first?.instruction ?? '', /^Kernel retry requirement:\n- Your previous attempt was not autonomously/)
    assert.match(
      first?.instruction ?? '',
      /workspace.*\n.*"## Execution Summary".*\n\nPrevious.*\n## Execution Summary\nI th/,
    )
    assert.equal(last?.failure_class, 'no_real_action')
    assert.match(last?.reason ?? '', /it took no real action after 3 attempts; last answer: .*I thought about it/s)
    assert.deepEqual(
      { failed: state.failed, first_failure: state.first_failure },
      { failed: 3, first_failure: 'no_real_action' },
    )
  })

  test('the first failure is stored, the last one is the class; delays have a maximum', () => {
    const unlimited = autonomyRules({ ...DEFAULT_ATTEMPT_LIMITS, max_attempts: null }).critics?.[0]
    const first = after(initial, final('nothing'))
    const second = after({ ...first, real: true, failed: 8 }, final('请确认'))
    assert.deepEqual(
      { first_failure: second.first_failure, failed: second.failed },
      { first_failure: 'no_real_action', failed: 9 },
    )
    const verdict = unlimited?.judge(second, stepOf(final('请确认')))
    assert.deepEqual(verdict && 'attempt' in verdict && verdict.attempt, { after_ms: 600_000 })
  })

  test('the language is that of the configuration, not of inserted text', () => {
    assert.equal(rules.initState('state: 永不询问', { language: 'en' }).language, 'en')
    const state = after(rules.initState('请生成简报'), final('好的'))
    const verdict = critic?.judge(state, stepOf(final('好的')))
    assert.match(JSON.stringify(verdict), /Kernel 重试要求.*## 执行总结.*上一次尝试的总结：.n好的/)
  })
})

describe('E8: the summary of a result', () => {
  test('from the heading to the end, in either language, else everything; at most 500 code points', () => {
    assert.equal(extractSummary('thoughts\n## 执行总结\n写了一份'), '## 执行总结\n写了一份')
    assert.equal(extractSummary('thoughts\n### Execution Summary\n- wrote'), '### Execution Summary\n- wrote')
    assert.equal(extractSummary('see "## 执行总结" above'), 'see "## 执行总结" above')
    assert.equal([...extractSummary('𠮷'.repeat(600))].length, 500)
  })

  for (const empty of [
    '',
    ' \n',
    '## Execution Summary',
    'Empty response: {"id": 1}',
    'empty completion',
    '{"choices": [], "usage": {}}',
    '{"error": {"message": "overloaded"}}',
    '```json\n{"candidates": []}\n```',
  ])
    test(`not a result: ${JSON.stringify(empty)}`, () => assert.equal(isUsableResult(empty), false))

  for (const said of [
    'ok',
    '{"report": "all well"}',
    '## Execution Summary\nwrote a.md',
    'Empty responses were retried.',
  ])
    test(`is a usable result: ${JSON.stringify(said)}`, () => assert.equal(isUsableResult(said), true))
})
