import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { selectFromAnswer } from '../../src/kernel/cycle/planners/llm.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  countPlanningCalls,
  diligentScript,
  editState,
  isPlanning,
  listDispatches,
  MINUTE,
  openKernelApp,
  runOnce,
  taskIn,
} from '../support/kernels.ts'

const HYBRID = { planner: { mode: 'hybrid' } }
const twoAgents = [{ agent_id: 'a' }, { agent_id: 'b' }]

/** Answers planning requests with `answer`; agents do their work. */
const planningModel = (answer: string) =>
  scriptedModel((request) => (isPlanning(request) ? { text: answer } : diligentScript(request)))
const planForAll = JSON.stringify(twoAgents.map(({ agent_id }) => ({ agent_id, dispatch: true, reason: 'x' })))

describe('the hybrid planner (E5)', () => {
  test('without changes each cycle is idle and calls no model', async (t) => {
    const { app, model } = await openKernelApp(t, {
      agents: twoAgents,
      kernel: HYBRID,
      model: planningModel(planForAll),
    })
    await runOnce(app)
    const calls = model.requests.length
    for (let n = 0; n < 20; n++) assert.equal((await runOnce(app)).idle_reason, 'nothing new')
    assert.equal(model.requests.length, calls)
  })

  test('a change with two candidates needs one planner call; with one candidate none', async (t) => {
    const { app, home, model } = await openKernelApp(t, {
      agents: twoAgents,
      kernel: HYBRID,
      model: planningModel(planForAll),
    })
    await runOnce(app)
    const before = countPlanningCalls(model)
    editState(home, (text) => text.replace('## recent_actions', '## news\na deploy is due\n## recent_actions'))
    assert.equal((await runOnce(app)).dispatched, 2)
    assert.equal(countPlanningCalls(model), before + 1)
    const single = await openKernelApp(t, { agents: [{ agent_id: 'a' }], kernel: HYBRID })
    await runOnce(single.app)
    editState(single.home, (text) => text.replace('## recent_actions', '## news\na deploy is due\n## recent_actions'))
    assert.equal((await runOnce(single.app)).dispatched, 1)
    assert.equal(countPlanningCalls(single.model), 0)
  })

  test('the planner model may leave agents out and set prompt and priority', async (t) => {
    const answer = [
      '```json\n[{"agent_id": "b", "reason": "urgent", "priority": 7, "prompt": "fix it now"},',
      '{"agent_id": "a", "dispatch": false}]\n```',
    ].join(' ')
    const { app, model } = await openKernelApp(t, { agents: twoAgents, kernel: HYBRID, model: planningModel(answer) })
    const result = await runOnce(app)
    assert.deepEqual(
      result.agents.map(({ agent_id }) => agent_id),
      ['b'],
    )
    const dispatch = (await listDispatches(app)).find(({ agent_id }) => agent_id === 'b')
    assert.deepEqual(
      { priority: dispatch?.priority, startsWithFixItNow: dispatch?.prompt.startsWith('fix it now') },
      { priority: 7, startsWithFixItNow: true },
    )
    assert.match(JSON.stringify(model.requests[0]), /never run/)
  })

  test('case 123: an empty plan dispatches no agent; disabled and unknown agents are refused', async (t) => {
    const none = await openKernelApp(t, { agents: twoAgents, kernel: HYBRID, model: planningModel('[]') })
    const result = await runOnce(none.app)
    assert.deepEqual(
      { status: result.status, dispatched: result.dispatched, idle_reason: result.idle_reason },
      { status: 'success', dispatched: 0, idle_reason: 'the planner found nothing to do' },
    )
    const named = [
      '[{"agent_id": "ghost", "reason": "x"}, {"agent_id": "off", "reason": "x"},',
      '{"agent_id": "a", "reason": "x"}, {"agent_id": "a", "reason": "again"}]',
    ].join(' ')
    const withInvalid = await openKernelApp(t, {
      agents: [...twoAgents, { agent_id: 'off', enabled: false }],
      kernel: HYBRID,
      model: planningModel(named),
    })
    const notes: string[] = []
    const output = await withInvalid.app.run(
      'once',
      {},
      (progress) => void (progress.kind === 'note' && notes.push(progress.text)),
    )
    assert.deepEqual(
      (output as { agents: { agent_id: string }[] }).agents.map(({ agent_id }) => agent_id),
      ['a'],
    )
    assert.match(notes.join('\n'), /named "ghost"[\s\S]*named "off"/)
  })

  test('E20: the planner prompt has purpose, watched paths and last result of each agent', async (t) => {
    const agents = [
      { agent_id: 'a', prompt: 'Tend the inbox. {STATE}', watch: ['inbox', { git: 'repo' }] },
      { agent_id: 'b', prompt: 'ignored', metadata: { purpose: 'Writes the daily report' } },
    ]
    const { app, model } = await openKernelApp(t, { agents, kernel: HYBRID, model: planningModel('[]') })
    await runOnce(app)
    const prompt = JSON.stringify(model.requests[0])
    assert.match(prompt, /- a \(priority 0\): never run\\n {2}purpose: Tend the inbox\.\\n {2}watches: inbox, repo/)
    assert.match(prompt, /- b \(priority 0\): never run\\n {2}purpose: Writes the daily report/)
  })

  test('an invalid planner answer is reported with its position and reason', () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      ['[{"agent": "a"}]', /^the planner's list is invalid: entry 1: agent_id must be a string$/],
      ['[{"agent_id": "a"}, 7]', /entry 2: it must be an object with agent_id and reason$/],
      [
        '[{"agent_id": "a", "priority": "high", "prompt": ""}]',
        /priority must be a whole number; entry 1: prompt must not be empty$/,
      ],
      ['[{"agent_id": "a"', /^the planner's answer has no list: /],
      ['[{"agent_id": a}]', /^the planner's list is not valid JSON: \[\{"agent_id": a\}\]$/],
    ]
    for (const [answer, message] of refused) assert.throws(() => selectFromAnswer(answer, [], null), { message })
  })

  test('an unreadable planner answer falls back to all agents with changes', async (t) => {
    for (const answer of ['I would rather not say', '{"agent_id": "a"}', '[{"agent": "a"}]', '[{"agent_id": "a"']) {
      const { app } = await openKernelApp(t, { agents: twoAgents, kernel: HYBRID, model: planningModel(answer) })
      assert.deepEqual({ dispatched: (await runOnce(app)).dispatched, answer }, { dispatched: 2, answer })
    }
  })

  test('an agent runs when the goal, its own files or a watched path changes', async (t) => {
    const { app, home, clock } = await openKernelApp(t, {
      agents: [{ agent_id: 'a', watch: ['inbox'] }],
      kernel: HYBRID,
    })
    await runOnce(app)
    const countDispatchedNext = async (): Promise<number> => {
      await clock.advance(60 * MINUTE)
      return (await runOnce(app)).dispatched
    }
    assert.equal(await countDispatchedNext(), 0)
    mkdirSync(join(home, 'inbox'))
    assert.equal(await countDispatchedNext(), 1)
    assert.equal(await countDispatchedNext(), 0)
    writeFileSync(join(home, 'inbox', 'letter'), 'x')
    assert.equal(await countDispatchedNext(), 1)
    writeFileSync(join(home, 'kernels', 'default', 'GOAL.md'), 'grow')
    assert.equal(await countDispatchedNext(), 1)
    mkdirSync(join(home, 'agents', 'a'), { recursive: true })
    writeFileSync(join(home, 'agents', 'a', 'role.md'), 'careful')
    assert.equal(await countDispatchedNext(), 1)
    assert.equal(await countDispatchedNext(), 0)
  })

  test('E5: a goal changed during the planning of a cycle reaches the agents', async (t) => {
    const edits = ['中文目标：写诗']
    const goalOf = (home: string): string => join(home, 'kernels', 'default', 'GOAL.md')
    const goalEditor = definePlugin({
      name: 'goal editor',
      needs: ['documents', 'home'],
      setup(host) {
        const documents = host.get('documents')
        const versions = documents.versions.bind(documents)
        const changing: typeof versions = async (name, limit) => {
          const edit = name === 'GOAL.md' ? edits.pop() : undefined
          // Reading it here is what any command does that shows the goal meanwhile.
          if (edit !== undefined) {
            mkdirSync(dirname(goalOf(host.get('home').root)), { recursive: true })
            writeFileSync(goalOf(host.get('home').root), edit)
            await documents.read('GOAL.md')
          }
          return versions(name, limit)
        }
        Object.assign(documents, { versions: changing })
      },
    })
    const agents = [{ agent_id: 'a', prompt: 'work for {GOAL}' }]
    const { app, model } = await openKernelApp(t, { agents, kernel: HYBRID, options: { plugins: [goalEditor] } })
    for (let n = 0; n < 2; n++) await runOnce(app)
    assert.ok(
      model.requests.some((request) => taskIn(request).includes('写诗')),
      'a request contains the new goal',
    )
  })

  test('an agent with its own schedule runs only at its own beats, with or without changes', async (t) => {
    const { app, clock } = await openKernelApp(t, {
      agents: [{ agent_id: 'hourly', schedule: '0 * * * *' }, { agent_id: 'a' }],
      kernel: HYBRID,
    })
    assert.deepEqual(
      (await runOnce(app)).agents.map(({ agent_id }) => agent_id),
      ['a'],
    )
    await app.run('start', { until_idle: true })
    await clock.advance(61 * MINUTE)
    await app.run('start', { until_idle: true })
    await clock.advance(61 * MINUTE)
    await app.run('start', { until_idle: true })
    const done = (await listDispatches(app)).filter(({ agent_id }) => agent_id === 'hourly')
    assert.equal(done.length, 2)
  })
})

test('E5: the llm planner runs in each cycle with state, goal and results; max_dispatches holds', async (t) => {
  const agents = ['a', 'b', 'c', 'd'].map((agent_id) => ({ agent_id }))
  const answer = JSON.stringify(agents.map(({ agent_id }) => ({ agent_id, reason: 'go' })))
  const model = planningModel(answer)
  const { app, home } = await openKernelApp(t, {
    agents,
    kernel: { planner: { mode: 'llm', max_dispatches: 2 } },
    model,
  })
  mkdirSync(join(home, 'kernels', 'default'), { recursive: true })
  writeFileSync(join(home, 'kernels', 'default', 'GOAL.md'), 'win the race')
  assert.equal((await runOnce(app)).dispatched, 2)
  assert.equal((await runOnce(app)).dispatched, 2)
  const prompts = model.requests.filter(isPlanning).map(taskIn)
  assert.equal(prompts.length, 2)
  assert.match(
    prompts[1] ?? '',
    /Time: 2030-03-10T12:00:00\.000Z[\s\S]*At most 2 agents[\s\S]*# Kernel State[\s\S]*win the race[\s\S]*- a \(pri/,
  )
  assert.match(prompts[1] ?? '', /win the race[\s\S]*- a \(priority 0\): done 0 min ago: ## Execution Summary/)
  assert.doesNotMatch(prompts[1] ?? '', /KERNEL_RUNTIME/)
  const planners = (await listDispatches(app)).filter(({ agent_id }) => agent_id === 'planner')
  assert.deepEqual(
    planners.map(({ status }) => status),
    ['done', 'done'],
  )
})
