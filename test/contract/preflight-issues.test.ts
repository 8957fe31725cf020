/** The issues that preflight reports, with their codes. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Json } from '../../src/domain/json.ts'
import { type OpsGroup, provideOps } from '../../src/ports/env.ts'
import type { TaskEnd } from '../../src/run-task/task.ts'
import {
  finalAnswer,
  issueCodes,
  openRecordedApp,
  pokeTool,
  runScripted,
  scriptedBehaviour,
  withEnv,
} from '../support/event-recorder.ts'
import { logClose } from '../support/logged-env.ts'
import { freshFolder } from '../support/open-app.ts'

const toolThatNeeds = (...needs: OpsGroup[]) => pokeTool(() => {}, { needs })

/** An env that provides only file operations, or none. */
const envWithOnly = (ops: 'file' | 'nothing') =>
  withEnv((env) => {
    const file = env.getOps('file')
    return { ...env, ...provideOps(ops === 'file' && file ? { file } : {}) }
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
      assert.deepEqual(
        { stop_reason: result.stop_reason, issueCodes: issueCodes(result) },
        { stop_reason: 'task_validation_failed', issueCodes: [code] },
      )
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
    assert.deepEqual({ status: result.status, issueCodes: issueCodes(result) }, { status: 'done', issueCodes: [] })
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
      assert.deepEqual(
        { stop_reason: result.stop_reason, issueCodes: issueCodes(result) },
        { stop_reason: 'env_capability_mismatch', issueCodes: [code] },
      )
    }
  })

  test('case 14, Q7: an env whose health check throws counts as unhealthy', async (t) => {
    const health = () => {
      throw new Error('health check failed')
    }
    const result = await runInPreparedWorkspace(t, {}, { plugins: [withEnv((env) => ({ ...env, health }))] })
    assert.deepEqual(
      { status: result.status, issueCodes: issueCodes(result) },
      { status: 'failed', issueCodes: ['ENV_HEALTH_CHECK_FAILED'] },
    )
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
    assert.deepEqual(
      { files, log },
      { files: ['a.txt'], log: ['env closed'] },
      'no resource was mounted and no tool set up',
    )
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
          {
            issueCount: issues.length,
            namesTheLimit: issues[0]?.message.includes(`budget.${name}: got ${JSON.stringify(value)}`),
          },
          { issueCount: 1, namesTheLimit: true },
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
