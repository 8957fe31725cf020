import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../src/app.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import type { CommandOutput } from '../src/commands/lib/registry.ts'
import { TirelessError } from '../src/domain/error.ts'
import type { Event } from '../src/domain/event.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import type { TraceManifest } from '../src/trace/manifest.ts'
import { traceReader } from '../src/trace/reader.ts'
import { configFor, MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import {
  createHome,
  startProvider,
  startTireless,
  tireless,
  tirelessJson,
  waitForExit,
} from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn, waitUntil } from './support/open-app.ts'
import { WRITE_STEP } from './support/write-step.ts'

const tracesOf = (app: App) => traceReader(join(homeOf(app), 'traces'))

const homeOf = (app: App): string => app.service('home').root

const listTraces = async (app: App): Promise<CommandOutput<'trace list'>['items']> =>
  (await app.run('trace list', {})).items

function filesOf(home: string, run_id: string): Readonly<Record<string, string>> {
  const folder = join(home, 'traces', run_id)
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

describe('case 58: the trace is complete after every end of a run', () => {
  const paths: Readonly<
    Record<string, { script: ScriptedStep[]; yaml?: string; expected: Partial<TraceManifest>; critic?: 'stop' }>
  > = {
    'a final answer': {
      script: [WRITE_STEP, { text: 'done' }],
      expected: { status: 'completed', stop_reason: 'final', step_count: 2, final_answer: 'done' },
    },
    'an exhausted budget': {
      script: [WRITE_STEP, WRITE_STEP, WRITE_STEP],
      yaml: 'budget: { per_dispatch_calls: 2 }',
      expected: { status: 'failed', stop_reason: 'budget_steps', step_count: 2, final_answer: null },
    },
    'a refused key': {
      script: [WRITE_STEP, { text: 'x', faults: [new TirelessError('model_auth', 'the key is bad')] }],
      expected: { status: 'failed', stop_reason: 'unrecoverable_error', failure_class: 'provider' },
    },
    "a critic's stop": {
      script: [WRITE_STEP],
      critic: 'stop',
      expected: { status: 'failed', stop_reason: 'critic_stop', step_count: 1 },
    },
    'a wait': {
      script: [WRITE_STEP, { calls: [{ tool: 'wait', args: { for: 'message' } }] }],
      expected: { status: 'running', stop_reason: null, ended_at: null, step_count: 2 },
    },
  }
  for (const [name, { script, yaml = '', expected, critic }] of Object.entries(paths))
    test(name, async (t) => {
      const judge = () => ({ kind: 'stop', reason: 'enough' }) as const
      const critics = critic ? [{ name: 'strict', judge }] : []
      const app = await openApp(t, { model: scriptedModel(script), yaml, critics })
      const { dispatch_id } = await runTaskIn(app)
      const { manifest, events, steps, torn } = await tracesOf(app).read(dispatch_id)
      assert.partialDeepStrictEqual(manifest, expected)
      assert.deepEqual(
        { event_count: manifest.event_count, step_count: manifest.step_count, torn },
        { event_count: events.length, step_count: steps.length, torn: [] },
      )
      assert.deepEqual(await listTraces(app), [manifest], 'the journal must give the same manifest')
    })

  test('a killed process: the next one completes the trace', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'touch begun; sleep 300' } }] },
      { text: 'done' },
    ])
    const workspaces = join(home, 'workspaces')
    const killed = startTireless(t, home, 'run', '--behaviour', 'solo', 'work')
    await waitUntil(
      () =>
        existsSync(workspaces) && readdirSync(workspaces).some((name) => existsSync(join(workspaces, name, 'begun'))),
    )
    killed.kill('SIGKILL')
    await waitForExit(killed)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    const [run_id = ''] = readdirSync(join(home, 'traces'))
    const { manifest, events, steps, torn } = await traceReader(join(home, 'traces')).read(run_id)
    assert.deepEqual(
      { status: manifest.status, step_count: manifest.step_count, torn },
      { status: 'completed', step_count: steps.length, torn: [] },
    )
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, i) => i + 1),
    )
  })
})

