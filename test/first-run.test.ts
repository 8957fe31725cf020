import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import type { App } from '../src/app.ts'
import { isConfirmed } from '../src/cli/confirm.ts'
import { init } from '../src/commands/init.ts'
import type { Command } from '../src/commands/lib/command.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import type { CycleResult } from '../src/domain/cycle.ts'
import { TirelessError } from '../src/domain/error.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { NODE_FLAGS } from './crash/kills.ts'
import { tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { openWithOfflineModel, runInit } from './support/offline-kernel.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

const SEED_000 = `kernel:
  agents:
    - agent_id: "daily-report"
      prompt: |
        当前系统状态:
        {STATE}

        请根据上述状态生成今日工作简报。
      priority: 10
      enabled: true
`

describe('E1: the example configuration (seed 000)', () => {
  test('E1: runs unchanged and without a key: one attempt, a real file, exit 0', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), SEED_000)
    const cycle = await tirelessJson<CycleResult>(home, 'once')
    assert.equal(cycle.exit, 0)
    assert.deepEqual(
      { status: cycle.status, dispatched: cycle.dispatched, succeeded: cycle.succeeded },
      { status: 'success', dispatched: 1, succeeded: 1 },
    )
    const [agent] = cycle.agents
    assert.deepEqual(
      { agent_id: agent?.agent_id, status: agent?.status, attempts: agent?.attempts },
      { agent_id: 'daily-report', status: 'done', attempts: 1 },
    )
    assert.match(agent?.summary ?? '', /^## 执行总结\n1\. report report-\d{4}-\d\d-\d\d\.md: 完成/)
    const [report] = globSync('workspaces/*/report-*.md', { cwd: home })
    assert.match(readFileSync(join(home, report ?? ''), 'utf8'), /## STATE\n\n> # Kernel State\n/)
  })
})

describe('E1: init', () => {
  test('E1: creates a home with a valid configuration, the shipped agents and a forecast', async (t) => {
    const [home, here] = [freshFolder(t), freshFolder(t, 'repo')]
    execFileSync('git', ['init', '-q', here])
    const initialized = await runInit(home, here)
    assert.equal(initialized.exit, 0)
    assert.deepEqual(initialized.kept, [])
    assert.equal(initialized.wrote.at(-1), 'tireless.yaml')
    assert.deepEqual(
      initialized.agents.map(({ agent_id, enabled }) => [agent_id, enabled]),
      [
        ['assistant', false],
        ['browser', false],
        ['daily-report', true],
        ['folder-tender', true],
        ['repository-watcher', true],
        ['windows-desktop', false],
      ],
    )
    const [offline, paid, ...more] = initialized.forecast
    assert.deepEqual(
      { model: offline?.model, day_usd: offline?.day_usd, more },
      { model: 'offline/rules', day_usd: 0, more: [] },
    )
    assert.match(paid?.model ?? '', /^anthropic\//)
    assert.ok((paid?.day_usd ?? 0) > 0)
    assert.deepEqual(
      paid?.items.map(({ runs }) => runs),
      [1, 6, 6],
    )
    assert.deepEqual((await tirelessJson(home, 'config', 'check')).unused, [])
    const watcher = readFileSync(join(home, 'agents/repository-watcher/agent.yaml'), 'utf8')
    assert.match(watcher, new RegExp(`^# Whenever a git[^]*enabled: true\\n[^]*- git: ${here}\\n`))
  })

  test('E1: existing files are kept, and a configured home gets nothing added', async (t) => {
    const home = freshFolder(t)
    await runInit(home)
    const ownFile = join(home, 'agents/daily-report/agent.yaml')
    writeFileSync(ownFile, 'prompt: mine\n')
    rmSync(join(home, 'agents/folder-tender'), { recursive: true })
    const again = await runInit(home)
    assert.deepEqual(again.wrote, [])
    assert.deepEqual(again.kept, [
      ...['tireless.yaml', 'agents/assistant', 'agents/browser', 'agents/daily-report'],
      ...['agents/repository-watcher', 'agents/windows-desktop'],
    ])
    // As after an interrupted init, which writes tireless.yaml last: missing files are written, others kept.
    rmSync(join(home, 'tireless.yaml'))
    const third = await runInit(home)
    assert.deepEqual(third.wrote, ['agents/folder-tender/agent.yaml', 'tireless.yaml'])
    assert.equal(readFileSync(ownFile, 'utf8'), 'prompt: mine\n')
    assert.match((await tireless(home, 'init', '--yes')).stdout, /^already there +tireless\.yaml$/m)
  })

  test('E1: outside a repository the repository watcher is off, and the output says how to enable it', async (t) => {
    const [home, here] = [freshFolder(t), freshFolder(t, 'plain')]
    const { agents } = await runInit(home, here)
    assert.equal(agents.find(({ agent_id }) => agent_id === 'repository-watcher')?.enabled, false)
    const { stdout } = await tireless(home, 'init', '--yes', '--here', here)
    assert.match(stdout, /^off +repository-watcher; to enable it, edit .*agent\.yaml$/m)
    assert.match(
      readFileSync(join(home, 'agents/repository-watcher/agent.yaml'), 'utf8'),
      /agent enable repository-watcher/,
    )
  })

  test('E1: asks for confirmation on a terminal, but not elsewhere or with --yes', async () => {
    const askToConfirm = async (answer: string | null, given: object, isTTY: boolean): Promise<[boolean, string]> => {
      const [input, output] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()]
      if (answer === null) input.end()
      else input.write(`${answer}\n`)
      const confirmed = await isConfirmed(init as unknown as Command, { ...given }, '/the/home', { input, output })
      return [confirmed, String(output.read() ?? '')]
    }
    assert.deepEqual(await askToConfirm('', {}, true), [true, '/the/home\nCreate a home here? [Y/n] '])
    assert.equal((await askToConfirm('n', {}, true))[0], false)
    assert.equal((await askToConfirm('nonsense', {}, true))[0], false)
    assert.equal((await askToConfirm(null, {}, true))[0], false)
    assert.deepEqual(await askToConfirm('n', { yes: true }, true), [true, ''])
    assert.deepEqual(await askToConfirm('n', {}, false), [true, ''])
  })
})

