import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { shortId } from '../src/domain/short-id.ts'
import { MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { createHome, tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'
import { WAITING_SCRIPT } from './support/waiting-script.ts'

describe('exit codes', () => {
  test('run exits 0 with an answer, 3 when parked, else 1; stdout has the answer, stderr the rest', async (t) => {
    const done = await tireless(await createHome(t, [{ text: 'forty-two' }]), 'run', 'think')
    assert.deepEqual({ exit: done.exit, stdout: done.stdout }, { exit: 0, stdout: 'forty-two\n' })
    assert.match(done.stderr, /asking local\/test/)
    const parked = await tirelessJson(await createHome(t, WAITING_SCRIPT), 'run', 'wait for me')
    assert.deepEqual(
      { exit: parked.exit, status: parked.status, answer: parked.answer },
      { exit: 3, status: 'waiting', answer: null },
    )
    const failed = await tirelessJson(await createHome(t, [{ text: 'x', faults: ['401'] }]), 'run', 'try')
    assert.deepEqual(
      { exit: failed.exit, status: failed.status, failure_class: failed.failure_class },
      { exit: 1, status: 'failed', failure_class: 'provider' },
    )
  })

  test('2 for wrong usage, with an explanation on stderr', async (t) => {
    const home = freshFolder(t)
    for (const args of [
      ['fly'],
      ['run'],
      ['enqueue'],
      ['queue', 'list', '--status', 'flying'],
      ['queue', 'list', '--limit', 'many'],
      ['status', '--loud'],
      ['enqueue', '--prompt', 'x', '--at', 'whenever'],
      ['run', '   '],
    ]) {
      const result = await tireless(home, ...args)
      assert.equal(result.exit, 2, args.join(' '))
      assert.notEqual(result.stderr, '', args.join(' '))
    }
    const failed = await tirelessJson(home, 'trace', 'export', 'last')
    assert.deepEqual(failed, {
      exit: 2,
      error: { code: 'usage', message: "required option '--html <string>' not specified" },
    })
  })

  test('--home, --config and --json are accepted before the command, too', async (t) => {
    const home = freshFolder(t, 'a home')
    const result = await run(process.execPath, [
      ...NODE_FLAGS,
      MAIN,
      '--json',
      `--home=${home}`,
      'run',
      '--',
      '--list the files',
    ])
    assert.equal(result.exit, 0)
    const { status, workspace } = JSON.parse(result.stdout)
    assert.deepEqual({ status, startsWithHome: workspace.startsWith(home) }, { status: 'done', startsWithHome: true })
  })

  test('1 for a missing record, with the command that lists them; as JSON too', async (t) => {
    const home = freshFolder(t)
    const missing = await tirelessJson(home, 'queue', 'show', 'nobody')
    assert.equal(missing.exit, 1)
    assert.deepEqual((missing.error as { code: string }).code, 'not_found')
    assert.match((await tireless(home, 'sessions', 'show', 'nobody')).stderr, /sessions list/)
    assert.match(
      (await tireless(home, 'enqueue', '--prompt', 'x', '--agent', 'ghost')).stderr,
      /no such agent.*ghost.*default/,
    )
  })

  test('config check: 0 with the unused keys listed; 1 with every problem named', async (t) => {
    const home = freshFolder(t)
    writeFileSync(
      join(home, 'tireless.yaml'),
      'kernel: { schedule: "*/5 * * * *" }\nchannels: { slack: { app_id: x } }\n',
    )
    const good = await tirelessJson(home, 'config', 'check')
    assert.deepEqual({ exit: good.exit, unused: good.unused }, { exit: 0, unused: ['channels.slack'] })
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: { max_concurent: 5 }\nbudget: { per_day_usd: lots }\n')
    const bad = await tireless(home, 'config', 'check')
    assert.equal(bad.exit, 1)
    assert.match(bad.stderr, /tireless\.yaml:1:.*max_concurent.*max_concurrent/)
    assert.match(bad.stderr, /tireless\.yaml:2:.*per_day_usd/)
    assert.equal((await tireless(home, 'run', 'x')).exit, 1, 'nothing runs with an invalid configuration')
  })
})

describe('enqueue, start --until-idle, status, lists', () => {
  test('start works through enqueued tasks; the lists show them; a repeated key is a duplicate', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'create_file', args: { path: 'a.txt', content: 'hi' } }] },
      { text: 'made a.txt' },
    ])
    const first = await tirelessJson(home, 'enqueue', '--prompt', 'make a.txt', '--key', 'k1', '--priority', '7')
    const duplicate = await tirelessJson(home, 'enqueue', '--prompt', 'make a.txt', '--key', 'k1')
    assert.deepEqual(
      {
        firstExit: first.exit,
        firstDuplicate: first.duplicate,
        duplicateDuplicate: duplicate.duplicate,
        duplicateDispatch_id: duplicate.dispatch_id,
      },
      { firstExit: 0, firstDuplicate: false, duplicateDuplicate: true, duplicateDispatch_id: first.dispatch_id },
    )
    assert.equal(((await tirelessJson(home, 'status')).queue as { pending: number }).pending, 1)
    const started = await tirelessJson(home, 'start', '--until-idle')
    assert.deepEqual({ exit: started.exit, done: (started.queue as { done: number }).done }, { exit: 0, done: 1 })
    const shown = await tirelessJson(home, 'queue', 'show', String(first.dispatch_id))
    assert.deepEqual(
      {
        status: shown.status,
        prompt: shown.prompt,
        priority: shown.priority,
        attempts: shown.attempts,
        result: shown.result,
      },
      { status: 'done', prompt: 'make a.txt', priority: 7, attempts: 1, result: 'made a.txt' },
    )
    for (const key of [
      'dispatch_id',
      'kernel_id',
      'cycle_id',
      'agent_id',
      'session_id',
      'metadata',
      'lease_owner',
      'lease_until',
      'error',
      'failure_class',
      'created_at',
      'updated_at',
    ])
      assert.ok(key in shown, key)
    const session = await tirelessJson(home, 'sessions', 'show', String(shown.session_id))
    assert.equal(readFileSync(join(String(session.workspace), 'a.txt'), 'utf8'), 'hi')
    assert.equal(((await tirelessJson(home, 'sessions', 'list')).items as unknown[]).length, 1)
    assert.deepEqual((await tirelessJson(home, 'unknowns', 'list')).items, [])
  })

  test('status has every key of the contract, also in an empty home', async (t) => {
    const status = await tirelessJson(freshFolder(t), 'status')
    assert.deepEqual(
      Object.keys(status)
        .filter((key) => key !== 'exit')
        .toSorted(),
      [
        ...[
          'agents',
          'approvals',
          'channels',
          'degraded',
          'health',
          'kernel',
          'model',
          'needs',
          'page',
          'questions',
          'queue',
        ],
        ...['residents', 'runs', 'sessions', 'spend', 'unfinished_undos', 'unknowns', 'workers'],
      ],
    )
    assert.deepEqual(Object.keys(status.kernel as object), ['id', 'state', 'next_beat', 'last_cycle'])
  })

  test('lists and status are readable text without --json', async (t) => {
    const home = await createHome(t, [{ text: 'done' }])
    mkdirSync(join(home, 'agents/somebody-with-a-name'), { recursive: true })
    writeFileSync(join(home, 'agents/somebody-with-a-name/agent.yaml'), '{ prompt: x, model: nobody/there }\n')
    await tireless(home, 'run', 'something', '--agent', 'somebody-with-a-name', '--model', 'local/test')
    for (const args of [
      ['status'],
      ['queue', 'list'],
      ['sessions', 'list'],
      ['unknowns', 'list'],
      ['config', 'check'],
    ]) {
      const result = await tireless(home, ...args)
      assert.equal(result.exit, 0)
      assert.notEqual(result.stdout.trim(), '')
    }
    assert.match((await tireless(home, 'queue', 'list')).stdout, /something/)
    assert.equal((await tireless(home, 'grants', 'list')).stdout, 'none\n')
    await tireless(home, 'once')
    const { stdout: cycles } = await tireless(home, 'cycles', 'list')
    assert.match(cycles, /^cycle_id .* why\n[0-9a-f]{8} +manual +(now|\d+ min ago) +failed +1 +0 +0 +1 +0 +-\n$/)
    const { stdout: models } = await tireless(home, 'models', 'list')
    assert.match(
      models,
      /^id +key +price per million tokens\nlocal\/test +none +\$0 in, \$0 out\n[\s\S]*\ndefault: local\/test/,
    )
    assert.match(models, /\nnobody\/there cannot be used: unknown model/)
    const [session] = (await tirelessJson<{ items: { session_id: string }[] }>(home, 'sessions', 'list')).items
    const listed = (await tireless(home, 'sessions', 'list')).stdout
    assert.ok(
      session && listed.includes(shortId(session.session_id)),
      'ids are printed so that the next command takes them',
    )
  })
})
