/** A sandboxed plugin that sends too much, or nothing any more: real processes, and a clock that the test advances. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { evaluate, HOSTILE_CODE, hostileHome, hostileManifest, openHostile } from '../support/hostile-plugin.ts'
import { advanceUntilDone, freshFolder, openApp, readLogs } from '../support/open-app.ts'
import { writeFiles } from '../support/plugin-homes.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'

test('of a flood of stderr and log lines, the log has the first lines, and how many were dropped', {
  skip,
}, async (t) => {
  const clock = new FakeClock()
  const app = await openHostile(t, hostileHome(t), { clock })
  const line = JSON.stringify({ type: 'log', text: 'x'.repeat(5000) })
  await evaluate(app, `write(${JSON.stringify(`${line}\n`)})`)
  await evaluate(app, "fs.writeSync(2, 'a line\\n'.repeat(5000))")
  // The next answer comes after the lines were read.
  await evaluate(app, '7')
  await clock.advance(1000)
  await evaluate(app, "fs.writeSync(2, 'later\\n')")
  await evaluate(app, '7')
  const written = (await readLogs(app, 1000)).items.filter(({ plugin }) => plugin === 'greeter')
  assert.equal(written.filter(({ message }) => message === 'a line').length, 19)
  assert.deepEqual(
    written.flatMap(({ lines_dropped: dropped }) => dropped ?? []),
    [4981],
  )
  assert.ok(written.every(({ message }) => String(message ?? '').length <= 500))
  assert.equal(written.at(-1)?.message, 'later')
})

test('a process that sends too many messages, bytes or values is ended before they are parsed', { skip }, async (t) => {
  const clock = new FakeClock()
  const app = await openHostile(t, hostileHome(t), { clock })
  const event = (value: string): string => `('{"type":"event","id":1,"event":"say","value":' + ${value} + '}\\n')`
  const cases: readonly (readonly [string, RegExp])[] = [
    ["for (let i = 0; i < 2500; i += 1) say('x')", /more than 2000 messages in a second/],
    [`write(${event("'[' + '[],'.repeat(1e6) + '0]'")})`, /a message with more than 100000 values/],
    [`write(${event("'['.repeat(9000) + ']'.repeat(9000)")})`, /nested deeper than 100 levels/],
    [`write(${event("'[' + '[],'.repeat(9e3) + '0]'")}.repeat(60))`, /more than 500000 values in a second/],
    [
      `for (let i = 0; i < 12; i += 1) write(${event("JSON.stringify('x'.repeat(3e6))")})`,
      /more than 33554432 bytes in a second/,
    ],
  ]
  for (const [code, message] of cases) {
    await assert.rejects(evaluate(app, `{ ${code}; await new Promise(() => {}) }`), message, code)
    await clock.advance(60_000)
    assert.equal(await evaluate(app, '7'), '7', `after ${code}`)
  }
})

test('a process that does not respond for ten seconds is ended; one that only waits is not', { skip }, async (t) => {
  const clock = new FakeClock()
  const app = await openHostile(t, hostileHome(t), { clock })
  const waiting = evaluate(app, 'new Promise((resolve) => { globalThis.finish = resolve })')
  for (let i = 0; i < 5; i += 1) {
    assert.equal(await evaluate(app, '7'), '7')
    await clock.advance(10_000)
  }
  await evaluate(app, 'globalThis.finish(8)')
  assert.equal(await waiting, '8')
  const looping = assert.rejects(evaluate(app, '{ for (;;); }'), /plugin greeter: it did not respond for 10 seconds/)
  await advanceUntilDone(clock, looping)
  assert.equal(await evaluate(app, '7'), '7')
})

test('a sandboxed plugin that hangs while it is loaded is given up after 30 seconds, and harms nothing else', {
  skip,
}, async (t) => {
  const clock = new FakeClock()
  const home = hostileHome(t)
  const app = await openHostile(t, home, { clock })
  await evaluate(app, "fs.writeFileSync('hang', '')")
  await assert.rejects(evaluate(app, 'process.exit(3)'), /exited with code 3/)
  const message = /plugin greeter: it was not ready within 30 seconds/
  await advanceUntilDone(clock, assert.rejects(evaluate(app, '7'), message))
  assert.equal((await app.run('status', {})).kernel.state, 'stopped')
})

test('plugins add gives up a plugin that loops while it is loaded, and changes nothing', { skip }, async (t) => {
  const clock = new FakeClock()
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), 'kernel: { id: k }\n')
  const code = `${HOSTILE_CODE}\nfor (;;);\n`
  writeFiles(join(home, 'plugins/greeter'), { 'tireless-plugin.json': hostileManifest(), 'index.js': code })
  const app = await openApp(t, { home, clock })
  const adding = app.run('plugins add', { source: join(home, 'plugins/greeter'), yes: true })
  const message = /plugin greeter: it was not ready within 30 seconds/
  await advanceUntilDone(clock, assert.rejects(adding, message))
  assert.deepEqual((await app.run('plugins list', {})).items, [])
})
