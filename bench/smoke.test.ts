/** Runs every suite completely through the command line, so that a broken bench is noticed. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { WITHOUT_POSTGRES } from '../test/support/postgres.ts'
import { WITHOUT_SANDBOX } from '../test/support/sandbox-available.ts'
import { runSubject } from './measure.ts'
import { hasPeers } from './peers/install.ts'

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-bench-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function bench(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const flags = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'main.ts')]
  const child = spawn(process.execPath, [...flags, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

async function smoke(t: TestContext, suite: string, ...more: readonly string[]) {
  const folder = freshFolder(t)
  const { code, out, err } = await bench([suite, '--smoke', '--out', folder, ...more])
  assert.equal(code, 0, `${out}\n${err}`)
  const results = JSON.parse(readFileSync(join(folder, `${suite}-smoke.json`), 'utf8'))
  assert.deepEqual({ suite: results.suite, scale: results.scale }, { suite, scale: 'smoke' })
  return { results, out, err }
}

const named = (results: { ratios: readonly { name: string; value: number | null }[] }) =>
  results.ratios.filter(({ value }) => value !== null).map(({ name }) => name)

describe('a smoke run', { concurrency: 2 }, () => {
  test('engine: every subject, and a session that the memory cuts', async (t) => {
    const { results, err } = await smoke(t, 'engine')
    const subjects = new Set(results.rows.map(({ subject }: { subject: string }) => subject))
    const peers = hasPeers() ? ['langgraph'] : []
    assert.deepEqual([...subjects].sort(), ['disk', ...peers, 'sqlite', 'store', 'tireless'])
    if (!hasPeers()) assert.match(err, /without peers: they are not installed/)
    assert.deepEqual(results.bars, [])
    assert.ok(named(results).includes('CPU a step against the bare store, one session'))
  })

  test('kernel: cycles, start, status and idle cost', async (t) => {
    const { results, err } = await smoke(t, 'kernel')
    assert.match(err, /without the package/)
    assert.equal(results.pasts.length, 2)
    assert.deepEqual(
      results.programs.map(({ launcher }: { launcher: string }) => launcher),
      ['source'],
    )
    assert.ok(named(results).includes('CPU of a cycle after a long past against a short past'))
  })

  test('queue: crews empty queues without a loss, single jobs start, and steps run on PostgreSQL', {
    skip: WITHOUT_POSTGRES,
  }, async (t) => {
    const { results } = await smoke(t, 'queue')
    const subjects = [...new Set(results.rows.map(({ subject }: { subject: string }) => subject))]
    for (const subject of ['store', 'kernel', 'bare']) assert.ok(subjects.includes(subject), subjects.join(' '))
    assert.equal(subjects.includes('pg-boss'), hasPeers())
    assert.deepEqual(results.bars, [])
    assert.ok(named(results).includes('jobs a second of the store against PostgreSQL alone, few waiting'))
    assert.equal(results.steps[0].subject, 'tireless')
  })

  test('http: tasks sent to a running kernel, all completed, and to a plain server', async (t) => {
    const { results } = await smoke(t, 'http')
    assert.deepEqual(
      results.rows.map(({ server, requests }: { server: string; requests: number }) => ({ server, requests })),
      [
        { server: 'tireless', requests: 20 },
        { server: 'bare', requests: 20 },
      ],
    )
    assert.ok(results.rows[0].stepsBeside > 0)
    assert.equal(named(results).length, 2)
  })

  test('sandbox: each way to run a command', { skip: WITHOUT_SANDBOX }, async (t) => {
    const { results } = await smoke(t, 'sandbox')
    assert.equal(results.rows.length, 4)
    assert.equal(named(results).length, 3)
  })

  test('O12, I8: waiting: an event runs its own session once, and the others cost nothing', async (t) => {
    const { results } = await smoke(t, 'waiting')
    assert.deepEqual(
      results.bars.map(({ got, pass }: { got: string; pass: boolean | null }) => [got, pass]),
      [
        ['0', true],
        ['0', true],
        ['0', true],
      ],
    )
    assert.equal(named(results).length, 2)
  })

  test('K6, I8: residents: without news no commit and no model call, and every event is looked at', async (t) => {
    const { results } = await smoke(t, 'residents')
    assert.deepEqual(
      results.bars.map(({ got, pass }: { got: string; pass: boolean | null }) => [got, pass]),
      [
        ['0', true],
        ['0', true],
      ],
    )
    assert.ok(results.busy[0].looksPerSecond > 0)
  })

  test('viewers: every event reaches every viewer once, although they leave and continue', async (t) => {
    const { results } = await smoke(t, 'viewers')
    assert.deepEqual(
      results.bars.map(({ got, pass }: { got: string; pass: boolean | null }) => [got, pass]),
      [
        ['0', true],
        ['0', true],
        ['0', true],
      ],
    )
    assert.equal(results.rounds.length, 2)
    for (const { pairs, watched } of results.rounds)
      assert.ok(pairs[0].watched.received > 0 && watched.resumes > 0, JSON.stringify({ pairs, watched }))
    assert.equal(named(results).length, 2)
  })

  test('injection: our own suites without public data, with an exact and a lying intent model', async (t) => {
    const { results, err } = await smoke(t, 'injection', '--data', join(freshFolder(t), 'none'))
    assert.match(err, /no attack data/)
    const played = results.scores.map(({ suite, intent }: { suite: string; intent: string }) => `${suite}, ${intent}`)
    assert.deepEqual(played, ['always-on, exact', 'real hands, exact', 'always-on, lies', 'real hands, lies'])
    assert.ok(results.bars.length > 0 && results.bars.every(({ pass }: { pass: boolean | null }) => pass !== false))
  })
})

describe('a subject', () => {
  test('that throws fails the whole run, and the error names it', async (t) => {
    const folder = freshFolder(t)
    const preload = join(folder, 'broken-disk.mjs')
    writeFileSync(
      preload,
      `import fs from 'node:fs'
       import { syncBuiltinESMExports } from 'node:module'
       fs.fdatasyncSync = () => { throw new Error('this disk is broken') }
       syncBuiltinESMExports()`,
    )
    const { code, err } = await bench(['engine', '--smoke', '--out', folder], { NODE_OPTIONS: `--import=${preload}` })
    assert.equal(code, 1)
    assert.match(err, /subjects\/disk\.ts ended with 1\n[\s\S]*this disk is broken/)
  })

  test('that starts fewer steps than ordered gives no sample', async (t) => {
    const folder = freshFolder(t)
    const file = join(folder, 'lazy.mjs')
    writeFileSync(
      file,
      `import { serve } from ${JSON.stringify(join(import.meta.dirname, 'meter.ts'))}
       await serve(({ steps, step, measure }) => measure(async () => { for (let n = 1; n < steps; n++) step() }))`,
    )
    const order = { sessions: 1, steps: 5, repeat: 1, warmUpMs: 0, folder }
    await assert.rejects(runSubject(file, order), /started 4 of 5 steps/)
  })

  test('whose session ends early gives no sample', async (t) => {
    const order = { sessions: 1, steps: 5, maxInput: 10, repeat: 1, warmUpMs: 0, folder: freshFolder(t) }
    await assert.rejects(runSubject('subjects/tireless.ts', order), /0 of 1 sessions finished/)
  })
})
