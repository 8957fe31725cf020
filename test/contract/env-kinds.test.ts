/** Envs of a user's own: their groups of operations, their end of the run, their faults. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { EnvKind, EnvOpening, OpenedEnv } from '../../src/ports/env.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import {
  findEvent,
  issueCodes,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, openApp, replayIn } from '../support/open-app.ts'

interface LampOps {
  press(): number
}

declare module '../../src/ports/env.ts' {
  interface OpsGroups {
    readonly lamp: LampOps
  }
}

/** A lamp that has to be pressed three times. Counts how often it is touched. */
function lampEnv(more: Partial<EnvKind & OpenedEnv> = {}) {
  const seen = { opened: [] as EnvOpening[], presses: 0, asked: 0, closed: 0 }
  const { name = 'lamp', isolated = false, ...methods } = more
  const kind: EnvKind = {
    ...{ name, isolated },
    open(opening) {
      seen.opened.push(opening)
      return {
        ops: { lamp: { press: () => ++seen.presses } },
        async isTerminal() {
          seen.asked += 1
          return seen.presses >= 3 && { reason: 'the lamp is on', answer: `lit after ${seen.presses}` }
        },
        close() {
          seen.closed += 1
        },
        ...methods,
      }
    },
  }
  return { kind, seen }
}

const pressTool = defineTool({
  name: 'poke',
  description: 'presses the lamp',
  args: z.strictObject({}),
  needs: ['lamp'],
  effect: () => ({ recovery: 'once', reach: 'none' }),
  run: async (_, { ops }) => ({ status: 'ok', content: `pressed ${ops('lamp').press()} times` }),
})

const pressing = { behaviours: [scriptedBehaviour([pokeDecision])], tools: [pressTool] }

