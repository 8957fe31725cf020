/** The todo tools on a real store and real workspaces: proof, refusals, crashes, and models that only claim success. */

import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Todo } from '../../src/domain/todo.ts'
import { openTodoSession, type TodoSession } from '../support/todo-session.ts'

const exists = (path: string) => ({ kind: 'file', path })
const codeOf = (n: number): string => `T${String(n).padStart(3, '0')}`

async function planned(t: TestContext, ...titles: readonly string[]): Promise<TodoSession> {
  const session = await openTodoSession(t)
  for (const title of titles) await session.ok('plan', 'todo_add', { title, checks: [exists(title)] })
  return session
}

test('O4: a check that failed before the work and passes after it proves the todo', async (t) => {
  const { ok, workspace, todo } = await planned(t, 'out')
  assert.match(
    await ok('do', 'todo_start', { todo: 'T001' }),
    /T001 is IN_PROGRESS\.\n.*before the work:\nfailed: file out/,
  )
  writeFileSync(join(workspace, 'out'), 'made')
  await ok('do', 'todo_done', { todo: 'T001', reason: 'wrote it' })
  assert.match(await ok('check', 'todo_verify', {}), /T001 \(out\): all checks pass.*\npassed: file out exists/)
  assert.match(await ok('check', 'todo_pass', { todo: 'T001' }), /T001 is DONE: a check that failed before/)
  const { status, proof, evidence, baseline } = await todo('T001')
  assert.deepEqual([status, proof, baseline?.[0]?.ok, evidence?.[0]?.ok], ['DONE', 'proved', false, true])
  assert.match(evidence?.[0]?.digest ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(evidence?.[0]?.digest, baseline?.[0]?.digest)
})

test('O4: a check that passed before the work leaves DONE (asserted), and every list says so', async (t) => {
  const { ok, workspace } = await planned(t, 'out')
  writeFileSync(join(workspace, 'out'), 'already there')
  assert.match(await ok('do', 'todo_start', { todo: 'T001' }), /all checks pass before the work, so they will prove/)
  await ok('do', 'todo_done', { todo: 'T001', reason: 'nothing to do' })
  await ok('check', 'todo_verify', {})
  assert.match(await ok('check', 'todo_pass', { todo: 'T001' }), /T001 is DONE \(asserted\)/)
  assert.match(await ok('check', 'todo_list', {}), /^T001 DONE \(asserted\): out/)
})

test('O4: a todo whose checks fail becomes CHECK_FAILED by the runtime, with the output as its error', async (t) => {
  const { ok, error, todo, add } = await openTodoSession(t)
  await add({ title: 'a', checks: [{ kind: 'command', run: 'echo boom; exit 3' }] })
  await ok('do', 'todo_start', { todo: 'T001' })
  await ok('do', 'todo_done', { todo: 'T001', reason: 'trust me' })
  assert.match(
    await ok('check', 'todo_verify', {}),
    /T001 \(a\): CHECK_FAILED\.\nfailed: command "echo boom; exit 3": exit 3/,
  )
  const { status, last_error } = await todo('T001')
  assert.equal(status, 'CHECK_FAILED')
  assert.match(last_error ?? '', /exit 3\nboom/)
  assert.match(await error('check', 'todo_pass', { todo: 'T001' }), /T001 is CHECK_FAILED; todo_pass is not possible/)
})

test('O4: todo_pass is refused without results from after the last COMPLETE', async (t) => {
  const { ok, error, workspace } = await planned(t, 'out')
  await ok('do', 'todo_start', { todo: 'T001' })
  writeFileSync(join(workspace, 'out'), 'made')
  await ok('do', 'todo_done', { todo: 'T001', reason: 'wrote it' })
  assert.match(
    await error('check', 'todo_pass', { todo: 'T001' }),
    /not executed after its last change. Call todo_verify/,
  )
  await ok('check', 'todo_verify', {})
  await ok('do', 'todo_start', { todo: 'T001' })
  rmSync(join(workspace, 'out'))
  await ok('do', 'todo_done', { todo: 'T001', reason: 'again' })
  assert.match(await error('check', 'todo_pass', { todo: 'T001' }), /Call todo_verify first. Now possible: todo_reject/)
  await ok('check', 'todo_verify', {})
  assert.match(await ok('check', 'todo_list', {}), /^T001 CHECK_FAILED/)
})

test('O4: checks leave no trace in the workspace, and cannot see what other checks did', async (t) => {
  const { ok, add, workspace, copies } = await openTodoSession(t)
  await add({ title: 'a', checks: [{ kind: 'command', run: 'touch left-behind; git init -q; false' }] })
  await add({ title: 'b', checks: [exists('left-behind')] })
  for (const todo of ['T001', 'T002']) {
    await ok('do', 'todo_start', { todo })
    await ok('do', 'todo_done', { todo, reason: 'x' })
  }
  const text = await ok('check', 'todo_verify', {})
  assert.match(text, /T002 \(b\): CHECK_FAILED\.\nfailed: file left-behind exists: no such file/)
  assert.deepEqual([readdirSync(workspace), copies()], [[], []])
})

test('case 85: a refusal names the status and the tools that are possible now', async (t) => {
  const { error, ok } = await planned(t, 'a', 'b')
  assert.equal(
    await error('do', 'todo_pass', { todo: 'T001' }),
    'todo_pass is not allowed here for T001, which is WAIT. Now possible: todo_start, todo_done, todo_fail, todo_note.',
  )
  assert.match(await error('check', 'todo_start', { todo: 'T001' }), /not allowed here.*Now possible: todo_note\./)
  assert.match(await error('adjust', 'todo_done', { todo: 'T001', reason: 'x' }), /Now possible: todo_note\./)
  assert.match(await error('do', 'todo_start', { todo: 'T009' }), /no todo T009. Todos of this session: T001, T002/)
  assert.match(await error('do', 'todo_verify', {}), /in behaviour check only; this is do/)
  assert.match(await error('router', 'todo_add', { title: 'x' }), /cannot be added in behaviour router/)
  await ok('do', 'todo_start', { todo: 'T001' })
  assert.match(await error('check', 'todo_pass', { todo: 'T001' }), /T001 is IN_PROGRESS; todo_pass is not possible/)
})

test('case 91: after three failures the agent is told to change the plan or to ask', async (t) => {
  const { ok, error } = await planned(t, 'a')
  for (let n = 0; n < 3; n += 1) {
    await ok('do', 'todo_start', { todo: 'T001' })
    await ok('do', 'todo_fail', { todo: 'T001', reason: 'no network' })
  }
  assert.match(
    await error('do', 'todo_start', { todo: 'T001' }),
    /failed 3 times.*Escalate: change the plan.*ask the owner/,
  )
})

test('case 90: a Bench is verified after everything else is DONE, and again after a repair', async (t) => {
  const { ok, error, workspace, todo, add } = await openTodoSession(t)
  await add({ title: 'a', checks: [exists('a')] })
  await add({ title: 'whole', type: 'Bench', checks: [{ kind: 'command', run: 'test -f a && test -f b' }] })
  const make = async (code: string, file: string): Promise<void> => {
    await ok('do', 'todo_start', { todo: code })
    writeFileSync(join(workspace, file), 'x')
    await ok('do', 'todo_done', { todo: code, reason: 'made' })
    await ok('check', 'todo_verify', {})
    await ok('check', 'todo_pass', { todo: code })
  }
  assert.match(await error('do', 'todo_start', { todo: 'T002' }), /todo_start is not allowed here for T002/)
  await make('T001', 'a')
  assert.match(await ok('check', 'todo_verify', {}), /T002 \(whole\): CHECK_FAILED/)
  await ok('adjust', 'todo_add', { title: 'b', checks: [exists('b')] })
  assert.match(await ok('check', 'todo_verify', {}), /nothing to verify/)
  await make('T003', 'b')
  assert.match(await ok('check', 'todo_verify', {}), /T002 \(whole\): all checks pass/)
  await ok('check', 'todo_pass', { todo: 'T002' })
  assert.equal((await todo('T002')).proof, 'proved')
})

test('case 89: a call that is repeated after a crash gets the same answer and changes nothing', async (t) => {
  const { call, todos, workspace } = await planned(t, 'a')
  const repeat = async (name: string, args: object, behaviour: string) => {
    const first = await call(behaviour, name, args, `crash-${name}`)
    const second = await call(behaviour, name, args, `crash-${name}`)
    assert.deepEqual(second.facts, first.facts, name)
    assert.equal(second.status, first.status, name)
  }
  await repeat('todo_add', { title: 'b' }, 'plan')
  assert.equal((await todos()).length, 2)
  await repeat('todo_start', { todo: 'T001' }, 'do')
  writeFileSync(join(workspace, 'a'), 'x')
  await repeat('todo_done', { todo: 'T001', reason: 'x' }, 'do')
  await repeat('todo_verify', {}, 'check')
  await repeat('todo_pass', { todo: 'T001' }, 'check')
  assert.deepEqual(
    (await todos()).map(({ status }) => status),
    ['DONE', 'WAIT'],
  )
})

test('O8: every call returns the whole list for the journal', async (t) => {
  const { call } = await planned(t, 'a')
  const brief = { title: 'a', type: 'Task', deps: [], assignee: null, parallel: false, attempts: 0, proof: null }
  for (const [behaviour, tool, args, status] of [
    ['do', 'todo_start', { todo: 'T001' }, 'IN_PROGRESS'],
    ['do', 'todo_pass', { todo: 'T001' }, 'IN_PROGRESS'],
    ['plan', 'todo_list', {}, 'IN_PROGRESS'],
    ['do', 'todo_done', { todo: 'T001', reason: 'x' }, 'COMPLETE'],
    ['check', 'todo_verify', {}, 'CHECK_FAILED'],
  ] as const)
    assert.deepEqual((await call(behaviour, tool, args)).facts, { todos: [{ code: 'T001', ...brief, status }] }, tool)
})

test('O4: an http check reaches only hosts that the owner listed', async (t) => {
  const { refuses } = await openTodoSession(t, 'policy: { allow_hosts: [example.org] }\n')
  const add = (url: string) => refuses('todo_add', { title: 'a', checks: [{ kind: 'http', url }] })
  assert.match(add('https://example.com/?q=secret') ?? '', /example.com.*is not in policy.allow_hosts/)
  assert.ok(add('http://127.0.0.1/') !== undefined)
  assert.equal(add('https://example.org/'), undefined)
})

/** Todos of the two models together: several plans, as several sessions would have. */
const [PLANS, TODOS_PER_PLAN] = [4, 50]
const CLAIMED = PLANS * TODOS_PER_PLAN

/** A plan whose todos are to add their line to one file; `work`: what a model writes for a todo. */
async function playPlan(t: TestContext, work: (code: string) => string): Promise<readonly Todo[]> {
  const session = await openTodoSession(t)
  const results = join(session.workspace, 'results')
  for (let n = 1; n <= TODOS_PER_PLAN; n += 1)
    await session.add({
      title: codeOf(n),
      checks: [{ kind: 'file', path: 'results', contains: `result ${codeOf(n)}\n` }],
    })
  for (const { code } of await session.todos()) {
    await session.call('do', 'todo_start', { todo: code })
    appendFileSync(results, work(code))
    await session.call('do', 'todo_done', { todo: code, reason: 'Done. All tests pass.' })
    // A claim that must be refused: nothing was verified yet.
    await session.call('check', 'todo_pass', { todo: code, reason: 'I looked at it.' })
  }
  await session.call('check', 'todo_verify', {})
  for (const { code } of await session.todos()) await session.call('check', 'todo_pass', { todo: code })
  return session.todos()
}

async function playPlans(t: TestContext, work: (code: string) => string): Promise<readonly Todo[]> {
  const todos: Todo[] = []
  for (let plan = 0; plan < PLANS; plan += 1) todos.push(...(await playPlan(t, work)))
  assert.equal(todos.length, CLAIMED)
  return todos
}

test('case 141: a model that only claims success gets none of 200 todos to DONE', async (t) => {
  const after = await playPlans(t, (code) => `TODO: ${code}\n`)
  assert.deepEqual(
    after.filter(({ status, last_error }) => status !== 'CHECK_FAILED' || last_error === null),
    [],
  )
})

test('case 141: an honest model gets all of 200 todos to DONE, proved', async (t) => {
  const after = await playPlans(t, (code) => `result ${code}\n`)
  const proved = after.filter(({ status, proof }) => status === 'DONE' && proof === 'proved')
  assert.ok(proved.length >= CLAIMED * 0.99, `${proved.length} of ${CLAIMED}`)
})
