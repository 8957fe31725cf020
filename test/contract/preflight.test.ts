import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
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
import { logClose } from '../support/logged-env.ts'

const REFUSED = ['INIT start', 'END end']

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
      { status: result.status, stop_reason: result.stop_reason, steps: result.steps, issueCodes: issueCodes(result) },
      { status: 'failed', stop_reason: 'env_capability_mismatch', steps: 0, issueCodes: ['ENV_OPS_GROUP_MISSING'] },
    )
    assert.deepEqual(eventNames(events), REFUSED)
    const end = findEvent(events, 'END', 'end')
    assert.deepEqual({ ok: end.ok, step_id: end.step_id }, { ok: false, step_id: 0 })
    assert.deepEqual(end.payload.issues, result.issues)
    assert.deepEqual(hook.moments, ['run_start 0', 'run_end 0'])
    assert.deepEqual(log, ['env closed'])
    const manifest = await manifestOf(app, result.dispatch_id)
    assert.deepEqual(
      { status: manifest.status, step_count: manifest.step_count, issues: manifest.issues },
      { status: 'failed', step_count: 0, issues: result.issues },
    )
  })

  test('case 12: an env that fails to open ends the run as env_capability_mismatch', async (t) => {
    const broken = withEnv(() => Promise.reject(new Error('no such container')))
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      plugins: [broken],
    })
    const result = await runScripted(app)
    assert.deepEqual(
      { stop_reason: result.stop_reason, issueCodes: issueCodes(result) },
      { stop_reason: 'env_capability_mismatch', issueCodes: ['ENV_SETUP_FAILED'] },
    )
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
    assert.deepEqual(
      { stop_reason: result.stop_reason, issueCodes: issueCodes(result) },
      { stop_reason: 'env_capability_mismatch', issueCodes: ['ENV_TOOL_SETUP_FAILED'] },
    )
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
