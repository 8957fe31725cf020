/** Todos with an assignee: the runtime spawns their sub-agents, and their results decide what becomes of the todos. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { type BehaviourName, behaviourIn, call, finish } from '../support/pdca-script.ts'

type Answers = (turn: number, request: ModelRequest) => ScriptedAnswer | undefined

/** Sub-agents are told from the parent by their task: `write FILE`. */
function planModel(parent: Partial<Record<BehaviourName, Answers>>, child: Answers): ScriptedModel {
  return scriptedModel((request, turn) => {
    const [first] = request.messages
    // The parent reads the task of a sub-agent, too, as its own last step.
    const isChild = first?.role === 'user' && /^write \S+\n\n.*of a plan; others work on/.test(first.text)
    const answer = isChild ? child(turn, request) : parent[behaviourIn(request)]?.(turn, request)
    return answer ?? finish('done')
  })
}

const textOf = ({ messages }: ModelRequest): string => JSON.stringify(messages)
const todo = (title: string, more: Record<string, unknown> = {}) => {
  const [, path = ''] = title.split(' ')
  return { title, checks: [{ kind: 'file', path, exists: true }], ...more } as never
}
const adding = (...todos: readonly never[]): ScriptedAnswer => ({
  calls: todos.map((args) => ({ tool: 'todo_add', args })),
})

/** Passes every todo that its input shows as COMPLETE. */
const passing: Answers = (turn, request) => {
  const complete = [...new Set(textOf(request).match(/T\d{3}(?= \[COMPLETE)/g) ?? [])]
  return turn === 0 && complete.length > 0
    ? { calls: complete.map((code) => ({ tool: 'todo_pass', args: { todo: code, reason: 'seen' } })) }
    : finish('all is there')
}

const writing: Answers = (turn, request) => {
  const [, path = 'x'] = /write (\S+\.txt)/.exec(textOf(request)) ?? []
  return turn === 0 ? call('create_file', { path, content: `${path}\n` }) : finish(`wrote ${path}`)
}

const movesOf = async (app: App, session: string): Promise<readonly string[]> =>
  (await journalOf(app, session)).flatMap((record) => (record.kind === 'became' ? [record.behaviour] : []))

describe('O2, O3: todos of sub-agents', () => {
  test('parallel todos are spawned at once, their results complete them, then the plan goes on', async (t) => {
    const model = planModel(
      {
        plan: (turn) =>
          turn === 0
            ? adding(
                todo('write a.txt', { assignee: 'assistant', parallel: true }),
                todo('write b.txt', { assignee: 'assistant', parallel: true }),
                todo('write c.txt', { deps: ['T001', 'T002'] }),
              )
            : finish('planned'),
        do: (turn) =>
          [
            call('create_file', { path: 'c.txt', content: 'c' }),
            call('todo_done', { todo: 'T003', reason: 'written' }),
          ][turn],
        check: passing,
      },
      writing,
    )
    const app = await openApp(t, { model })
    const result = await runTaskIn(app, 'write three files', { behaviour: 'plan', max_steps: 80 })
    assert.equal(result.status, 'done', `${result.error}`)
    assert.match(String(result.answer), /T001 .*proved by a check\n- T002 .*proved by a check\n- T003 .*proved/)
    for (const file of ['a.txt', 'b.txt', 'c.txt']) assert.ok(readFileSync(join(result.workspace, file), 'utf8'))
    const children = (await app.service('store').dispatches({ limit: 20 })).filter(
      ({ parent_id }) => parent_id !== null,
    )
    assert.deepEqual(
      children.map(({ agent_id, status }) => `${agent_id} ${status}`),
      ['assistant done', 'assistant done'],
    )
    const moves = await movesOf(app, result.session_id)
    assert.deepEqual([moves[0], moves.includes('check'), moves.includes('adjust')], ['do', true, false])
    assert.equal((await replayIn(app, result.dispatch_id)).identical, true)
  })

  test('case 83: the failure of a sub-agent fails its todo, which is adjusted and tried again', async (t) => {
    let tries = 0
    const model = planModel(
      {
        plan: (turn) =>
          turn === 0 ? adding(todo('write a.txt', { assignee: 'assistant' }), todo('write b.txt')) : finish('planned'),
        do: (turn) =>
          [
            call('create_file', { path: 'b.txt', content: 'b' }),
            call('todo_done', { todo: 'T002', reason: 'written' }),
          ][turn],
        adjust: (turn) =>
          turn === 0 ? call('todo_note', { todo: 'T001', reason: 'write it at once' }) : finish('again'),
        check: passing,
      },
      (turn, request) => {
        if (turn === 0) tries += 1
        return tries === 1 ? call('list_files') : writing(turn, request)
      },
    )
    const app = await openApp(t, { model, yaml: 'budget: { per_dispatch_calls: 60 }\n' })
    const result = await runTaskIn(app, 'write two files', { behaviour: 'plan', max_steps: 60 })
    assert.equal(result.status, 'done', `${result.error}`)
    assert.equal(readFileSync(join(result.workspace, 'a.txt'), 'utf8'), 'a.txt\n')
    const moves = await movesOf(app, result.session_id)
    assert.ok(moves.indexOf('adjust') > 0, moves.join(' '))
    assert.equal(tries, 2)
  })
})
