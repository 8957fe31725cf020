/** The process of a sandboxed plugin: what was sent to it, what it says too late, and reviews beside it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluate, hostileHome, hostileManifest, openHostile } from '../support/hostile-plugin.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'

const ONCE = { effects: { evaluate: { recovery: 'once', reach: 'none' } } }

test('only a call that was sent and got no answer has an unknown outcome', { skip }, async (t) => {
  const app = await openHostile(t, hostileHome(t, hostileManifest(ONCE)))
  await evaluate(app, "fs.writeFileSync('broken', '')")
  assert.match(await evaluate(app, 'process.exit(3)'), /^unknown: .*exited with code 3/)
  const unsent = { code: 'tool_failed', message: /plugin greeter: its process exited with code 9/ }
  await assert.rejects(evaluate(app, '7'), unsent)
  await assert.rejects(evaluate(app, '7'), { ...unsent, message: /it is started again in 1 seconds/ })
  const cancelled = { code: 'aborted', message: /plugin greeter: the call was cancelled before it was sent/ }
  await assert.rejects(evaluate(app, '7', AbortSignal.abort()), cancelled)
})

test('a call that is cancelled while the process starts was not sent', { skip }, async (t) => {
  const app = await openHostile(t, hostileHome(t, hostileManifest(ONCE)))
  await evaluate(app, "fs.writeFileSync('hang', '')")
  assert.match(await evaluate(app, 'process.exit(3)'), /^unknown: /)
  const over = new AbortController()
  const call = evaluate(app, '7', over.signal)
  over.abort()
  await assert.rejects(call, { code: 'aborted', message: /cancelled before it was sent/ })
})

test('what a call still says after its end is dropped, and its process goes on', { skip }, async (t) => {
  const app = await openHostile(t)
  await evaluate(app, "{ setTimeout(() => say('late'), 1); globalThis.mark = 6 }")
  const late = '{ await new Promise((resolve) => setTimeout(resolve, 20)); return globalThis.mark }'
  assert.equal(await evaluate(app, late), '6')
  const ask = JSON.stringify({ type: 'ask', id: 1, ask: 1, method: 'publish' })
  await evaluate(app, `fs.writeSync(1, ${JSON.stringify(`${ask}\n`)})`)
  assert.equal(await evaluate(app, 'globalThis.mark'), '6')
  const never = JSON.stringify({ type: 'event', id: 999, event: 'say', value: 'x' })
  const lie = `{ fs.writeSync(1, ${JSON.stringify(`${never}\n`)}); await new Promise(() => {}) }`
  await assert.rejects(evaluate(app, lie), /it answered for a call that is not open: 999/)
})

test('plugins approve, add and list beside a running plugin leave its process alone', { skip }, async (t) => {
  const app = await openHostile(t)
  await evaluate(app, 'globalThis.mark = 6')
  const waiting = evaluate(app, 'new Promise((resolve) => { globalThis.finish = resolve })')
  await app.run('plugins approve', { name: 'greeter', yes: true })
  await app.run('plugins list', {})
  assert.equal(await evaluate(app, 'globalThis.mark'), '6')
  await evaluate(app, 'globalThis.finish(7)')
  assert.equal(await waiting, '7')
})