/** Runs `start` in this process and collects its notes. */
function startAndCollectNotes(app: App): { readonly notes: string[]; readonly over: Promise<unknown> } {
  const notes: string[] = []
  const over = app.run('start', {}, (progress: Progress) => {
    if (progress.kind === 'note') notes.push(progress.text)
  })
  return { notes, over }
}

describe('E14: the first cycle of a kernel', () => {
  test('E14: runs at once with every agent, and reports the files, the cost and the forecast', async (t) => {
    const home = freshFolder(t)
    await runInit(home, join(import.meta.dirname, '..'))
    const first = await openWithOfflineModel(t, home)
    const { notes, over } = startAndCollectNotes(first.app)
    await waitUntil(() => notes.some((note) => /^Cost nothing/m.test(note)))
    const { items } = await first.app.run('cycles list', {})
    assert.deepEqual(
      items.map(({ trigger }) => trigger),
      ['first'],
    )
    assert.deepEqual(
      items[0]?.result?.agents.map(({ agent_id, status, attempts }) => [agent_id, status, attempts]),
      [
        ['daily-report', 'done', 1],
        ['folder-tender', 'done', 1],
        ['repository-watcher', 'done', 1],
      ],
    )
    const written = notes.flatMap((note) => /^wrote (.*)$/.exec(note)?.[1] ?? [])
    assert.deepEqual(
      written.map((file) => existsSync(file)),
      [true, true, true],
    )
    assert.match(
      notes.find((note) => /^Cost/.test(note)) ?? '',
      /^Cost nothing with offline\/rules\. With anthropic\/\S+: about \$\d+\.\d+ \([\d,]+ tokens\), and about \$\d/,
    )
    assert.ok(notes.some((note) => /^Open the page: http:/.test(note)))
    assert.ok(notes.some((note) => /^Next beat: 20\d\d-.*Z$/.test(note)))
    first.stop()
    await over
    await first.app.close()
    // A kernel that has had its first cycle waits for its beats.
    const second = await openWithOfflineModel(t, home)
    const restarted = startAndCollectNotes(second.app)
    await waitUntil(() => second.app.context.kernel.nextBeatAt() !== undefined)
    assert.equal(await second.app.context.kernel.runFirstCycle(), undefined)
    second.stop()
    await restarted.over
    assert.equal((await second.app.run('cycles list', {})).items.length, 1)
  })

  test('E14: reports no cost if no model answered', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), `${SEED_000}server: { port: 0 }\n`)
    const drain = new AbortController()
    const signals = { drain: drain.signal, abort: new AbortController().signal }
    const model = scriptedModel(() => {
      throw new TirelessError('model_auth', 'wrong key')
    })
    const app = await openApp(t, { home, model, signals })
    const { notes, over } = startAndCollectNotes(app)
    const ended = async () => (await app.run('cycles list', {})).items[0]?.ended_at
    await waitUntil(async () => typeof (await ended()) === 'string')
    drain.abort()
    await over
    assert.deepEqual(
      notes.filter((note) => /cost/.test(note)),
      [],
    )
  })

  test('E14: there is no first cycle while paused or without agents', async (t) => {
    const { app } = await openWithOfflineModel(t, freshFolder(t))
    assert.equal(await app.context.kernel.runFirstCycle(), undefined)
    await app.run('agent new', { sentence: 'do it' })
    await app.run('pause', {})
    assert.equal(await app.context.kernel.runFirstCycle(), undefined)
  })

  test('E14: npm start creates a missing home and runs the kernel until SIGTERM', async (t) => {
    const home = freshFolder(t)
    const script = join(import.meta.dirname, '../scripts/start.ts')
    const child = spawn(process.execPath, [...NODE_FLAGS, script, '--home', home], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    const output = outputOf(child)
    await waitUntil(() => /^Cost nothing/m.test(output()))
    assert.match(output(), /^wrote +agents\/assistant\/agent\.yaml$/m)
    assert.match(output(), /^wrote .*workspaces\/daily-report\/report-\d{4}-\d\d-\d\d\.md$/m)
    assert.match(output(), /Open the page: http:\/\/127\.0\.0\.1:\d+/)
    child.kill('SIGTERM')
    assert.equal(await waitForExit(child), 0)
  })
})

/** The text of stdout and stderr so far. */
function outputOf(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  return () => text
}
