import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Json } from '../../src/domain/json.ts'
import { type Env, type OpsGroup, provideOps } from '../../src/ports/env.ts'
import type { TaskEnd } from '../../src/run-task.ts'
import {
  eventNames,
  finalAnswer,
  findEvent,
  issueCodes,
  manifestOf,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  recordingHook,
  runScripted,
  scriptedBehaviour,
  withEnv,
} from '../support/event-recorder.ts'
import { freshFolder } from '../support/open-app.ts'

const REFUSED = ['INIT start', 'END end']
const toolThatNeeds = (...needs: OpsGroup[]) => pokeTool(() => {}, { needs })
/** An env that provides only file operations, or none. */
const envWithOnly = (ops: 'file' | 'nothing') =>
  withEnv((env) => {
    const file = env.getOps('file')
    return { ...env, ...provideOps(ops === 'file' && file ? { file } : {}) }
  })

describe('preflight', () => {
  test('case 11, Q1: a refused run has INIT, END and its issues, but no step; the env is closed', async (t) => {
    const hook = recordingHook()
    const log: string[] = []
    const closingPlugin = withEnv((env) => logClose(log, env))
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision])],
      hooks: [hook],
      tools: [pokeTool(() => {}, { needs: ['git'], setup: async () => void log.push('set up') })],
      plugins: [closingPlugin],
    })
    const result = await runScripted(app)
    assert.deepEqual(
      [result.status, result.stop_reason, result.steps, issueCodes(result)],
      ['failed', 'env_capability_mismatch', 0, ['ENV_OPS_GROUP_MISSING']],
    )
    assert.deepEqual(eventNames(events), REFUSED)
    const end = findEvent(events, 'END', 'end')
    assert.deepEqual([end.ok, end.step_id], [false, 0])
    assert.deepEqual(end.payload.issues, result.issues)
    assert.deepEqual(hook.moments, ['run_start 0', 'run_end 0'])
    assert.deepEqual(log, ['env closed'])
    const manifest = await manifestOf(app, result.dispatch_id)
    assert.deepEqual([manifest.status, manifest.step_count, manifest.issues], ['failed', 0, result.issues])
  })

  test('case 12: an env that fails to open ends the run as env_capability_mismatch', async (t) => {
    const broken = withEnv(() => Promise.reject(new Error('no such container')))
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      plugins: [broken],
    })
    const result = await runScripted(app)
    assert.deepEqual([result.stop_reason, issueCodes(result)], ['env_capability_mismatch', ['ENV_SETUP_FAILED']])
    assert.match(result.error ?? '', /no such container/)
    assert.deepEqual(eventNames(events), REFUSED)
  })

  test('case 12: a tool whose setup fails ends the run; teardown runs in reverse order', async (t) => {
    const log: string[] = []
    const tool = (name: string, fails = false) =>
      pokeTool(() => {}, {
        name,
        async setup() {
          if (fails) throw new Error(`${name} is broken`)
          log.push(`up ${name}`)
        },
        async teardown() {
          log.push(`down ${name}`)
          throw new Error('teardown failed')
        },
      })
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { tools: ['one', 'two', 'three', 'four'] })],
      tools: [tool('one'), tool('two'), tool('three', true), tool('four')],
      plugins: [withEnv((env) => logClose(log, env))],
    })
    const result = await runScripted(app)
    assert.deepEqual([result.stop_reason, issueCodes(result)], ['env_capability_mismatch', ['ENV_TOOL_SETUP_FAILED']])
    assert.deepEqual(log, ['up one', 'up two', 'down two', 'down one', 'env closed'])
  })

  test('case 12: teardown runs once for done, failed and waiting runs', async (t) => {
    const wait = { kind: 'wait', match: 'user_message', reason: 'a message' } as const
    for (const [decision, status] of [
      [finalAnswer(), 'done'],
      [finalAnswer(''), 'failed'],
      [wait, 'waiting'],
    ] as const) {
      const log: string[] = []
      const tool = pokeTool(() => {}, {
        setup: async () => void log.push('up'),
        teardown: async () => void log.push('down'),
      })
      const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([decision])], tools: [tool] })
      assert.equal((await runScripted(app)).status, status)
      assert.deepEqual(log, ['up', 'down'], status)
    }
  })
})

