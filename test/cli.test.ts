import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Script } from '../src/testing/provider-server.ts'
import { MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { createHome, startKernelIn, tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

const WAITING_SCRIPT: Script = [{ calls: [{ tool: 'wait', args: { for: 'message' } }] }, { text: 'thank you' }]

describe('exit codes', () => {
  test('run exits 0 with an answer, 3 when parked, else 1; stdout has the answer, stderr the rest', async (t) => {
    const done = await tireless(await createHome(t, [{ text: 'forty-two' }]), 'run', 'think')
    assert.deepEqual([done.exit, done.stdout], [0, 'forty-two\n'])
    assert.match(done.stderr, /asking local\/test/)
    const parked = await tirelessJson(await createHome(t, WAITING_SCRIPT), 'run', 'wait for me')
    assert.deepEqual([parked.exit, parked.status, parked.answer], [3, 'waiting', null])
    const failed = await tirelessJson(await createHome(t, [{ text: 'x', faults: ['401'] }]), 'run', 'try')
    assert.deepEqual([failed.exit, failed.status, failed.failure_class], [1, 'failed', 'provider'])
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
    const failed = await tirelessJson(home, 'enqueue')
    assert.deepEqual(failed, {
      exit: 2,
      error: { code: 'usage', message: "required option '--prompt <string>' not specified" },
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
    assert.deepEqual([status, workspace.startsWith(home)], ['done', true])
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
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: { schedule: "*/5 * * * *" }\nresidents: []\n')
    const good = await tirelessJson(home, 'config', 'check')
    assert.deepEqual([good.exit, good.unused], [0, ['residents']])
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
      [first.exit, first.duplicate, duplicate.duplicate, duplicate.dispatch_id],
      [0, false, true, first.dispatch_id],
    )
    assert.equal(((await tirelessJson(home, 'status')).queue as { pending: number }).pending, 1)
    const started = await tirelessJson(home, 'start', '--until-idle')
    assert.deepEqual([started.exit, (started.queue as { done: number }).done], [0, 1])
    const shown = await tirelessJson(home, 'queue', 'show', String(first.dispatch_id))
    assert.deepEqual(
      [shown.status, shown.prompt, shown.priority, shown.attempts, shown.result],
      ['done', 'make a.txt', 7, 1, 'made a.txt'],
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
          'approvals',
          'degraded',
          'health',
          'kernel',
          'queue',
          'residents',
          'sessions',
          'spend',
          'unknowns',
          'workers',
        ],
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
    assert.match(cycles, /^cycle_id .* why\nrun-\S+ +manual +20\S+ +failed +1 +0 +1 +0 +-\n$/)
    const { stdout: models } = await tireless(home, 'models', 'list')
    assert.match(
      models,
      /^id +key +price +problem\nlocal\/test +none +\$0 in, \$0 out +-\n[\s\S]*\ndefault: local\/test/,
    )
    const [session] = (await tirelessJson<{ items: { session_id: string }[] }>(home, 'sessions', 'list')).items
    const listed = (await tireless(home, 'sessions', 'list')).stdout
    assert.ok(session && listed.includes(session.session_id), 'ids are printed in full: the next command needs them')
  })
})

describe('while start is running', () => {
  test('a second start exits with 75 and names the holder; other commands go through the holder', async (t) => {
    const home = await createHome(t, WAITING_SCRIPT)
    const holder = await startKernelIn(t, home)
    const refused = await tireless(home, 'start', '--until-idle')
    assert.equal(refused.exit, 75)
    assert.match(refused.stderr, new RegExp(`process ${holder.pid} \\(start`))

    const parked = await tirelessJson(home, 'run', 'wait for me')
    assert.deepEqual([parked.exit, parked.status], [3, 'waiting'])
    const sent = await tirelessJson(home, 'send', 'here I am', '--session', String(parked.session_id))
    assert.equal(sent.exit, 0)
    await waitUntil(
      async () => (await tirelessJson(home, 'queue', 'show', String(parked.dispatch_id))).status === 'done',
    )
    const queued = await tirelessJson(home, 'enqueue', '--prompt', 'another one')
    await waitUntil(
      async () => (await tirelessJson(home, 'queue', 'show', String(queued.dispatch_id))).status === 'waiting',
    )

    holder.kill('SIGTERM')
    assert.equal(await waitForExit(holder), 0, 'SIGTERM: exit 0')
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0, 'the home is free')
  })

  test('run shows the progress of its own run only', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'echo working' } }] },
      { text: 'done' },
    ])
    await startKernelIn(t, home)
    const result = await tireless(home, 'run', 'work')
    assert.deepEqual([result.exit, result.stdout], [0, 'done\n'])
    assert.match(result.stderr, /bash .*echo working/)
  })

  test('case 129: after SIGKILL the next start takes over at once and finishes the work', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'touch begun; sleep 600' } }] },
      { text: 'after all' },
    ])
    const holder = await startKernelIn(t, home)
    const { dispatch_id, session_id } = await tirelessJson(home, 'enqueue', '--prompt', 'long')
    await waitUntil(() => existsSync(join(home, 'workspaces', String(session_id), 'begun')))
    holder.kill('SIGKILL')
    await waitForExit(holder)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    const dispatch = await tirelessJson(home, 'queue', 'show', String(dispatch_id))
    assert.deepEqual([dispatch.status, dispatch.result], ['done', 'after all'])
  })

  test('SIGTERM, then SIGINT, during a long command kills it and leaves the dispatch pending', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'echo $$ > pid.txt; sleep 600' } }] },
      { text: 'x' },
    ])
    const holder = await startKernelIn(t, home)
    const { dispatch_id, session_id } = await tirelessJson(home, 'enqueue', '--prompt', 'long')
    const pidFile = join(home, 'workspaces', String(session_id), 'pid.txt')
    await waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    const exit = waitForExit(holder)
    // Two signals of one kind may be merged into one by the operating system, so two kinds are sent.
    holder.kill('SIGTERM')
    holder.kill('SIGINT')
    assert.equal(await exit, 0)
    assert.throws(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0), 'the command has ended')
    assert.equal((await tirelessJson(home, 'queue', 'show', String(dispatch_id))).status, 'pending')
  })

  test('20 commands at once on one home all succeed, and every task is queued', async (t) => {
    const home = await createHome(t, [{ text: 'done' }])
    const result = await Promise.all(
      Array.from({ length: 20 }, (_, i) => tirelessJson(home, 'enqueue', '--prompt', `task ${i}`)),
    )
    assert.deepEqual(
      result.map(({ exit }) => exit),
      Array.from({ length: 20 }, () => 0),
    )
    assert.equal(((await tirelessJson(home, 'status')).queue as { pending: number }).pending, 20)
  })
})

