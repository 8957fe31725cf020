import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { definePlugin } from '../../src/ports/plugin.ts'
import { isSleepRunning, waitUntil } from '../support/open-app.ts'
import { observationsOf, openSourceApp, payloadsOf, waitForEvents } from '../support/source-app.ts'

const sh = (script: string) => ({ type: 'process', command: ['/bin/sh', '-c', script] })

describe('a process', () => {
  test('K7: its exit is an event; its output only if asked for', async (t) => {
    const app = await openSourceApp(t, { job: sh('echo out; exit 3') })
    await waitForEvents(app, 1)
    assert.deepEqual(observationsOf(app), [
      { type: 'system_event', name: 'process_exited', payload: { code: 3, signal: null } },
    ])
    await waitUntil(async () => (await app.state('job')).state === 'ended')
  })

  test('K7: output lines are events, or the latest one is a slice', async (t) => {
    const app = await openSourceApp(t, {
      lines: { ...sh('echo one; echo two; printf three'), output: 'events' },
      last: { ...sh('echo first; echo last'), output: 'slice' },
    })
    await waitForEvents(app, 5)
    const printed = payloadsOf(app).filter((payload) => Object.hasOwn(payload as object, 'line'))
    assert.deepEqual(printed, [{ line: 'one' }, { line: 'two' }, { line: 'three' }])
    assert.equal(app.slices.get('last_line'), 'last')
  })

  test('K7: it runs again if asked for, and dies with the program, descendants included', async (t) => {
    const app = await openSourceApp(t, {
      again: { ...sh('exit 1'), restart: 'always' },
      long: sh('sleep 7301 & sleep 7301'),
    })
    await waitForEvents(app, 2)
    await waitUntil(() => isSleepRunning('7301'))
    await app.stop()
    assert.equal(isSleepRunning('7301'), false)
    assert.ok(observationsOf(app).every((event) => event.type === 'system_event' && event.name === 'process_exited'))
  })

  test('K7: the exit of a watched process is reported, even if it came while no runtime ran', async (t) => {
    const watched = spawn('sleep', ['7302'])
    t.after(() => watched.kill('SIGKILL'))
    const sources = { theirs: { type: 'process', pid: watched.pid } }
    const first = await openSourceApp(t, sources)
    await waitUntil(async () => (await first.app.service('store').setting('source:theirs')) !== null)
    await first.stop()
    assert.deepEqual(first.heard, [])
    const exited = once(watched, 'exit')
    watched.kill('SIGKILL')
    await exited
    const second = await openSourceApp(t, sources, { before: first })
    await waitForEvents(second, 1)
    assert.deepEqual(payloadsOf(second), [{ pid: watched.pid, code: null, signal: null }])
  })

  test('K7: a command that does not exist fails with a reason', async (t) => {
    const app = await openSourceApp(t, { none: { type: 'process', command: ['no-such-program'] } })
    await waitUntil(async () => (await app.state('none')).state === 'failed')
    assert.match(String((await app.state('none')).why), /no-such-program cannot be started/)
  })

  test('K7: a line that is cut within a character is still an event', async (t) => {
    const script =
      "head -c 3999 /dev/zero | tr '\\0' x; echo '😀 tail'; head -c 3999 /dev/zero | tr '\\0' y; printf '😀'"
    const app = await openSourceApp(t, { job: { ...sh(script), output: 'events' } })
    await waitForEvents(app, 3)
    assert.deepEqual(payloadsOf(app).slice(0, 2), [
      { line: `${'x'.repeat(3999)}\ufffd` },
      { line: `${'y'.repeat(3999)}\ufffd` },
    ])
    assert.equal((await app.state('job')).refused, 0)
  })

  test('K7: stopped while the bus is full and the process goes on, it leaves no unhandled rejection', async (t) => {
    const unhandled: unknown[] = []
    const note = (thrown: unknown): void => void unhandled.push(thrown)
    process.on('unhandledRejection', note)
    t.after(() => process.off('unhandledRejection', note))
    // It outlives SIGTERM, so the read fails before the exit.
    const script = "trap '' TERM; while :; do echo line; sleep 0.02; done"
    const app = await openSourceApp(t, { job: { ...sh(script), output: 'events' } })
    app.full = true
    await waitUntil(async () => (await app.state('job')).state === 'waiting')
    await app.stop()
    assert.deepEqual(unhandled, [])
  })

  test('K7: a failed read ends a process that would go on, and is reported', async (t) => {
    const plugin = definePlugin({
      ...{ name: 'breaking', needs: ['bus'] },
      setup: (host) => void Object.assign(host.get('bus'), { publish: () => Promise.reject(new Error('bus broke')) }),
    })
    const app = await openSourceApp(
      t,
      { job: { ...sh('echo line; sleep 7304'), output: 'events' } },
      { plugins: [plugin] },
    )
    await waitUntil(async () => (await app.state('job')).state === 'failed')
    assert.match(String((await app.state('job')).why), /bus broke; next attempt/)
  })
})