describe('trace', () => {
  test('case 61: live events, events from the journal and events in the files are the same', async (t) => {
    const app = await openApp(t, { model: scriptedModel([WRITE_STEP, { text: 'done' }]) })
    const live: Event[] = []
    const onProgress = (progress: Progress): void => {
      if (progress.kind === 'event') live.push(progress.event)
    }
    const { dispatch_id } = await app.run('run', { task: 'x' }, onProgress)
    const { events } = await app.run('trace show', { run: dispatch_id, events: true })
    assert.deepEqual(events, live)
    assert.deepEqual((await tracesOf(app).read(dispatch_id)).events, live)
  })

  test('case 98: list and show read the journal if the files are lost', async (t) => {
    const app = await openApp(t, { model: scriptedModel(() => ({ text: 'done' })) })
    const first = await runTaskIn(app, 'one')
    const second = await runTaskIn(app, 'two')
    rmSync(join(homeOf(app), 'traces'), { recursive: true })
    assert.deepEqual(
      (await listTraces(app)).map(({ run_id, task }) => ({ run_id, task })),
      [
        { run_id: second.dispatch_id, task: 'two' },
        { run_id: first.dispatch_id, task: 'one' },
      ],
    )
    assert.equal((await app.run('trace list', { limit: 1 })).items.length, 1)
    const shown = await app.run('trace show', { run: first.dispatch_id })
    assert.deepEqual({ steps: shown.steps?.length, events: shown.events }, { steps: 1, events: null })
    await assert.rejects(app.run('trace show', { run: 'nobody' }), { code: 'not_found' })
  })

  test('show and export read the files if the home cannot be opened', async (t) => {
    const home = await createHome(t, [{ text: 'done' }])
    const { dispatch_id = '' } = await tirelessJson<{ dispatch_id: string }>(home, 'run', 'think')
    for (const name of readdirSync(home)) if (name.startsWith('tireless.db')) rmSync(join(home, name))
    writeFileSync(join(home, 'tireless.db'), 'this is no database, and it is long enough to be told from an empty one')
    const shown = await tireless(home, 'trace', 'show', dispatch_id)
    assert.deepEqual(
      { exit: shown.exit, showsTheStep: /step 1.*final/.test(shown.stdout) },
      { exit: 0, showsTheStep: true },
      shown.stderr,
    )
    assert.equal((await tirelessJson<{ items: unknown[] }>(home, 'trace', 'list')).items.length, 1)
    const page = join(home, 'page.html')
    assert.equal((await tireless(home, 'trace', 'export', dispatch_id, '--html', page)).exit, 0)
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/)
    assert.equal((await tireless(home, 'trace', 'show', '../../etc')).exit, 2)
  })

  test('case 64: reading the trace of a running run does not change it', async (t) => {
    const release = Promise.withResolvers<void>()
    const slow = defineTool({
      name: 'slow',
      description: 'for tests',
      args: z.strictObject({}),
      effect: () => ({ recovery: 'once', reach: 'workspace' }),
      async run() {
        await release.promise
        return { status: 'ok', content: 'at last' }
      },
    })
    const app = await openApp(t, {
      model: scriptedModel([{ calls: [{ tool: 'slow' }] }, { text: 'done' }]),
      tools: [slow],
    })
    const running = runTaskIn(app)
    const folder = join(homeOf(app), 'traces')
    await waitUntil(
      () => existsSync(folder) && readdirSync(folder).some((id) => existsSync(join(folder, id, 'manifest.json'))),
    )
    const [run_id = ''] = readdirSync(folder)
    await waitUntil(async () => (await traceReader(folder).read(run_id)).events.at(-1)?.phase === 'ACT')
    const before = filesOf(homeOf(app), run_id)
    assert.equal((await traceReader(folder).read(run_id)).manifest.status, 'running')
    assert.deepEqual(filesOf(homeOf(app), run_id), before)
    release.resolve()
    assert.equal((await running).status, 'done')
    assert.equal((await traceReader(folder).read(run_id)).manifest.status, 'completed')
  })

  test('the trace of an abandoned run is completed when the next run of its session ends it', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id, session_id } = await runTaskIn(app)
    rmSync(join(homeOf(app), 'traces'), { recursive: true })
    const next = { run_id: 'the-next', session_id }
    const { sink, listen } = app.service('events')
    const progressOfNext: Progress[] = []
    listen((progress) => progressOfNext.push(progress))
    sink.onRunOpened(next, [])
    sink.onRecord(next, { kind: 'run_ended', run_id: dispatch_id, stop_reason: 'unrecoverable_error', seq: 99, ts: 0 })
    await waitUntil(() => existsSync(join(homeOf(app), 'traces', dispatch_id, 'manifest.json')))
    assert.deepEqual(readdirSync(join(homeOf(app), 'traces')), [dispatch_id])
    assert.deepEqual(progressOfNext, [], 'listeners of the next run must not get the event')
  })

  test('I9: if the traces folder cannot be created, the run succeeds without a trace', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'traces'), 'a file where the folder should be')
    const app = await openApp(t, { home, model: scriptedModel([WRITE_STEP, { text: 'done' }]) })
    assert.equal((await runTaskIn(app)).status, 'done')
    assert.equal((await listTraces(app))[0]?.status, 'completed')
  })

  test("progress: shows the model's text, each call as it starts, and its result", async (t) => {
    const home = await createHome(t, [
      { text: 'I say hi.', calls: [{ tool: 'bash', args: { command: 'echo hi there' } }] },
      { text: 'done' },
    ])
    const { stderr } = await tireless(home, 'run', '--behaviour', 'solo', 'work')
    // The output of the call is shown only to a viewer that looks before the call ends.
    const isProgressLine = (line: string): boolean => line !== 'step 1 hi there' && /^(step |default|ended)/.test(line)
    const lines = stderr.split('\n').filter(isProgressLine)
    assert.deepEqual(
      lines.map((line) => line.replace(/ok .*/, 'ok')),
      [
        'default started',
        'step 1 asking local/test',
        'step 1 I say hi.',
        'step 1 bash {"command":"echo hi there","timeout_s":120}',
        'step 1 ok',
        'step 2 asking local/test',
        'step 2 done',
        'ended: final',
      ],
    )
  })
})

