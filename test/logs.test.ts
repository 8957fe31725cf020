/** The log of a home: what it contains, its limits, and how it is followed. */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openLog, openLogReader } from '../src/adapters/log/log.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import {
  createHome,
  startKernelIn,
  startProvider,
  startTireless,
  tireless,
  tirelessJson,
  waitForExit,
} from './support/command-line.ts'
import { assertNoSecretIn, homeWithSecrets, SECRETS, withKey } from './support/home-with-secrets.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

interface LogOutput {
  readonly items: readonly ({ ts: string; level: string; event: string } & Record<string, unknown>)[]
}

/** The log as stored, followed by its decoded values. */
function logIn(home: string): string {
  const log = readFileSync(join(home, 'logs', 'tireless.jsonl'), 'utf8')
  const read = log
    .trim()
    .split('\n')
    .flatMap((line) => Object.values(JSON.parse(line)).map(String))
  return `${log}${read.join('\n')}`
}

describe('logs', () => {
  test('start and end of a run are logged, a failure as an error; -n limits the lines', async (t) => {
    const home = await createHome(t, [{ calls: [{ tool: 'bash', args: { command: 'echo hi' } }] }, { text: 'done' }])
    assert.deepEqual(await tirelessJson(home, 'logs'), { items: [], exit: 0 })
    await tirelessJson(home, 'run', '--behaviour', 'solo', 'work')
    const { items } = await tirelessJson<LogOutput>(home, 'logs')
    const events = items.map(({ level, event }) => `${level} ${event}`)
    assert.deepEqual(events, ['info worker joined', 'info INIT start', 'info END end'])
    assert.ok(items.every(({ ts }) => new Date(ts).toISOString() === ts))
    assert.deepEqual((await tirelessJson<LogOutput>(home, 'logs', '-n', '2')).items, items.slice(-2))
    assert.deepEqual((await tirelessJson<LogOutput>(home, 'logs', '--lines', '0')).items, [])
    assert.match(
      (await tireless(home, 'logs', '--lines', '1')).stdout,
      /^\S+Z info END end .*stop_reason=final answer=done\n$/,
    )

    const failing = await createHome(t, [{ text: 'x', faults: ['401'] }])
    await tirelessJson(failing, 'run', 'try')
    const last = (await tirelessJson<LogOutput>(failing, 'logs')).items.at(-1)
    assert.deepEqual({ level: last?.level, event: last?.event }, { level: 'error', event: 'END end' })
    const file = join(home, 'logs', 'tireless.jsonl')
    assert.deepEqual(
      { file: statSync(file).mode & 0o777, folder: statSync(join(home, 'logs')).mode & 0o777 },
      { file: 0o600, folder: 0o700 },
    )
  })

  test('case 60, case 136: no configured key is in the log, in any encoding; long texts are cut', async (t) => {
    const all = Object.values(SECRETS).join(' ')
    const encoded = Object.values(SECRETS).map((secret) => Buffer.from(secret).toString('base64'))
    const longText = 'word '.repeat(5000)
    const provider = await startProvider(t, [
      { calls: [{ tool: 'create_file', args: { path: 'a.txt', content: `${'x'.repeat(60)}${all} ${encoded}` } }] },
      { calls: [{ tool: 'view_file', args: { path: 'a.txt' } }], text: encoded.toReversed().join(' ') },
      { calls: [{ tool: 'view_file', args: { path: 'a.txt' } }], text: encoded.join(' ') },
      // The cut falls into the middle of a secret.
      {
        calls: [{ tool: 'create_file', args: { path: `${SECRETS.fromVariable}.txt`, content: '' } }],
        text: `${'y'.repeat(110)}${all}`,
      },
      { text: `${all} ${encodeURIComponent(all)} ${longText}` },
    ])
    const home = freshFolder(t)
    homeWithSecrets(home, provider.url)
    const config = join(home, 'tireless.yaml')
    // A configuration with an unsupported channel would be refused.
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^channels:.*\n/m, ''))
    assert.equal((await withKey(home, 'run', `remember ${all}`)).exit, 0)
    const log = logIn(home)
    assertNoSecretIn(log)
    for (const secret of Object.values(SECRETS))
      assert.ok(!log.includes(secret.slice(0, 12)), 'nor the beginning of a secret')
    assert.match(log, /‹secret:ONE_KEY›/)
    for (const line of log.trim().split('\n')) assert.ok(line.length < 1500, line)
  })

  test('case 60, case 136: nor is a key from a file written after the start', async (t) => {
    const home = freshFolder(t)
    const provider = await startProvider(t, [{ text: `it is ${SECRETS.fromFile}` }])
    writeFileSync(
      join(home, 'tireless.yaml'),
      `models:
        default: two/m
        providers:
          two: { type: openai-compatible, base_url: "${provider.url}", api_key_file: late.txt }
      `,
    )
    const app = await openApp(t, { home })
    writeFileSync(join(home, 'late.txt'), SECRETS.fromFile)
    assert.match(JSON.stringify(await app.run('run', { task: 'x' })), /it is ‹secret:models\.providers/)
    assertNoSecretIn(logIn(home))
    assert.match(logIn(home), /it is ‹secret:models\.providers/)
  })

  test('I9, case 101: a full disk or an unwritable folder loses log lines, but no run', async (t) => {
    const full = await createHome(t, [{ text: 'done' }])
    mkdirSync(join(full, 'logs'))
    symlinkSync('/dev/full', join(full, 'logs', 'tireless.jsonl'))
    assert.equal((await tirelessJson(full, 'run', 'x')).exit, 0)
    const unwritable = await createHome(t, [{ text: 'done' }])
    writeFileSync(join(unwritable, 'logs'), 'a file where the folder should be')
    const done = await tireless(unwritable, 'run', 'x')
    assert.deepEqual({ exit: done.exit, stdout: done.stdout }, { exit: 0, stdout: 'done\n' })
    assert.deepEqual(await tirelessJson(unwritable, 'logs'), { items: [], exit: 0 })
  })

  test('lost lines are counted in the next line that can be written; a torn line damages no other', async (t) => {
    const folder = join(freshFolder(t), 'logs')
    const clock = new FakeClock()
    writeFileSync(folder, 'in the way')
    const log = openLog({ folder, clock, redactAndTruncate: (text) => text })
    log.write('info', 'lost', {})
    log.write('info', 'lost', {})
    log.close()
    rmSync(folder)
    mkdirSync(folder)
    writeFileSync(join(folder, 'tireless.jsonl'), '{"ts":"then","level":"info","event":"to')
    log.write('info', 'kept', {})
    log.close()
    const entries = await openLogReader(folder, clock).last(9)
    assert.deepEqual(
      entries.map(({ event, lines }) => ({ event, lines })),
      [
        { event: 'log lines were lost', lines: 2 },
        { event: 'kept', lines: undefined },
      ],
    )
  })

  test('the log is at most five files of a given size, read as one; a follower misses no line', async (t) => {
    const folder = join(freshFolder(t), 'logs')
    const clock = new FakeClock()
    const log = openLog({ folder, clock, redactAndTruncate: (text) => text, maxBytes: 2000 })
    const stop = new AbortController()
    const followed: unknown[] = []
    const following = openLogReader(folder, clock).follow(5, stop.signal, ({ n }) => followed.push(n))
    // The follower has read once and found nothing.
    await waitUntil(() => clock.nextIn !== undefined)
    for (let n = 0; n < 500; n += 1) {
      log.write('info', 'tick', { n })
      if (n % 10 === 9) {
        log.close()
        // It may take several reads: after a rotation the old file is read to its end first.
        await waitUntil(async () => {
          if (clock.nextIn !== undefined) await clock.advance(clock.nextIn)
          return followed.length > n
        })
      }
    }
    stop.abort()
    await following
    assert.deepEqual(
      followed,
      Array.from({ length: 500 }, (_, n) => n),
    )
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'tireless.1.jsonl',
      'tireless.2.jsonl',
      'tireless.3.jsonl',
      'tireless.4.jsonl',
      'tireless.jsonl',
    ])
    for (const name of readdirSync(folder)) assert.ok(statSync(join(folder, name)).size < 4000)
    const last = await openLogReader(folder, clock).last(60)
    assert.deepEqual(
      last.map(({ n }) => n),
      Array.from({ length: 60 }, (_, i) => 440 + i),
    )
  })

  test('--follow prints new lines until it is interrupted, and does not block start', async (t) => {
    const home = await createHome(t, [{ text: 'done' }])
    const follower = startTireless(t, home, 'logs', '-f', '--json')
    const holder = await startKernelIn(t, home)
    await tirelessJson(home, 'run', 'x')
    await waitUntil(() => follower.output().includes('"END end"'))
    for (const line of follower.output().trim().split('\n')) assert.ok(JSON.parse(line).event)
    const textFollower = startTireless(t, home, 'logs', '--follow', '--lines', '1')
    await waitUntil(() => / info END end /.test(textFollower.output()))
    const closedFollower = startTireless(t, home, 'logs', '-f')
    await waitUntil(() => closedFollower.output() !== '')
    closedFollower.stdout?.destroy()
    await tirelessJson(home, 'run', 'y')
    assert.equal(await waitForExit(closedFollower), 0, 'the follower must end when its reader is gone')
    for (const child of [follower, textFollower]) {
      child.kill('SIGINT')
      assert.equal(await waitForExit(child), 0)
    }
    holder.kill('SIGTERM')
    assert.equal(await waitForExit(holder), 0)
  })

  test('a fenced run and a failed commit are logged', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await app.context.store.commit([{ fence: { dispatch_id: 'gone', token: 1 }, ops: [{ op: 'release', now: 1 }] }])
    await app.context.store.close()
    await assert.rejects(app.context.store.commit([{ ops: [{ op: 'promote', now: 1 }] }]))
    await app.close()
    const { items } = await tirelessJson<LogOutput>(home, 'logs')
    assert.deepEqual(
      items.map(({ level, event }) => ({ level, event })),
      [
        { level: 'warn', event: 'run fenced' },
        { level: 'error', event: 'commit failed' },
      ],
    )
    assert.equal(items[0]?.run_id, 'gone')
  })
})
