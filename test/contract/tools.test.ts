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

const calling = (tool: string, args: object = {}): ScriptedStep => ({ calls: [{ tool, args: { ...args } }] })
const done: ScriptedStep = { text: 'done' }

describe('before a tool runs', () => {
  test('case 34, Q9: arguments that do not fit its schema are refused, and it hears nothing of them', async (t) => {
    const heardArgs: unknown[] = []
    const greet = defineTool({
      name: 'greet',
      description: 'greets',
      args: z.strictObject({ who: z.string().min(1), times: z.int().default(1) }),
      effect: () => PURE,
      run: async (args) => {
        heardArgs.push(args)
        return { status: 'ok', content: 'hello' }
      },
    })
    for (const args of [{}, { who: 1 }, { who: '' }, { who: 'a', extra: 1 }, { who: 'a', times: 'often' }]) {
      const model = scriptedModel([calling('greet', args), done])
      const app = await openApp(t, { model, tools: [greet] })
      const { session_id, status } = await runTaskIn(app)
      assert.equal(status, 'done')
      assert.ok(!kindsOf(await journalOf(app, session_id)).includes('call_intended'), JSON.stringify(args))
      assert.match(lastMessageIn(model, 1), /None of your calls was run/)
      assert.partialDeepStrictEqual(await resultsOf(app, session_id), [{ status: 'error' }])
    }
    const app = await openApp(t, { model: scriptedModel([calling('greet', { who: 'a' }), done]), tools: [greet] })
    await runTaskIn(app)
    assert.deepEqual(heardArgs, [{ who: 'a', times: 1 }], 'what it hears is what the schema made of them')
  })

  test('Q9: one name is one tool: a second of that name is refused where it is added', async (t) => {
    await assert.rejects(openApp(t, { tools: [fakeTool(), fakeTool()] }), { code: 'plugin_invalid', message: /poke/ })
    await assert.rejects(openApp(t, { tools: [fakeTool({ name: 'create_file' })] }), { code: 'plugin_invalid' })
  })

  test('Q9: namespaces: tools of one name from two places stand beside each other', async (t) => {
    const [cats, dogs] = [
      inNamespace('cats', fakeTool({ name: 'call' })),
      inNamespace('dogs', fakeTool({ name: 'call' })),
    ]
    const model = scriptedModel([calling('dogs__call', { who: 'rex' }), done])
    assert.equal((await runTaskIn(await openApp(t, { model, tools: [cats, dogs] }))).status, 'done')
    assert.deepEqual([cats.receivedArgs, dogs.receivedArgs], [[], [{ who: 'rex' }]])
  })

  test('Q9: a name that no provider would take is refused where it is added', async (t) => {
    for (const name of ['', 'cats.call', 'call me', 'x'.repeat(65)])
      await assert.rejects(openApp(t, { tools: [fakeTool({ name })] }), {
        code: 'plugin_invalid',
        message: /invalid name/,
      })
  })

  test('B5: a tool with a time or a number of retries that is none is refused where it is added, by its name', async (t) => {
    const odd: [string, unknown[]][] = [
      ['timeoutMs', [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 1e300, '5', null]],
      ['maxRetries', [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, '2', null, 1e9]],
    ]
    for (const [field, values] of odd)
      for (const value of values) {
        const tool = { ...fakeTool(), [field]: value }
        const message = new RegExp(`${field}.*invalid tool poke|invalid tool poke.*${field}`)
        await assert.rejects(openApp(t, { tools: [tool] }), { code: 'plugin_invalid', message }, `${field}: ${value}`)
      }
  })

  test('Q9: a behaviour that offers a tool that there is not does not begin', async (t) => {
    const app = await openApp(t, { behaviours: [fakeBehaviour({ tools: ['pokee'] })], tools: [fakeTool()] })
    const result = await runTaskIn(app, 'x', { behaviour: 'own' })
    assert.deepEqual(
      [result.stop_reason, result.issues.map(({ code }) => code)],
      ['task_validation_failed', ['TASK_TOOL_UNKNOWN']],
    )
    assert.match(result.issues[0]?.message ?? '', /pokee/)
  })
})