describe('envs of a user', () => {
  test('Q8, Q18: a task runs in an env with its own operations, which ends it with an answer', async (t) => {
    const { kind, seen } = lampEnv()
    const { app, events } = await openRecordedApp(t, { ...pressing, envs: [kind] })
    const { status, stop_reason, answer, steps, dispatch_id, workspace } = await runScripted(app, { env: 'lamp' })
    assert.deepEqual(
      { status, stop_reason, answer, steps },
      { status: 'done', stop_reason: 'env_terminal', answer: 'lit after 3', steps: 3 },
    )
    assert.equal(findEvent(events, 'END', 'end').payload.reason, 'the lamp is on')
    assert.deepEqual(seen.opened[0], { workspace, access: 'write', signal: seen.opened[0]?.signal })
    const { presses, asked, closed } = seen
    assert.deepEqual({ presses, asked, closed }, { presses: 3, asked: 3, closed: 1 })
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
    assert.deepEqual({ ...seen, opened: seen.opened.length }, { opened: 1, presses: 3, asked: 3, closed: 1 })
  })

  test('Q8: an env that ends its world as lost fails the run; a replay agrees', async (t) => {
    const { kind } = lampEnv({ isTerminal: () => ({ reason: 'the lamp broke', failed: true }) })
    const { app } = await openRecordedApp(t, { ...pressing, envs: [kind] })
    const { status, stop_reason, error, failure_class, dispatch_id } = await runScripted(app, { env: 'lamp' })
    assert.deepEqual(
      { status, stop_reason, error, failure_class },
      ...[{ status: 'failed', stop_reason: 'env_terminal', error: 'the lamp broke', failure_class: 'invalid_result' }],
    )
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
  })

  test('Q8: a run is refused if its env lacks the operations of a tool, or if there is no such env', async (t) => {
    const { kind } = lampEnv({ name: 'island', isolated: true })
    const needsFiles = pokeTool(() => {}, { needs: ['file'] })
    const app = await openApp(t, { ...pressing, tools: [needsFiles], envs: [kind] })
    const alone = await runScripted(app, { env: 'island' })
    assert.deepEqual(issueCodes(alone), ['ENV_OPS_GROUP_MISSING'])
    assert.match(alone.error ?? '', /poke needs file operations; the environment has only lamp/)
    const unknown = await runScripted(app, { env: 'moon' })
    assert.deepEqual(issueCodes(unknown), ['ENV_SETUP_FAILED'])
    assert.match(unknown.error ?? '', /unknown env kind; got moon; expected one of host, repository, island/)
    const elsewhere = await openApp(t, pressing)
    assert.deepEqual(issueCodes(await runScripted(elsewhere)), ['ENV_OPS_GROUP_MISSING'])
  })

  test('Q8: the operations of the workspace are there too; a plugin can add the env', async (t) => {
    const { kind } = lampEnv()
    const names: string[] = []
    const looking = pokeTool(({ env }) => void names.push(...env.groups), { needs: ['lamp', 'file'] })
    const app = await openApp(t, {
      ...{ ...pressing, tools: [looking] },
      plugins: [definePlugin({ name: 'lamps', needs: ['envKinds'], setup: (host) => host.get('envKinds').add(kind) })],
    })
    assert.equal((await runScripted(app, { env: 'lamp', max_steps: 1 })).stop_reason, 'budget_steps')
    assert.deepEqual(names, ['file', 'process', 'lamp'])
  })

  test('an env that fails, hangs or returns an invalid value refuses the run and is named', async (t) => {
    const faults: [string, EnvKind['open'] | Partial<OpenedEnv>, RegExp][] = [
      [
        'throws',
        () => Promise.reject(new Error('no power')),
        /ENV_SETUP_FAILED.*env lamp failed in open\(\): no power/,
      ],
      ['hangs', () => new Promise(() => {}), /env lamp did not return from open\(\) within 60 seconds/],
      ['a number', (() => 42) as never, /env lamp returned an invalid value from open\(\); got 42; expected \{ ops/],
      ['no ops', (async () => undefined) as never, /env lamp returned an invalid value from open\(\); got undefined/],
      ['NaN as ops', { ops: { lamp: Number.NaN } as never }, /env lamp returned an invalid value from open\(\)/],
      ['sick', { health: () => ({ ok: false, reason: 'no bulb' }) }, /ENV_HEALTH_CHECK_FAILED: no bulb/],
      ['a text as health', { health: () => 'fine' as never }, /env lamp returned an invalid value from health\(\)/],
      ['no health', { health: () => new Promise(() => {}) }, /env lamp did not return from health\(\) within 10 sec/],
    ]
    for (const [what, fault, error] of faults) {
      const clock = new FakeClock()
      const { kind } = typeof fault === 'function' ? { kind: { name: 'lamp', open: fault } } : lampEnv(fault)
      const app = await openApp(t, { ...pressing, clock, envs: [kind], yaml: 'sandbox: off\n' })
      const result = await advanceUntilDone(clock, runScripted(app, { env: 'lamp' }))
      assert.deepEqual({ what, status: result.status, steps: result.steps }, { what, status: 'failed', steps: 0 })
      assert.match(result.error ?? '', error)
      await app.close()
    }
  })

  test('an isTerminal that hangs or returns an invalid value fails the step; a replay agrees', async (t) => {
    for (const [isTerminal, error] of [
      [() => new Promise<never>(() => {}), /plugin_failed: env lamp did not answer isTerminal\(\) within 10 seconds/],
      [() => 42 as never, /plugin_invalid: env lamp returned an invalid value from isTerminal\(\).*got 42/],
    ] as const) {
      const clock = new FakeClock()
      const app = await openApp(t, { ...pressing, clock, envs: [lampEnv({ isTerminal }).kind], yaml: 'sandbox: off\n' })
      const result = await advanceUntilDone(clock, runScripted(app, { env: 'lamp' }))
      assert.match(result.error ?? '', error)
      assert.deepEqual((await replayIn(app, result.dispatch_id)).first_divergence, null)
    }
  })

  test('an env with the name of a built-in one, or without open(), is refused at the start', async (t) => {
    await assert.rejects(openApp(t, { envs: [{ ...lampEnv().kind, name: 'host' }] }), /the env host is built in/)
    await assert.rejects(openApp(t, { envs: [{ name: 'lamp' } as never] }), /open: invalid entry lamp in envs/)
  })
})
