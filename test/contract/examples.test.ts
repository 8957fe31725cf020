import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProviderServer } from '../../src/testing/provider-server.ts'
import { configFor, NODE_FLAGS, run } from '../crash/kills.ts'
import { freshFolder } from '../support/open-app.ts'

const outputOf = (t: TestContext, example: string): Promise<string> => outputIn(freshFolder(t), example)

async function outputIn(home: string, example: string): Promise<string> {
  const file = join(import.meta.dirname, '../../examples', example)
  const result = await run('env', [`TIRELESS_HOME=${home}`, process.execPath, ...NODE_FLAGS, file])
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

test('examples/07: two tools, a typed answer, and a critic that wants the total', async (t) => {
  const offer = { available: true, euros: 20 }
  const provider = await startProviderServer({
    script: [
      { calls: [{ tool: 'stock', args: { item: 'lamp' } }] },
      { calls: [{ tool: 'price', args: { item: 'lamp' } }] },
      { text: JSON.stringify(offer) },
      { text: JSON.stringify({ ...offer, total: 24 }) },
    ],
  })
  t.after(() => provider.close())
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
  assert.equal(await outputIn(home, '07-shop-agent.ts'), 'done true 24 \n')
  assert.match(JSON.stringify(provider.requests[3]?.body), /"count.{0,5}:3\}.*Add the total/)
})

test('examples/08: a task waits for an event, and the payload is in its answer', async (t) => {
  assert.equal(await outputOf(t, '08-research-agent.ts'), 'sleep: a survey, then Dreams of agents\n')
})

test('the three programs of docs/library.md are the examples, and stay short', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/library.md'), 'utf8')
  for (const [name, most] of [
    ['02-rule-agent', 35],
    ['07-shop-agent', 30],
    ['08-research-agent', 35],
  ] as const) {
    const lines = readFileSync(join(import.meta.dirname, `../../examples/${name}.ts`), 'utf8')
      .trim()
      .split('\n')
    assert.ok(lines.length <= most, `${name} has ${lines.length} lines`)
    assert.ok(page.includes(`\`\`\`ts\n${lines.slice(1).join('\n')}\n\`\`\``), name)
  }
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