describe('issue codes', () => {
  const resources: [string, object, string][] = [
    ['that does not exist', { path: 'gone.txt' }, 'TASK_RESOURCE_MISSING'],
    ['without a path', { path: '' }, 'TASK_RESOURCE_LOCATOR_MISSING'],
    ['with a blank mount point', { path: 'a.txt', mount_to: ' ' }, 'TASK_RESOURCE_MOUNT_INVALID'],
    ['mounted outside the workspace', { path: 'a.txt', mount_to: '../b.txt' }, 'TASK_RESOURCE_MOUNT_INVALID'],
    ['outside the workspace', { path: '/etc/passwd' }, 'TASK_RESOURCE_MISSING'],
  ]
  for (const [what, resource, code] of resources)
    test(`case 13, Q7: a resource ${what}: ${code}`, async (t) => {
      const result = await runInPreparedWorkspace(t, { resources: [resource] })
      assert.deepEqual([result.stop_reason, issueCodes(result)], ['task_validation_failed', [code]])
    })

  test('case 13: a writable resource that is read-only: TASK_RESOURCE_NOT_WRITABLE', async (t) => {
    const readOnly = withEnv((env) => {
      const file = env.getOps('file')
      if (!file) return env
      const write = () => assert.fail('unexpected write')
      return { ...env, ...provideOps({ file: { ...file, write, writable: async () => false } }) }
    })
    for (const path of ['a.txt', 'folder']) {
      const result = await runInPreparedWorkspace(t, { resources: [{ path, writable: true }] }, { plugins: [readOnly] })
      assert.deepEqual(issueCodes(result), ['TASK_RESOURCE_NOT_WRITABLE'])
    }
  })

  test('Q7: present and optional resources cause no issue; mount_to copies the file', async (t) => {
    const resources = [
      { path: 'a.txt', writable: true, mount_to: 'input/a.txt' },
      { path: 'folder' },
      { path: 'gone.txt', required: false },
    ]
    const result = await runInPreparedWorkspace(t, { resources })
    assert.deepEqual([result.status, issueCodes(result)], ['done', []])
    assert.equal(readFileSync(join(result.workspace, 'input/a.txt'), 'utf8'), 'a')
  })

  test('case 13, Q7: an env without operations, without a group or unhealthy has its own issue', async (t) => {
    const unhealthy = withEnv((env) => ({
      ...env,
      health: async () => ({ ok: false, reason: 'the disk is full' }) as const,
    }))
    const cases = [
      [envWithOnly('nothing'), 'ENV_REQUIRED_OPS_MISSING'],
      [envWithOnly('file'), 'ENV_OPS_GROUP_MISSING'],
      [unhealthy, 'ENV_HEALTH_CHECK_FAILED'],
    ] as const
    for (const [plugin, code] of cases) {
      const result = await runInPreparedWorkspace(t, {}, { plugins: [plugin], tools: [toolThatNeeds('process')] })
      assert.deepEqual([result.stop_reason, issueCodes(result)], ['env_capability_mismatch', [code]])
    }
  })

  test('case 14, Q7: an env whose health check throws counts as unhealthy', async (t) => {
    const health = () => {
      throw new Error('health check failed')
    }
    const result = await runInPreparedWorkspace(t, {}, { plugins: [withEnv((env) => ({ ...env, health }))] })
    assert.deepEqual([result.status, issueCodes(result)], ['failed', ['ENV_HEALTH_CHECK_FAILED']])
  })

  test('Q7: an unknown behaviour, parser, memory or env is named, with the known ones', async (t) => {
    for (const [input, code] of [
      [{ behaviour: 'missing' }, 'TASK_BEHAVIOUR_UNKNOWN'],
      [{ parser: 'morse' }, 'TASK_PARSER_UNKNOWN'],
      [{ memory: 'elephant' }, 'TASK_MEMORY_UNKNOWN'],
      [{ env: 'moon' }, 'ENV_SETUP_FAILED'],
    ] as const) {
      const result = await runInPreparedWorkspace(t, input)
      assert.deepEqual(issueCodes(result), [code])
      assert.match(result.issues[0]?.message ?? '', /expected one of/, 'the message lists the known names')
    }
  })

  test('Q7: all issues are reported; a task issue decides the stop reason over an env issue', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      plugins: [envWithOnly('file')],
      tools: [toolThatNeeds('process', 'git')],
    })
    const result = await runScripted(app, { resources: [{ path: 'gone.txt' }] })
    assert.deepEqual(issueCodes(result), ['TASK_RESOURCE_MISSING', 'ENV_OPS_GROUP_MISSING', 'ENV_OPS_GROUP_MISSING'])
    assert.equal(result.stop_reason, 'task_validation_failed')
  })

  test('Q7: issues of all categories are reported together', async (t) => {
    const log: string[] = []
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { tools: ['poke', 'nowhere'], memory: 'broken' })],
      memories: [{ name: 'broken', open: () => assert.fail('memory failed') }],
      plugins: [
        withEnv(async (env) => {
          const file = env.getOps('file')
          await file?.write('a.txt', 'a', null)
          const health = async () => ({ ok: false, reason: 'the disk is full' }) as const
          return logClose(log, { ...env, ...provideOps(file ? { file } : {}), health })
        }),
      ],
      tools: [pokeTool(() => {}, { needs: ['git'], setup: async () => void log.push('set up') })],
    })
    const resources = [{ path: 'gone.txt' }, { path: 'a.txt', mount_to: 'b.txt' }]
    const metadata = { parser: 'morse', resources, budget: { steps: 1.5 } }
    const { issues, stop_reason, files } = await runUncheckedDispatch(t, app, metadata)
    assert.deepEqual(
      issues.map(({ code }) => code),
      [
        ...['TASK_PARSER_UNKNOWN', 'TASK_TOOL_UNKNOWN', 'TASK_BUDGET_STEPS_INVALID'],
        ...['TASK_RESOURCE_MISSING', 'ENV_OPS_GROUP_MISSING', 'ENV_HEALTH_CHECK_FAILED', 'TASK_MEMORY_UNUSABLE'],
      ],
    )
    assert.equal(stop_reason, 'task_validation_failed')
    assert.deepEqual([files, log], [['a.txt'], ['env closed']], 'no resource was mounted and no tool set up')
  })

  for (const [name, bad] of [
    ['steps', [1.5, 0, -1, 'many', 2 ** 60]],
    ['ms', [0, -1, 'long']],
    ['tokens', [0.5, 0, -3]],
    ['usd', [0, -0.5, true]],
    ['context', [1.5, 0, -1]],
  ] as const)
    test(`Q7: preflight refuses an invalid budget.${name}`, async (t) => {
      const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])] })
      for (const value of bad) {
        const { issues } = await runUncheckedDispatch(t, app, { budget: { [name]: value } })
        assert.deepEqual(
          [issues.length, issues[0]?.message.includes(`budget.${name}: got ${JSON.stringify(value)}`)],
          [1, true],
        )
      }
    })

  test('run and enqueue refuse invalid budgets such as max_steps: 1.5', async (t) => {
    const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])] })
    const bad: Readonly<Record<string, readonly unknown[]>> = {
      max_steps: [1.5, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, '3', 2 ** 60],
      max_tokens: [0.5, 0, -3, Number.NaN, Number.POSITIVE_INFINITY],
      max_seconds: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308],
      max_usd: [0, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e308],
    }
    for (const [name, values] of Object.entries(bad))
      for (const value of values)
        for (const [verb, input] of [
          ['run', { task: 'x' }],
          ['enqueue', { prompt: 'x' }],
        ] as const)
          await assert.rejects(
            app.run(verb, { ...input, [name]: value }),
            { code: 'usage' },
            `${verb} ${name} ${value}`,
          )
    for (const good of [{ max_steps: 1 }, { max_seconds: 0.5 }, { max_usd: 0.01 }, { max_tokens: null }])
      assert.equal((await runScripted(app, good)).status, 'done')
  })

  test('Q7: an invalid objective or budget is refused by the command and by preflight', async (t) => {
    const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])] })
    await assert.rejects(runScripted(app, { task: '  ' }), { code: 'usage' })
    await assert.rejects(runScripted(app, { max_steps: 0 }), { code: 'usage' })
    const budget: Json = { steps: 0, ms: -1, tokens: 'many', usd: -0.5 }
    const { issues, stop_reason } = await runUncheckedDispatch(t, app, { budget }, '\t ')
    assert.equal(stop_reason, 'task_validation_failed')
    assert.deepEqual(
      issues.map(({ code }) => code),
      [
        'TASK_OBJECTIVE_INVALID',
        ...['STEPS', 'RUNTIME', 'TOKENS', 'MONEY'].map((name) => `TASK_BUDGET_${name}_INVALID`),
      ],
    )
  })
})