describe('run --workspace', () => {
  const script: Script = [
    { calls: [{ tool: 'create_file', args: { path: 'new.txt', content: 'new' } }] },
    { text: 'done' },
  ]
  const git = (folder: string, ...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args])

  test('an empty folder is used in place; a missing one is created', async (t) => {
    const home = await createHome(t, script)
    const folder = join(freshFolder(t, 'work'), 'deep', 'er')
    assert.equal((await tireless(home, 'run', 'x', '--workspace', folder)).exit, 0)
    assert.equal(readFileSync(join(folder, 'new.txt'), 'utf8'), 'new')
  })

  test('a clean git repository is used in place; one with changes gets a worktree and stays unchanged', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'repo')
    writeFileSync(join(folder, 'old.txt'), 'old')
    await git(folder, 'init', '-q')
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '-qm', 'before')
    assert.equal((await tireless(home, 'run', 'x', '--workspace', folder)).exit, 0)
    assert.ok(existsSync(join(folder, 'new.txt')))
    await git(folder, 'clean', '-qfd')
    writeFileSync(join(folder, 'old.txt'), 'edited and not committed')
    const inWorktree = await tirelessJson(home, 'run', 'x', '--workspace', folder)
    assert.equal(inWorktree.exit, 0)
    assert.notEqual(inWorktree.workspace, folder)
    assert.equal(readFileSync(join(String(inWorktree.workspace), 'old.txt'), 'utf8'), 'old')
    assert.ok(existsSync(join(String(inWorktree.workspace), 'new.txt')))
    assert.equal(existsSync(join(folder, 'new.txt')), false)
    assert.equal(readFileSync(join(folder, 'old.txt'), 'utf8'), 'edited and not committed')
  })

  test('a folder with files but no git, or the home itself, is refused; nothing is queued', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'work')
    writeFileSync(join(folder, 'precious.txt'), 'mine')
    const refused = await tireless(home, 'run', 'x', '--workspace', folder)
    assert.equal(refused.exit, 2)
    assert.match(refused.stderr, /git init/)
    mkdirSync(join(home, 'inside'))
    assert.equal((await tireless(home, 'run', 'x', '--workspace', join(home, 'inside'))).exit, 2)
    assert.equal((await tireless(home, 'run', 'x', '--workspace', home)).exit, 2)
    assert.deepEqual((await tirelessJson(home, 'queue', 'list')).items, [])
  })

  test('a repository whose configuration would run programs runs none of them', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'repo')
    await git(folder, 'init', '-q')
    writeFileSync(join(folder, '.gitattributes'), '* filter=trap\n')
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '-qm', 'before')
    writeFileSync(join(folder, 'touched.txt'), 'x')
    const trap = join(home, 'trapped')
    await git(folder, 'config', 'core.fsmonitor', `touch ${trap}; false`)
    await git(folder, 'config', 'filter.trap.smudge', `touch ${trap}; cat`)
    writeFileSync(join(folder, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 })
    assert.equal((await tireless(home, 'run', 'x', '--workspace', folder)).exit, 0)
    assert.equal(existsSync(trap), false)
  })
})
