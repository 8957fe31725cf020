/**
 * An unhandled rejection or exception of a tool or plugin does not end the process: its call fails, the log and health
 * report it. Real processes.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NODE_FLAGS, run } from './crash/kills.ts'
import { freshFolder } from './support/open-app.ts'

const FAULTS = [
  'rejects_later',
  'rejects_at_once',
  'rejects_with_nothing',
  'throws_in_a_timer',
  'throws_in_a_microtask',
  'emits_an_error',
  'throws_what_cannot_be_read',
]

test('I9: an unhandled error fails its call, and is in log and health; the kernel runs on', async (t) => {
  const home = freshFolder(t)
  const main = join(import.meta.dirname, 'support/unhandled-errors-main.ts')
  const { exit, stdout, stderr } = await run(process.execPath, [...NODE_FLAGS, main, home])
  assert.equal(exit, 0, stderr)
  const { results, health, degraded } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
    results: { status: string; content: string }[]
    health: { ok: boolean; reasons: string[] }
    degraded: string[]
  }
  assert.deepEqual(
    results.map(({ status }) => status),
    [...FAULTS.map(() => 'error'), 'ok'],
  )
  for (const [i, name] of FAULTS.entries())
    if (!/nothing|cannot/.test(name)) assert.match(results[i]?.content ?? '', new RegExp(`fault ${name}`))
  assert.equal(health.ok, false, 'an error outside of any call must make health fail')
  assert.match(health.reasons.join('\n'), /plugin careless: fault of a plugin/)
  assert.match(degraded.join('\n'), /tool is_over: fault is_over/)
  const log = readdirSync(join(home, 'logs'))
    .map((name) => readFileSync(join(home, 'logs', name), 'utf8'))
    .join('')
  for (const text of ['fault of a plugin', 'fault is_over', 'fault rejects_later', 'fault throws_in_a_timer'])
    assert.ok(log.includes(text), `${text} is not in the log`)
})

test('an unhandled error of the embedding program ends it as usual', async (t) => {
  const home = freshFolder(t)
  const app = JSON.stringify(join(import.meta.dirname, '../src/app.ts'))
  const code = `const { createApp } = await import(${app}); await createApp({ home: ${JSON.stringify(home)} });
    setTimeout(() => Promise.reject(new Error('not ours')), 1);
    setTimeout(() => { console.log('alive'); process.exit(0) }, 2000)`
  const { exit, stdout, stderr } = await run(process.execPath, [...NODE_FLAGS, '--input-type=module', '-e', code])
  assert.notEqual(exit, 0)
  assert.equal(stdout, '')
  assert.match(stderr, /not ours/)
})
