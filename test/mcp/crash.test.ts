/** kill -9 of the program while a server is at work for it: each recovery class as for any other tool, and nothing is left of that server. */

import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import type { UnknownOutcome } from '../../src/domain/unknown-outcome.ts'
import type { ScriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import { createHome, startTireless, waitForExit } from '../support/command-line.ts'
import { ControlledServer, configYaml, isAlive, serversYaml, toolCall, toolSearch } from '../support/mcp-homes.ts'
import { freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { EFFECTS, isFor, modelOfAll, TOOLS, type Tool, taskFor } from './interrupted-calls.ts'

interface Scene {
  readonly app: App
  readonly acting: ControlledServer
  readonly model: ScriptedModel
  /** The server's process of the life before. */
  readonly orphan: number
  dispatch(tool: Tool): Promise<Dispatch | undefined>
  unknown(tool: Tool): Promise<UnknownOutcome | undefined>
  acted(tool: Tool): string[]
}

/** Killed while a call of each class was under way, opened again, and worked off. */
async function afterDeath(t: TestContext): Promise<Scene> {
  const acting = new ControlledServer(t)
  const home = freshFolder(t)
  acting.setMode('kill the program', TOOLS.length)
  acting.setTools({ more: TOOLS })
  const servers = configYaml({ a: { command: acting.command, trust: 'trusted', effects: EFFECTS } })
  writeFileSync(join(home, 'tireless.yaml'), `kernel: { max_concurrent: ${TOOLS.length} }\n${servers}`)
  const died = await run(process.execPath, [...NODE_FLAGS, join(import.meta.dirname, 'crash-main.ts'), home])
  assert.equal(died.exit, null, `it did not die: ${died.stderr}`)
  const [orphan = 0] = acting.pids()
  acting.setMode('')
  const model = modelOfAll()
  const app = await openApp(t, { home, model })
  await app.run('start', { until_idle: true })
  return {
    ...{ app, acting, model, orphan },
    async dispatch(tool) {
      const { items } = (await app.run('queue list', {})) as { items: Dispatch[] }
      return items.find(({ prompt }) => prompt === taskFor(tool))
    },
    async unknown(tool) {
      const { items } = (await app.run('unknowns list', {})) as { items: UnknownOutcome[] }
      return items.find(({ tool: name }) => name === `a__${tool}`)
    },
    acted: (tool) => acting.logLines(`acted ${tool} `),
  }
}

test('calls to a server that a kill -9 cut short (case 93)', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async (t) => {
  const { app, acting, orphan, dispatch, unknown, model, acted } = await afterDeath(t)

  await t.test('nothing is left of the server before', () => {
    assert.equal(acting.pids().length, 2)
    assert.equal(isAlive(orphan), false)
  })

  for (const tool of ['pure', 'idempotent'] as const)
    await t.test(`${tool}: asked again under the same key`, async () => {
      const keys = acted(tool)
      assert.deepEqual([keys.length, new Set(keys).size], [2, 1])
      assert.deepEqual([(await dispatch(tool))?.result, await unknown(tool)], ['finished', undefined])
      const bought = model.requests.filter((request) => isFor(request, tool))
      assert.equal(bought.length, 1, 'the answer was not bought again')
    })

  await t.test('I4, once, in the workspace: told to the model, never asked again by itself', async () => {
    assert.equal(acted('inside').length, 1)
    assert.equal((await dispatch('inside'))?.status, 'done')
    const told = await unknown('inside')
    assert.deepEqual([told?.status, told?.args], ['told_model', { what: 'inside' }])
    const [request] = model.requests.filter((one) => isFor(one, 'inside'))
    assert.match(JSON.stringify(request?.messages.at(-1)), /\[unknown\].*It is unknown whether it took effect/)
  })

  for (const tool of ['once', 'reconcilable'] as const)
    await t.test(`I4, ${tool}, outside: it waits for a person, and goes on by his word`, async () => {
      assert.deepEqual([(await dispatch(tool))?.wait?.kind, acted(tool).length], ['unknown', 1])
      const open = await unknown(tool)
      assert.equal(open?.status, 'open')
      await app.run('unknowns resolve', { id: open?.id, as: 'happened' })
      await app.run('start', { until_idle: true })
      assert.deepEqual([(await dispatch(tool))?.status, acted(tool).length], ['done', 1])
    })
})

test('SIGTERM, then SIGINT: a call under way is told to stop, the program ends, and nothing of the server is left', async (t) => {
  const acting = new ControlledServer(t)
  acting.setMode('hang')
  const script = [toolSearch('act'), toolCall('a__act', { what: 'something' }), { text: 'finished' }]
  const home = await createHome(t, script)
  appendFileSync(
    join(home, 'tireless.yaml'),
    serversYaml({ a: { command: acting.command, effects: { act: { recovery: 'once', reach: 'workspace' } } } }),
  )
  const child = startTireless(t, home, 'run', 'Act on something.')
  await waitUntil(() => acting.logLines('acted').length === 1)
  // Another signal than the first: two of the same could arrive as one.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) child.kill(signal)
  assert.notEqual(await waitForExit(child), null, 'it ended by itself')
  assert.deepEqual(acting.pids().filter(isAlive), [])
})
