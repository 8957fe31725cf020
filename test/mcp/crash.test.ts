/**
 * kill -9 of the program during calls to an MCP server: each recovery class behaves as for any tool, and no process of
 * the server is left.
 */

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
import { EFFECTS, isRequestFor, modelOfAllTasks, TOOLS, type Tool, taskFor } from './interrupted-calls.ts'

interface RecoveredApp {
  readonly app: App
  readonly controlled: ControlledServer
  readonly model: ScriptedModel
  /** The server's process before the kill. */
  readonly oldServerPid: number
  dispatch(tool: Tool): Promise<Pick<Dispatch, 'status' | 'result' | 'wait'> | undefined>
  unknown(tool: Tool): Promise<UnknownOutcome | undefined>
  acted(tool: Tool): string[]
}

/** Killed during one call of each class, opened again, and run until idle. */
async function reopenAfterKill(t: TestContext): Promise<RecoveredApp> {
  const controlled = new ControlledServer(t)
  const home = freshFolder(t)
  controlled.setMode('kill the program', TOOLS.length)
  controlled.setTools({ extra: TOOLS })
  const servers = configYaml({ a: { command: controlled.command, trust: 'trusted', effects: EFFECTS } })
  writeFileSync(join(home, 'tireless.yaml'), `kernel: { max_concurrent: ${TOOLS.length} }\n${servers}`)
  const died = await run(process.execPath, [...NODE_FLAGS, join(import.meta.dirname, 'crash-main.ts'), home])
  assert.equal(died.exit, null, `the process was not killed: ${died.stderr}`)
  const [oldServerPid = 0] = controlled.pids()
  controlled.setMode('')
  const model = modelOfAllTasks()
  const app = await openApp(t, { home, model })
  await app.run('start', { until_idle: true })
  return {
    ...{ app, controlled, model, oldServerPid },
    async dispatch(tool) {
      const { items } = await app.run('queue list', {})
      return items.find(({ prompt }) => prompt === taskFor(tool))
    },
    async unknown(tool) {
      const { items } = await app.run('unknowns list', {})
      return items.find(({ tool: name }) => name === `a__${tool}`)
    },
    acted: (tool) => controlled.logLines(`acted ${tool} `),
  }
}

test('calls to a server that kill -9 interrupts (case 93)', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async (t) => {
  const { app, controlled, oldServerPid, dispatch, unknown, model, acted } = await reopenAfterKill(t)

  await t.test('no process of the earlier server is left', () => {
    assert.equal(controlled.pids().length, 2)
    assert.equal(isAlive(oldServerPid), false)
  })

  for (const tool of ['pure', 'idempotent'] as const)
    await t.test(`${tool}: called again under the same key`, async () => {
      const keys = acted(tool)
      assert.deepEqual({ keyCount: keys.length, distinctKeys: new Set(keys).size }, { keyCount: 2, distinctKeys: 1 })
      assert.deepEqual(
        { result: (await dispatch(tool))?.result, unknown: await unknown(tool) },
        { result: 'finished', unknown: undefined },
      )
      const bought = model.requests.filter((request) => isRequestFor(request, tool))
      assert.equal(bought.length, 1, 'the model was not called again for it')
    })

  await t.test('I4: once, in the workspace: the model is told, and the call is never repeated by itself', async () => {
    assert.equal(acted('inside').length, 1)
    assert.equal((await dispatch('inside'))?.status, 'done')
    const told = await unknown('inside')
    assert.deepEqual({ status: told?.status, args: told?.args }, { status: 'told_model', args: { what: 'inside' } })
    const [request] = model.requests.filter((one) => isRequestFor(one, 'inside'))
    assert.match(JSON.stringify(request?.messages.at(-1)), /\[unknown\].*It is unknown whether it took effect/)
  })

  for (const tool of ['once', 'reconcilable'] as const)
    await t.test(`I4: ${tool}, third party: waits for the owner and continues after the resolution`, async () => {
      assert.deepEqual(
        { kind: (await dispatch(tool))?.wait?.kind, actedCount: acted(tool).length },
        { kind: 'unknown', actedCount: 1 },
      )
      const open = await unknown(tool)
      assert.equal(open?.status, 'open')
      await app.run('unknowns resolve', { id: open?.id, as: 'happened' })
      await app.run('start', { until_idle: true })
      assert.deepEqual(
        { status: (await dispatch(tool))?.status, actedCount: acted(tool).length },
        { status: 'done', actedCount: 1 },
      )
    })
})

test('SIGTERM, then SIGINT: a call is cancelled, the program exits, and no server is left', async (t) => {
  const controlled = new ControlledServer(t)
  controlled.setMode('hang')
  const script = [toolSearch('act'), toolCall('a__act', { what: 'something' }), { text: 'finished' }]
  const home = await createHome(t, script)
  appendFileSync(
    join(home, 'tireless.yaml'),
    serversYaml({ a: { command: controlled.command, effects: { act: { recovery: 'once', reach: 'workspace' } } } }),
  )
  const child = startTireless(t, home, 'run', '--behaviour', 'solo', 'Act on something.')
  await waitUntil(() => controlled.logLines('acted').length === 1)
  // A different signal: two of the same kind could arrive as one.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) child.kill(signal)
  assert.notEqual(await waitForExit(child), null, 'it exited by itself')
  assert.deepEqual(controlled.pids().filter(isAlive), [])
})
