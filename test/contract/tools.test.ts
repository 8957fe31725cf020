import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { TirelessError } from '../../src/domain/error.ts'
import { defineTool, inNamespace } from '../../src/ports/define-tool.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, lastMessageIn, PURE, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { freshFolder, journalOf, kindsOf, openApp, runTaskIn } from '../support/open-app.ts'

const callStep = (tool: string, args: object = {}): ScriptedStep => ({ calls: [{ tool, args: { ...args } }] })
const finalStep: ScriptedStep = { text: 'done' }

describe('checks before a tool runs', () => {
  test('case 34, Q9: arguments that violate the schema are refused before the tool runs', async (t) => {
    const receivedArgs: unknown[] = []
    const greet = defineTool({
      name: 'greet',
      description: 'greets',
      args: z.strictObject({ who: z.string().min(1), times: z.int().default(1) }),
      effect: () => PURE,
      run: async (args) => {
        receivedArgs.push(args)
        return { status: 'ok', content: 'hello' }
      },
    })
    for (const args of [{}, { who: 1 }, { who: '' }, { who: 'a', extra: 1 }, { who: 'a', times: 'often' }]) {
      const model = scriptedModel([callStep('greet', args), finalStep])
      const app = await openApp(t, { model, tools: [greet] })
      const { session_id, status } = await runTaskIn(app)
      assert.equal(status, 'done')
      assert.ok(!kindsOf(await journalOf(app, session_id)).includes('call_intended'), JSON.stringify(args))
      assert.match(lastMessageIn(model, 1), /None of your calls was run/)
      assert.partialDeepStrictEqual(await resultsOf(app, session_id), [{ status: 'error' }])
    }
    const app = await openApp(t, { model: scriptedModel([callStep('greet', { who: 'a' }), finalStep]), tools: [greet] })
    await runTaskIn(app)
    assert.deepEqual(receivedArgs, [{ who: 'a', times: 1 }], 'the tool receives the parsed arguments')
  })

  test('case 34: arguments that are nested too deep are refused, and the run goes on', async (t) => {
    const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`) as object
    const model = scriptedModel([callStep('poke', deep), finalStep])
    const app = await openApp(t, { model, tools: [fakeTool()] })
    const { session_id, status } = await runTaskIn(app)
    assert.equal(status, 'done')
    const [refused] = await resultsOf(app, session_id)
    assert.deepEqual([refused?.status, refused?.content], ['error', 'the arguments are nested too deep'])
  })

  test('Q9: a second tool with the same name is refused', async (t) => {
    await assert.rejects(openApp(t, { tools: [fakeTool(), fakeTool()] }), { code: 'plugin_invalid', message: /poke/ })
    await assert.rejects(openApp(t, { tools: [fakeTool({ name: 'create_file' })] }), { code: 'plugin_invalid' })
  })

  test('Q9: namespaces separate tools with the same name', async (t) => {
    const [cats, dogs] = [
      inNamespace('cats', fakeTool({ name: 'call' })),
      inNamespace('dogs', fakeTool({ name: 'call' })),
    ]
    const model = scriptedModel([callStep('dogs__call', { who: 'rex' }), finalStep])
    assert.equal((await runTaskIn(await openApp(t, { model, tools: [cats, dogs] }))).status, 'done')
    assert.deepEqual(
      { catsReceivedArgs: cats.receivedArgs, dogsReceivedArgs: dogs.receivedArgs },
      { catsReceivedArgs: [], dogsReceivedArgs: [{ who: 'rex' }] },
    )
  })

  test('Q9: a tool name that providers do not accept is refused', async (t) => {
    for (const name of ['', 'cats.call', 'call me', 'x'.repeat(65)])
      await assert.rejects(openApp(t, { tools: [fakeTool({ name })] }), {
        code: 'plugin_invalid',
        message: /invalid name/,
      })
  })

  test('a tool with an invalid timeoutMs or maxRetries is refused by name', async (t) => {
    const invalidValues: [string, unknown[]][] = [
      ['timeoutMs', [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 1e300, '5', null]],
      ['maxRetries', [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, '2', null, 1e9]],
    ]
    for (const [field, values] of invalidValues)
      for (const value of values) {
        const tool = { ...fakeTool(), [field]: value }
        const message = new RegExp(`${field}.*invalid tool poke|invalid tool poke.*${field}`)
        await assert.rejects(openApp(t, { tools: [tool] }), { code: 'plugin_invalid', message }, `${field}: ${value}`)
      }
  })

  test('Q9: a behaviour with an unknown tool does not start', async (t) => {
    const app = await openApp(t, { behaviours: [fakeBehaviour({ tools: ['pokee'] })], tools: [fakeTool()] })
    const result = await runTaskIn(app, 'x', { behaviour: 'own' })
    assert.deepEqual(
      { stop_reason: result.stop_reason, codes: result.issues.map(({ code }) => code) },
      { stop_reason: 'task_validation_failed', codes: ['TASK_TOOL_UNKNOWN'] },
    )
    assert.match(result.issues[0]?.message ?? '', /pokee/)
  })
})

describe('results of calls', () => {
  test('case 32: an exception with the text "tool not found" is a tool_failed result of that call', async (t) => {
    const failingTool = fakeTool({
      run: () => {
        throw new Error('tool_not_found: file not found, unknown tool')
      },
    })
    const model = scriptedModel([callStep('poke'), finalStep])
    const app = await openApp(t, { model, tools: [failingTool] })
    const { session_id, status } = await runTaskIn(app)
    assert.deepEqual({ status, records: await recordsOf(app, session_id, 'failed') }, { status: 'done', records: [] })
    assert.match((await resultsOf(app, session_id))[0]?.content ?? '', /^tool_failed: tool_not_found: file not found/)
    assert.doesNotMatch(lastMessageIn(model, 1), /there is no tool/)
  })

  test('case 32: the category of a failed run comes from the error type, not its text', async (t) => {
    const refusing = {
      id: 'scripted/no',
      call: () => Promise.reject(new TirelessError('model_auth', 'tool not found')),
    }
    const app = await openApp(t, { model: refusing })
    const [ended] = await recordsOf(app, (await runTaskIn(app)).session_id, 'run_ended')
    assert.partialDeepStrictEqual(ended, { failure_class: 'provider', failure_report: { category: 'model_error' } })
  })

  test('case 35: output or facts that contain a status do not change the status of the call', async (t) => {
    const statusInOutput = fakeTool({ run: () => '{"status": "error", "needs_approval": true}' })
    const facts = fakeTool({
      name: 'facts',
      run: () => ({ status: 'ok', content: 'fine', facts: { status: 'parked' } }),
    })
    const model = scriptedModel([callStep('poke'), callStep('facts'), finalStep])
    const app = await openApp(t, { model, tools: [statusInOutput, facts] })
    const { session_id, status } = await runTaskIn(app)
    assert.equal(status, 'done')
    assert.deepEqual(
      (await resultsOf(app, session_id)).map((result) => result.status),
      ['ok', 'ok'],
    )
    assert.deepEqual(model.requests[1]?.messages.at(-1), {
      role: 'tool',
      call_id: 'call-0-0',
      tool: 'poke',
      text: '{"status": "error", "needs_approval": true}',
      ok: true,
    })
  })

  test('case 35: an invalid result fails the call, not the run', async (t) => {
    for (const invalid of [undefined, Number.NaN, { status: 'splendid', content: 'x' }, { status: 'ok', content: 7 }]) {
      const tool = defineTool({
        name: 'poke',
        description: 'returns an invalid result',
        args: z.strictObject({}),
        effect: () => ({ recovery: 'once', reach: 'workspace' }),
        run: () => Promise.resolve(invalid as never),
      })
      const app = await openApp(t, { model: scriptedModel([callStep('poke'), finalStep]), tools: [tool] })
      const { session_id, status } = await runTaskIn(app)
      assert.equal(status, 'done')
      assert.partialDeepStrictEqual(await resultsOf(app, session_id), [{ status: 'error' }])
      assert.deepEqual(await recordsOf(app, session_id, 'failed'), [])
    }
  })

  test('Q9: a long result is cut in the middle and states how much is left out', async (t) => {
    const long = fakeTool({ run: () => `begin${'x'.repeat(300_000)}end` })
    const app = await openApp(t, { model: scriptedModel([callStep('poke'), finalStep]), tools: [long] })
    const [result] = await resultsOf(app, (await runTaskIn(app)).session_id)
    assert.ok((result?.content.length ?? 0) <= 50_000)
    assert.match(result?.content ?? '', /^begin.*\d+ characters left out.*end$/s)
  })
})

describe('env and workspace of a tool', () => {
  test('case 28, Q8: the same tool works in a plain folder and in a repository', async (t) => {
    const note = defineTool({
      name: 'note',
      description: 'writes a note',
      args: z.strictObject({}),
      needs: ['file'],
      effect: () => ({ recovery: 'once', reach: 'workspace' }),
      run: async (_, { ops, env }) => {
        await ops('file').write('note.txt', 'noted', null)
        return { status: 'ok', content: env.groups.join(' ') }
      },
    })
    const repository = freshFolder(t, 'repository')
    execFileSync('git', ['init', '-q', repository])
    for (const [env, workspace, groups] of [
      ['host', freshFolder(t, 'plain'), 'file process'],
      ['repository', repository, 'file process git'],
    ] as const) {
      const app = await openApp(t, { model: scriptedModel([callStep('note'), finalStep]), tools: [note] })
      const result = await runTaskIn(app, 'note it', { env, workspace })
      assert.deepEqual(
        { status: result.status, content: (await resultsOf(app, result.session_id))[0]?.content },
        { status: 'done', content: groups },
      )
      assert.equal(readFileSync(join(workspace, 'note.txt'), 'utf8'), 'noted')
    }
  })

  test('case 28: using an ops group that the env lacks fails the call', async (t) => {
    const undeclaredGit = fakeTool({ run: (_, { ops }) => ops('git').head() })
    const app = await openApp(t, { model: scriptedModel([callStep('poke'), finalStep]), tools: [undeclaredGit] })
    const [result] = await resultsOf(app, (await runTaskIn(app, 'x', { env: 'host' })).session_id)
    assert.equal(result?.status, 'error')
    assert.match(result?.content ?? '', /no ops group "git"/)
  })

  for (const [tool, name, more] of [
    ['create_file', 'new.txt', { content: 'stolen' }],
    ['view_file', 'secret.txt', {}],
    ['edit_file', 'secret.txt', { old: 'crown', new: 'stolen' }],
    ['list_files', '.', {}],
  ] as const)
    test(`case 37: ${tool} refuses paths outside the workspace`, async (t) => {
      const folder = freshFolder(t, 'confined')
      const [workspace, evil] = [join(folder, 'ws'), join(folder, 'ws-evil')]
      for (const path of [workspace, evil]) mkdirSync(path)
      writeFileSync(join(evil, 'secret.txt'), 'the crown jewels')
      const paths = [
        `../ws-evil/${name}`,
        join(evil, name),
        `link/${name}`,
        `file://${join(evil, name)}`,
        `a/../../ws-evil/${name}`,
        '/etc',
      ]
      const model = scriptedModel((_, turn) => {
        if (turn === 0) symlinkSync(evil, join(workspace, 'link'))
        const path = paths[turn]
        return path === undefined ? finalStep : callStep(tool, { path, ...more })
      })
      const app = await openApp(t, { model })
      const { session_id, status } = await runTaskIn(app, 'x', { workspace })
      // A run whose last write failed is failed, whatever its answer says.
      assert.equal(status, tool === 'create_file' || tool === 'edit_file' ? 'failed' : 'done')
      const results = await resultsOf(app, session_id)
      assert.deepEqual(
        results.map((result) => result.status),
        paths.map(() => 'error'),
      )
      assert.doesNotMatch(JSON.stringify(results), /crown jewels/)
      assert.deepEqual(readdirSync(evil), ['secret.txt'])
      assert.equal(readFileSync(join(evil, 'secret.txt'), 'utf8'), 'the crown jewels')
    })

  test('case 38: a file is only overwritten if unchanged since it was read; new files are fine', async (t) => {
    const workspace = freshFolder(t, 'seen')
    const file = join(workspace, 'a.txt')
    const edit = (before: string, after: string) => callStep('edit_file', { path: 'a.txt', old: before, new: after })
    const externalChanges: Record<number, () => void> = {
      2: () => utimesSync(file, 1, 1),
      4: () => writeFileSync(file, 'three, changed externally'),
    }
    const script: readonly [ScriptedStep, 'ok' | 'error'][] = [
      [edit('one', 'two'), 'error'],
      [callStep('view_file', { path: 'a.txt' }), 'ok'],
      [edit('one', 'two'), 'ok'],
      [edit('two', 'three'), 'ok'],
      [edit('three', 'four'), 'error'],
      [callStep('create_file', { path: 'a.txt', content: 'mine' }), 'error'],
      [callStep('create_file', { path: 'b.txt', content: 'new' }), 'ok'],
    ]
    const model = scriptedModel((_, turn) => {
      if (turn === 0) writeFileSync(file, 'one')
      externalChanges[turn]?.()
      return script[turn]?.[0] ?? finalStep
    })
    const app = await openApp(t, { model })
    const result = await runTaskIn(app, 'x', { workspace })
    const results = await resultsOf(app, result.session_id)
    assert.deepEqual(
      results.map(({ status }) => status),
      script.map(([, status]) => status),
    )
    assert.match(results[0]?.content ?? '', /have not viewed/)
    assert.match(results[4]?.content ?? '', /has changed since/)
    assert.equal(readFileSync(file, 'utf8'), 'three, changed externally')
  })
})
