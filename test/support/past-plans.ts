/** Todos in the home of `past-home.ts`: a plan of clerk in the folder shop, and one of scribe. */

import assert from 'node:assert/strict'
import type { CheckResult, TodoCheck } from '../../src/domain/todo.ts'
import type { TodoAction } from '../../src/domain/todo-delta.ts'
import { commitOne } from '../../src/ports/store.ts'
import type { PastHome } from './past-home.ts'

const by = { kind: 'system' } as const
const check: TodoCheck = { kind: 'file', path: 'prices.csv' }

const add = (title: string, deps: readonly string[] = [], checks: readonly TodoCheck[] = []): TodoAction => ({
  ...{ kind: 'add', by },
  todo: { title, type: 'Task', deps, assignee: null, parallel: false, skills: [], checks },
})
const change = (code: string, verb: 'start' | 'done' | 'fail' | 'pass', reason = 'because'): TodoAction => ({
  ...{ kind: 'change', by, code, verb, reason },
})
const results = (kind: 'baseline' | 'evidence', code: string, ok: boolean): TodoAction => ({
  ...{ kind, by, code },
  results: [
    {
      check,
      ok,
      observed: ok ? 'exists' : 'missing',
      output: '',
      at: '2026-11-12T10:00:00.000Z',
      digest: '',
    } satisfies CheckResult,
  ],
})

const SHOP: readonly TodoAction[] = [
  ...[
    add('List the fruit', [], [check]),
    add('Count the crates'),
    add('Ask the supplier'),
    add('Print labels', ['T003']),
  ],
  ...[results('baseline', 'T001', false), change('T001', 'start'), change('T001', 'done')],
  ...[results('evidence', 'T001', true), change('T001', 'pass')],
  ...[change('T002', 'start'), change('T002', 'done')],
  ...[{ kind: 'evidence', by, code: 'T002', results: [] } as const, change('T002', 'pass')],
  ...[change('T003', 'start'), change('T003', 'fail', 'the supplier did not answer')],
]

const NOTES: readonly TodoAction[] = [add('Sort the minutes')]

/** Contract: T001 proved, T002 asserted, T003 failed, T004 waits for it; and T001 of another session, which is open. */
export async function addPlans({ app, runs }: PastHome): Promise<void> {
  const { store, clock } = app.context
  for (const [task, actions] of [
    ['Update the price list', SHOP],
    ['整理会议纪要', NOTES],
  ] as const) {
    const dispatch = (await store.dispatch(runs.get(task) ?? '')) ?? assert.fail(task)
    const [receipt] = await commitOne(store, [
      { op: 'todos', op_id: `plan ${task}`, session_id: dispatch.session_id, actions, now: clock.now() },
    ])
    assert.equal(receipt.refusal, null, JSON.stringify(receipt.refusal))
  }
}