describe('what came of a call', () => {
  test('case 32: an exception that says «tool not found» is an error of that call; what it is called follows from its type', async (t) => {
    const sick = fakeTool({
      run: () => {
        throw new Error('tool_not_found: file not found, unknown tool')
      },
    })
    const model = scriptedModel([calling('poke'), done])
    const app = await openApp(t, { model, tools: [sick] })
    const { session_id, status } = await runTaskIn(app)
    assert.deepEqual([status, await recordsOf(app, session_id, 'failed')], ['done', []])
    assert.match((await resultsOf(app, session_id))[0]?.content ?? '', /^tool_failed: tool_not_found: file not found/)
    assert.doesNotMatch(lastMessageIn(model, 1), /there is no tool/)
  })

  test('case 32: the category of what ends a run comes from its type, whatever its text says', async (t) => {
    const refusing = {
      id: 'scripted/no',
      call: () => Promise.reject(new TirelessError('model_auth', 'tool not found')),
    }
    const app = await openApp(t, { model: refusing })
    const [ended] = await recordsOf(app, (await runTaskIn(app)).session_id, 'run_ended')
    assert.partialDeepStrictEqual(ended, { failure_class: 'provider', failure_report: { category: 'model_error' } })
  })

  test('case 35: output that talks of a status is output: the life cycle of the call is its own', async (t) => {
    const talking = fakeTool({ run: () => '{"status": "error", "needs_approval": true}' })
    const facts = fakeTool({
      name: 'facts',
      run: () => ({ status: 'ok', content: 'fine', facts: { status: 'parked' } }),
    })
    const model = scriptedModel([calling('poke'), calling('facts'), done])
    const app = await openApp(t, { model, tools: [talking, facts] })
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

  test('case 35: a tool that returns no result at all is an error of that call, not of the run', async (t) => {
    for (const nothing of [
      undefined,
      'just text',
      { status: 'splendid', content: 'x' },
      { status: 'ok', content: 7 },
    ]) {
      const odd = defineTool({
        name: 'poke',
        description: 'returns what it should not',
        args: z.strictObject({}),
        effect: () => ({ recovery: 'once', reach: 'workspace' }),
        run: () => Promise.resolve(nothing as never),
      })
      const app = await openApp(t, { model: scriptedModel([calling('poke'), done]), tools: [odd] })
      const { session_id, status } = await runTaskIn(app)
      assert.equal(status, 'done')
      assert.partialDeepStrictEqual(await resultsOf(app, session_id), [{ status: 'error' }])
      assert.deepEqual(await recordsOf(app, session_id, 'failed'), [])
    }
  })

  test('Q9: a result longer than fits is cut in the middle, and says by how much', async (t) => {
    const long = fakeTool({ run: () => `begin${'x'.repeat(300_000)}end` })
    const app = await openApp(t, { model: scriptedModel([calling('poke'), done]), tools: [long] })
    const [result] = await resultsOf(app, (await runTaskIn(app)).session_id)
    assert.ok((result?.content.length ?? 0) <= 50_000)
    assert.match(result?.content ?? '', /^begin.*\d+ characters left out.*end$/s)
  })
})

describe('where its hands reach', () => {
  test('case 28, Q8: the same tool in a plain folder and in a repository; the groups it asks for are found per call', async (t) => {
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
      const app = await openApp(t, { model: scriptedModel([calling('note'), done]), tools: [note] })
      const result = await runTaskIn(app, 'note it', { env, workspace })
      assert.deepEqual([result.status, (await resultsOf(app, result.session_id))[0]?.content], ['done', groups])
      assert.equal(readFileSync(join(workspace, 'note.txt'), 'utf8'), 'noted')
    }
  })

  test('case 28: a group that it never said it needs, and that the env has not, is an error of the call', async (t) => {
    const sly = fakeTool({ run: (_, { ops }) => ops('git').head() })
    const app = await openApp(t, { model: scriptedModel([calling('poke'), done]), tools: [sly] })
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
    test(`case 37: ${tool} stays in its workspace, whatever it is asked`, async (t) => {
      const folder = freshFolder(t, 'confined')
      const [workspace, evil] = [join(folder, 'ws'), join(folder, 'ws-evil')]
      for (const made of [workspace, evil]) mkdirSync(made)
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
        return path === undefined ? done : calling(tool, { path, ...more })
      })
      const app = await openApp(t, { model })
      const { session_id, status } = await runTaskIn(app, 'x', { workspace })
      assert.equal(status, 'done')
      const results = await resultsOf(app, session_id)
      assert.deepEqual(
        results.map((result) => result.status),
        paths.map(() => 'error'),
      )
      assert.doesNotMatch(JSON.stringify(results), /crown jewels/)
      assert.deepEqual(readdirSync(evil), ['secret.txt'])
      assert.equal(readFileSync(join(evil, 'secret.txt'), 'utf8'), 'the crown jewels')
    })

  test('case 38: a file is written as it was seen, or not at all; a new one, and a touched one, are fine', async (t) => {
    const workspace = freshFolder(t, 'seen')
    const file = join(workspace, 'a.txt')
    const edit = (before: string, after: string) => calling('edit_file', { path: 'a.txt', old: before, new: after })
    const outside: Record<number, () => void> = {
      2: () => utimesSync(file, 1, 1),
      4: () => writeFileSync(file, 'three, changed by somebody else'),
    }
    const script: readonly [ScriptedStep, 'ok' | 'error'][] = [
      [edit('one', 'two'), 'error'],
      [calling('view_file', { path: 'a.txt' }), 'ok'],
      [edit('one', 'two'), 'ok'],
      [edit('two', 'three'), 'ok'],
      [edit('three', 'four'), 'error'],
      [calling('create_file', { path: 'a.txt', content: 'mine' }), 'error'],
      [calling('create_file', { path: 'b.txt', content: 'new' }), 'ok'],
    ]
    const model = scriptedModel((_, turn) => {
      if (turn === 0) writeFileSync(file, 'one')
      outside[turn]?.()
      return script[turn]?.[0] ?? done
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
    assert.equal(readFileSync(file, 'utf8'), 'three, changed by somebody else')
  })
})