describe('case 60: no secret is in the files', () => {
  const SECRETS = {
    configured: 'configured-key-0123456789',
    variable: 'value-of-a-variable-42',
    header: 'header-token-xyz',
    looking: 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz',
  }
  const text = `Authorization: Bearer ${SECRETS.header}\n${SECRETS.looking} ${SECRETS.configured} ${SECRETS.variable}`
  // A text cut for the trace must not contain half a secret.
  const longWithSecret = `${'x'.repeat(1990)}${SECRETS.configured}`

  test('configured keys, variables, headers and key-like text are redacted in every kind of record', async (t) => {
    const provider = await startProvider(t, [
      { text, calls: [{ tool: 'create_file', args: { path: 'a.txt', content: text } }] },
      { text: longWithSecret, calls: [{ tool: 'view_file', args: { path: 'a.txt' } }] },
      { calls: [{ tool: 'bash', args: { command: `echo $MY_API_TOKEN; echo '${longWithSecret}'; exit 3` } }] },
      { calls: [{ tool: 'view_file', args: { path: SECRETS.configured } }] },
      { text },
    ])
    const home = freshFolder(t)
    const yamlWithKey = configFor(provider).replace('base_url', `api_key: ${SECRETS.configured}, base_url`)
    assert.match(yamlWithKey, /api_key: configured/)
    writeFileSync(join(home, 'tireless.yaml'), yamlWithKey)
    const env = [`MY_API_TOKEN=${SECRETS.variable}`, process.execPath, ...NODE_FLAGS, MAIN]
    const done = await run('env', [...env, 'run', `remember ${text}`, '--home', home, '--json'])
    const { dispatch_id } = JSON.parse(done.stdout) as { dispatch_id: string }
    const page = join(home, 'page.html')
    await run('env', [...env, 'trace', 'export', dispatch_id, '--html', page, '--home', home])
    assert.equal(statSync(page).mode & 0o777, 0o600)
    const files = { ...filesOf(home, dispatch_id), page: readFileSync(page, 'utf8') }
    for (const [name, content] of Object.entries(files)) {
      for (const secret of Object.values(SECRETS)) {
        assert.ok(!content.includes(secret), `${secret} in ${name}`)
        assert.ok(!content.includes(secret.slice(0, 10)), `the beginning of ${secret} in ${name}`)
      }
      assert.ok(content.includes('(secret)'), name)
    }
  })
})
