import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import { freshFolder } from '../support/open-app.ts'

async function outputOf(t: TestContext, example: string): Promise<string> {
  const file = join(import.meta.dirname, '../../examples', example)
  const result = await run('env', [`TIRELESS_HOME=${freshFolder(t)}`, process.execPath, ...NODE_FLAGS, file])
  assert.equal(result.exit, 0, result.stderr)
  return result.stdout
}

test('examples/03: comparing parsers and memories shows divergence, steps, cost and answer', async (t) => {
  const stdout = await outputOf(t, '03-compare.ts')
  assert.deepEqual(
    stdout
      .trim()
      .replace(/\d\.\d{4} USD/g, '… USD')
      .split('\n'),
    [
      '{"parser":"json"} differs first at step 1, DECIDE',
      '  31 steps, … USD: The key: 3',
      '  16 steps, … USD: The key: 3',
      '{"memory":"window"} differs first at step 31, DECIDE',
      '  31 steps, … USD: The key: 3',
      '  31 steps, … USD: The key: I forgot where',
    ],
  )
})

test('examples/04: a pure call is retried under one key; a slow call is stopped at its time limit', async (t) => {
  assert.deepEqual((await outputOf(t, '04-tools.ts')).trim().split('\n'), [
    'dig timed_out stopped after its time limit of 50 ms; its result was: tool_failed: digging was stopped',
    'weather ok sunny in Bern',
    'A small hole, and a sunny day. One key: true, tried 3 times.',
  ])
})

test('examples/05: recall finds a fact by meaning, without a common word', async (t) => {
  assert.equal((await outputOf(t, '05-embeddings.ts')).trim(), 'parking')
})

test('K7, examples/06: a resident hears a signed HTTP message, and then of a new file', async (t) => {
  assert.deepEqual((await outputOf(t, '06-resident.ts')).trim().split('\n'), [
    'keeper query Please tell me: room',
    'keeper noop',
  ])
})
