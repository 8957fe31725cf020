import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MAX_RECENT_ACTIONS, type RecentAction, withRecentActions } from './recent-actions.ts'

const action = (n: number, summary: string | null = `did ${n}`): RecentAction => ({
  ended_at: `2026-11-16T03:00:${String(n).padStart(2, '0')}.000Z`,
  agent_id: 'scout',
  status: 'done',
  summary,
  run_id: `run-${n}`,
})

describe('E18: recent_actions', () => {
  test('replaces the placeholder and no other byte', () => {
    const text = '# Kernel State\n## identity\nme\n## recent_actions\n(none yet)\n\n## plans\n- mine\n'
    assert.equal(
      withRecentActions(text, [action(1)]),
      '# Kernel State\n## identity\nme\n## recent_actions\n' +
        '- 2026-11-16T03:00:01.000Z scout done: did 1\n\n## plans\n- mine\n',
    )
  })

  test('keeps lines written by others, wherever they are', () => {
    const text = '## recent_actions\n- my own note\n- 2026-11-16T03:00:01.000Z scout done: did 1\nlast words'
    assert.equal(
      withRecentActions(text, [action(2)]),
      '## recent_actions\n- 2026-11-16T03:00:02.000Z scout done: did 2\n- my own note\n' +
        '- 2026-11-16T03:00:01.000Z scout done: did 1\nlast words',
    )
  })

  test(`keeps at most ${MAX_RECENT_ACTIONS} of its own, the newest`, () => {
    let text = '## recent_actions\nkept\n'
    for (let n = 0; n < 50; n += 1) text = withRecentActions(text, [action(n)])
    const lines = text.trim().split('\n')
    assert.equal(lines.length, 1 + MAX_RECENT_ACTIONS + 1)
    assert.match(lines[1] ?? '', /did 49$/)
    assert.match(lines[MAX_RECENT_ACTIONS] ?? '', /did 30$/)
    assert.equal(lines.at(-1), 'kept')
  })

  test('a deleted section stays deleted, and a mention inside a line is no section', () => {
    for (const text of ['# State\n', 'see ## recent_actions\n', '### recent_actions\n(none yet)\n'])
      assert.equal(withRecentActions(text, [action(1)]), text)
  })

  test('a summary cannot break the line, the document or the marks of the runtime block', () => {
    const text = withRecentActions('## recent_actions\r\n(none yet)\r\n', [
      action(1, `a\n## plans\n<!-- KERNEL_RUNTIME:START --> \u2028${'x'.repeat(500)}`),
    ])
    assert.match(text, /^## recent_actions\r\n- \S+ scout done: a ## plans &lt;!-- KERNEL_RUNTIME:START --> x+…\r\n$/)
  })

  test('a summary that may quote third-party text is left out', () => {
    assert.match(withRecentActions('## recent_actions\n', [action(1, null)]), /scout done: see trace show run-1\n$/)
  })
})
