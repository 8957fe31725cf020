/** The command compare: the first divergence of two runs. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../src/app.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { createHome, tireless, tirelessJson } from './support/command-line.ts'
import { openApp, runTaskIn } from './support/open-app.ts'
import { WRITE_STEP } from './support/write-step.ts'

describe('compare', () => {
  /** Runs the same task twice; the model follows the first script, then the second. */
  async function runTwice(
    t: TestContext,
    one: ScriptedStep[],
    other: ScriptedStep[],
  ): Promise<{ app: App; ids: string[] }> {
    let runs = 0
    const model = scriptedModel((_, turn) => {
      if (turn === 0) runs += 1
      return (runs === 1 ? one : other)[turn] ?? { text: 'lost' }
    })
    const app = await openApp(t, { model })
    const first = await runTaskIn(app, 'same')
    const second = await runTaskIn(app, 'same')
    return { app, ids: [first.dispatch_id, second.dispatch_id] }
  }

  test('Q15: shows the first divergence, steps and outcome of two runs', async (t) => {
    const LIST_STEP: ScriptedStep = { calls: [{ tool: 'list_files', args: { path: '.' } }] }
    const { app, ids } = await runTwice(t, [WRITE_STEP, { text: 'a' }], [WRITE_STEP, LIST_STEP, { text: 'b' }])
    const compared = await app.run('compare', { a: ids[0] ?? '', b: ids[1] ?? '' })
    assert.partialDeepStrictEqual(compared, {
      first_divergence: {
        step: 2,
        phase: 'DECIDE',
        a: { kind: 'final', answer: 'a' },
        b: { kind: 'act', calls: [{ tool: 'list_files', args: { path: '.' } }] },
      },
      a: { steps: 2, stop_reason: 'final', answer: 'a', cost_usd: null },
      b: { steps: 3, stop_reason: 'final', answer: 'b' },
    })
    assert.partialDeepStrictEqual(await app.run('compare', { a: ids[0] ?? '', b: ids[0] ?? '' }), {
      first_divergence: null,
    })
  })

  test('case 61: refuses different tasks, running runs and unknown runs', async (t) => {
    const waitStep: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }
    const { app, ids } = await runTwice(t, [{ text: 'a' }], [waitStep])
    const [a, b] = ids
    await assert.rejects(app.run('compare', { a: a ?? '', b: b ?? '' }), { code: 'conflict', message: /has not ended/ })
    await assert.rejects(app.run('compare', { a: a ?? '', b: 'nobody' }), { code: 'not_found' })
    const third = await runTaskIn(app, 'another')
    await assert.rejects(app.run('compare', { a: a ?? '', b: third.dispatch_id }), { code: 'conflict' })
  })

  test('prints the divergence, then both runs side by side', async (t) => {
    const home = await createHome(t, [{ text: 'forty-two' }])
    const first = await tirelessJson<{ dispatch_id: string }>(home, 'run', 'think')
    const second = await tirelessJson<{ dispatch_id: string }>(home, 'run', 'think')
    const compared = await tireless(home, 'compare', first.dispatch_id, second.dispatch_id)
    assert.equal(compared.exit, 0, compared.stderr)
    assert.match(compared.stdout, /^no difference/)
    assert.match(compared.stdout, /^stop_reason +final +final$/m)
  })
})