describe('lines of the standard input', () => {
  test('K7: each line is a message, the unfinished line a slice; the end ends the source', async (t) => {
    const input = new PassThrough()
    const app = await openSourceApp(t, { typed: { type: 'lines' } }, { input: () => input })
    input.write('first li')
    await waitUntil(() => app.slices.get('unfinished_line') === 'first li')
    input.write('ne\n\nsecond 你')
    await waitUntil(() => app.slices.get('unfinished_line') === 'second 你')
    assert.deepEqual(payloadsOf(app), ['first line'])
    input.write(Buffer.from('好').subarray(0, 1))
    input.end(Buffer.concat([Buffer.from('好').subarray(1), Buffer.from('\r\nlast')]))
    await waitForEvents(app, 3)
    assert.deepEqual(payloadsOf(app), ['first line', 'second 你好', 'last'])
    await waitUntil(async () => (await app.state('typed')).state === 'ended')
    assert.equal(app.slices.get('unfinished_line'), '')
  })

  test('K7: of a long unfinished line the slice has the end; a line cut within a character is a message', async (t) => {
    const input = new PassThrough()
    const app = await openSourceApp(t, { typed: { type: 'lines' } }, { input: () => input })
    const start = `${'x'.repeat(28_000)}😀${'y'.repeat(1999)}`
    input.write(start)
    await waitUntil(() => app.slices.has('unfinished_line'))
    assert.equal(app.slices.get('unfinished_line'), `\ufffd${'y'.repeat(1999)}`)
    const more = 'z'.repeat(64 * 1024 - 1 - start.length)
    input.write(`${more}😀 tail\nnext\n`)
    await waitForEvents(app, 2)
    assert.deepEqual(payloadsOf(app), [`${start}${more}\ufffd`, 'next'])
    const { state, refused } = await app.state('typed')
    assert.deepEqual({ state, refused }, { state: 'running', refused: 0 })
  })

  test('K7: a full bus stops the reading; a terminal is read only if the owner says so', async (t) => {
    const input = new PassThrough({ highWaterMark: 10 })
    const terminal = Object.assign(new PassThrough(), { isTTY: true })
    const app = await openSourceApp(t, { typed: { type: 'lines' } }, { input: () => input })
    app.full = true
    for (let i = 0; i < 5; i += 1) input.write(`line ${i}\n`)
    await waitUntil(async () => (await app.state('typed')).state === 'waiting')
    assert.ok(input.writableLength > 0, 'nothing more is read')
    app.full = false
    await waitForEvents(app, 5)
    const other = await openSourceApp(t, { typed: { type: 'lines' } }, { input: () => terminal })
    await waitUntil(async () => (await other.state('typed')).state === 'failed')
    assert.match(String((await other.state('typed')).why), /is a terminal.*terminal: true/)
  })
})
