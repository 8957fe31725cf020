import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import { freshFolder } from '../support/open-app.ts'

async function output(t: TestContext, example: string): Promise<string> {
  const file = join(import.meta.dirname, '../../examples', example)
  const said = await run('env', [`TIRELESS_HOME=${freshFolder(t)}`, process.execPath, ...NODE_FLAGS, file])
  assert.equal(said.exit, 0, said.stderr)
  return said.stdout
}

test('examples/03: only the parser swapped, then only the memory: where the runs part, their steps, cost and outcome', async (t) => {
  const said = await output(t, '03-compare.ts')
  assert.deepEqual(
    said
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

test('examples/04: tried again under one key where that is harmless, stopped when its time is up', async (t) => {
  assert.deepEqual((await output(t, '04-tools.ts')).trim().split('\n'), [
    'dig timed_out stopped after its time limit of 50 ms; its result was: tool_failed: digging was stopped',
    'weather ok sunny in Bern',
    'A small hole, and a sunny day. One key: true, tried 3 times.',
  ])
})

test('examples/05: what is remembered is found by its meaning, where no word is the same', async (t) => {
  assert.equal((await output(t, '05-embeddings.ts')).trim(), 'parking')
})
