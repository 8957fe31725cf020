import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { type BehaviourName, call, finish, pdcaModel } from '../support/pdca-script.ts'
import { makeInbox, TASK, WORD_COUNTER_MOVES, wordCounter } from '../support/word-counter.ts'

describe('O2, O3, O4, O5: a task is planned, done, checked and adjusted', () => {
  test('a result that fails its check is adjusted and done again; the reply says what was proved', async (t) => {
    const model = wordCounter()
    const app = await openApp(t, { model })
    const workspace = makeInbox(freshFolder(t, 'ws'))
    const result = await runTaskIn(app, TASK, { behaviour: 'plan', workspace, max_steps: 28 })
    assert.equal(result.status, 'done', `${result.error}`)
    assert.deepEqual(model.visited, ['plan', 'do', 'adjust', 'do', 'check', 'do', 'check', 'do', 'check'])
    assert.match(String(result.answer), /^REPORT\.md holds the number of words\.\n\n- T001 .*: proved by a check\n/)
    assert.match(String(result.answer), /\n- T002 .*: proved by a check\n- T003 .*: asserted, not proved$/)
    assert.equal(readFileSync(join(result.workspace, 'REPORT.md'), 'utf8'), 'words: 5\n')
    const firstRequests = model.requests.filter(({ messages }) => messages.length === 1)
    const entries = firstRequests.map(({ messages }) => String(messages[0]?.text))
    const adjusting = entries.find((text) => text.includes('You are now in adjust')) ?? ''
    assert.match(adjusting, /todo_verify .*→ .*(?:failed|exit [1-9])/s, 'ADJUST is told what the checks found')
    for (const text of entries.filter((entry) => entry.includes('You are now in do')))
      assert.equal(text.match(/Current todo:/g)?.length, 1, text)
    const { identical, first_divergence } = await replayIn(app, result.dispatch_id)
    assert.deepEqual({ identical, first_divergence }, { identical: true, first_divergence: null })
    const moves = (await journalOf(app, result.session_id)).flatMap((record) =>
      record.kind === 'became' ? [record.behaviour] : [],
    )
    assert.deepEqual(moves, WORD_COUNTER_MOVES)
    assert.deepEqual(
      result.files,
      ['NOTES.md', 'REPORT.md', 'count.sh'].map((name) => join(result.workspace, name)),
      'also those that commands made',
    )
  })

  test('case 141: a model that claims success without doing the work never reaches DONE', async (t) => {
    const model = pdcaModel(({ behaviour, turn }) => {
      const claims: Readonly<Record<BehaviourName, readonly ReturnType<typeof call>[]>> = {
        ...{ resolve_router: [], router: [] },
        plan: [
          call('todo_add', { title: 'write a.txt', checks: [{ kind: 'file', path: 'a.txt', exists: true }] }),
          finish('planned'),
        ],
        do: [call('todo_done', { todo: 'T001', reason: 'all is done' }), finish('done')],
        check: [call('todo_pass', { todo: 'T001', reason: 'I have seen it' }), finish('all is done')],
        adjust: [finish('it is done')],
      }
      return claims[behaviour][turn] ?? finish('done')
    })
    const app = await openApp(t, { model })
    const result = await runTaskIn(app, 'write a.txt', { behaviour: 'plan', max_steps: 80 })
    assert.equal(result.status, 'failed')
    assert.match(String(result.error), /T001 did not pass its check in 3 rounds/)
    assert.match(String(result.answer), /T001 write a\.txt: not done \(CHECK_FAILED\)/)
    assert.equal(model.visited.includes('check'), false, 'the runtime refuted every claim without asking the model')
  })

  test('O3: a todo that is neither completed nor failed is given up, and the agent may end with why', async (t) => {
    const model = pdcaModel(({ behaviour, turn }) => {
      if (behaviour === 'plan') return turn === 0 ? call('todo_add', { title: 'dream' }) : finish('planned')
      return behaviour === 'adjust' ? finish('it cannot be done', 'end') : finish('nothing to say')
    })
    const app = await openApp(t, { model })
    const result = await runTaskIn(app, 'dream', { behaviour: 'plan', max_steps: 40 })
    assert.deepEqual({ status: result.status, error: result.error }, { status: 'failed', error: 'it cannot be done' })
    assert.match(String(result.answer), /T001 dream: not done \(FAILED\)/)
    assert.match(JSON.stringify(model.requests), /T001 is IN_PROGRESS/)
  })

  test('O2: PLAN answers at once when it can, and cannot change the workspace however it tries', async (t) => {
    const attempts = [
      call('bash', { command: 'echo x > bash.txt; ln -s $PWD/made.txt link; echo x > link; git init -q . ; ls' }),
      call('create_file', { path: 'created.txt', content: 'x' }),
      call('edit_file', { path: 'inbox/a.txt', old: 'one', new: 'eins' }),
      call('git', { args: ['commit', '--allow-empty', '-m', 'x'] }),
      finish('nothing could be changed'),
    ]
    const model = pdcaModel(({ turn }) => attempts[turn] ?? finish('over'))
    const app = await openApp(t, { model })
    const workspace = makeInbox(freshFolder(t, 'ws'))
    const result = await runTaskIn(app, TASK, { behaviour: 'plan', workspace })
    assert.equal(result.answer, 'nothing could be changed', `${result.error}`)
    for (const name of ['bash.txt', 'link', 'made.txt', 'created.txt'])
      assert.equal(existsSync(join(result.workspace, name)), false, name)
    assert.equal(readFileSync(join(result.workspace, 'inbox/a.txt'), 'utf8'), 'one two three\n')
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /plan may not change anything/)
  })

  test('O12: a message that arrives in DO is read in the next step, across a change of behaviour', async (t) => {
    const seen: string[] = []
    const model = pdcaModel(({ behaviour, turn, request }) => {
      if (JSON.stringify(request.messages).includes('use tabs')) seen.push(behaviour)
      if (behaviour === 'plan') return turn === 0 ? call('todo_add', { title: 'work' }) : finish('planned')
      if (behaviour === 'do') return turn === 0 ? call('todo_done', { todo: 'T001', reason: 'x' }) : finish('done')
      return turn === 0 ? call('todo_pass', { todo: 'T001', reason: 'x' }) : finish('all done')
    })
    const app = await openApp(t, { model })
    let sent = false
    app.context.listen((progress) => {
      if (sent || progress.kind !== 'event' || progress.event.stage !== 'action_results') return
      if (!JSON.stringify(progress.event.payload).includes('todo_done')) return
      sent = true
      void app.run('send', { session: progress.event.session_id, text: 'use tabs' })
    })
    const result = await runTaskIn(app, 'work', { behaviour: 'plan' })
    assert.equal(result.status, 'done', `${result.error}`)
    assert.ok(seen.length > 0, 'the message was read')
    assert.match(String(result.answer), /asserted, not proved/)
  })
})