/** Runs a dispatch that bypassed the input checks of commands; returns its manifest and workspace files. */
async function runUncheckedDispatch(t: TestContext, app: App, metadata: Readonly<Record<string, Json>>, prompt = 'x') {
  const id = app.context.ids.next()
  const workspace = freshFolder(t, 'workspace')
  const dispatch = {
    ...{ dispatch_id: id, kernel_id: 'k', agent_id: 'default', session_id: `s${id}`, source: 'test' },
    ...{ prompt, priority: 0, metadata: { behaviour: 'scripted', ...metadata }, workspace },
  }
  await app.context.store.commit([{ ops: [{ op: 'enqueue', now: app.context.clock.now(), dispatches: [dispatch] }] }])
  await app.run('start', { until_idle: true })
  const { manifest } = await app.run('trace show', { run: id })
  return { ...manifest, files: readdirSync(workspace) }
}

function logClose(log: string[], env: Env): Env {
  const close = async (): Promise<void> => {
    log.push('env closed')
    await env.close()
  }
  return { ...env, close }
}

/** The workspace has a file `a.txt` and a folder `folder`. */
async function runInPreparedWorkspace(
  t: TestContext,
  input: object,
  { plugins = [], ...options }: Parameters<typeof openRecordedApp>[1] = {},
): Promise<TaskEnd> {
  const preparedWorkspace = withEnv(async (env) => {
    await env.getOps('file')?.write('a.txt', 'a', null)
    await env.getOps('file')?.write('folder/b.txt', 'b', null)
    return env
  }, 'prepared env')
  const { app } = await openRecordedApp(t, {
    behaviours: [scriptedBehaviour([finalAnswer()])],
    plugins: [preparedWorkspace, ...plugins],
    ...options,
  })
  return runScripted(app, input)
}
