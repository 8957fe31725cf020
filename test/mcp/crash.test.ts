/** kill -9 of the program while a server is at work for it: each recovery class as for any other tool, and nothing is left of that server. */

import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import type { Unknown } from '../../src/domain/unknown.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp, until } from '../apps.ts'
import { begin, ended, homeWith } from '../command-line.ts'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import { Acting, isAlive, toolCall, toolSearch, yamlWith } from './scenes.ts'

interface Scene {
  readonly app: App
  readonly acting: Acting
  readonly model: ScriptedModel
  /** The server's process of the life before. */
  readonly orphan: number
  dispatch(): Promise<Dispatch>
  unknowns(): Promise<Unknown[]>
}

async function afterDeath(t: TestContext, recovery: string, reach: string): Promise<Scene> {
  const acting = new Acting(t)
  const home = freshFolder(t)
  acting.mode('kill the program')
  writeFileSync(
    join(home, 'tireless.yaml'),
    yamlWith({ a: { command: acting.command, effects: { act: { recovery, reach } } } }),
  )
  const died = await run(process.execPath, [...NODE_FLAGS, join(import.meta.dirname, 'crash-main.ts'), home])
  assert.equal(died.exit, null, `it did not die: ${died.stderr}`)
  const [orphan = 0] = acting.pids()
  acting.mode('')
  const model = scriptedModel([toolSearch('act'), toolCall('a__act', { what: 'something' }), { text: 'finished' }])
  const app = await openApp(t, { home, model })
  await app.run('start', { until_idle: true })
  return {
    ...{ app, acting, model, orphan },
    dispatch: async () => ((await app.run('queue list', {})) as { items: Dispatch[] }).items[0] as Dispatch,
    unknowns: async () => ((await app.run('unknowns list', {})) as { items: Unknown[] }).items,
  }
}

describe('a call to a server that a kill -9 cut short (case 93)', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, () => {
  for (const recovery of ['pure', 'idempotent'])
    test(`${recovery}: asked again under the same key, once nothing is left of the server before`, async (t) => {
      const { acting, orphan, dispatch, unknowns, model } = await afterDeath(t, recovery, 'third_party')
      const keys = acting.log('acted')
      assert.deepEqual([keys.length, new Set(keys).size], [2, 1])
      assert.deepEqual([(await dispatch()).result, await unknowns()], ['finished', []])
      assert.equal(model.requests.length, 1, 'the answer was not bought again')
      assert.equal(isAlive(orphan), false)
    })

  test('I4, once, in the workspace: told to the model, never asked again by itself', async (t) => {
    const { acting, orphan, dispatch, unknowns, model } = await afterDeath(t, 'once', 'workspace')
    assert.equal(acting.log('acted').length, 1)
    assert.equal((await dispatch()).status, 'done')
    assert.deepEqual(
      (await unknowns()).map(({ status, tool, args }) => [status, tool, args]),
      [['told_model', 'a__act', { what: 'something' }]],
    )
    assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /\[unknown\].*nobody knows/)
    assert.equal(isAlive(orphan), false)
  })

  for (const recovery of ['once', 'reconcilable'])
    test(`I4, ${recovery}, outside: it waits for a person, and goes on by his word`, async (t) => {
      const { app, acting, orphan, dispatch, unknowns } = await afterDeath(t, recovery, 'third_party')
      assert.deepEqual([(await dispatch()).wait?.kind, acting.log('acted').length], ['unknown', 1])
      assert.equal(isAlive(orphan), false)
      const [unknown] = await unknowns()
      assert.deepEqual([unknown?.status, unknown?.tool], ['open', 'a__act'])
      await app.run('unknowns resolve', { id: unknown?.id, as: 'happened' })
      await app.run('start', { until_idle: true })
      assert.deepEqual([(await dispatch()).status, acting.log('acted').length], ['done', 1])
    })
})

test('SIGTERM, then again: a call under way is told to stop, the program ends, and nothing of the server is left', async (t) => {
  const acting = new Acting(t)
  acting.mode('hang')
  const script = [toolSearch('act'), toolCall('a__act', { what: 'something' }), { text: 'finished' }]
  const home = await homeWith(t, script)
  appendFileSync(
    join(home, 'tireless.yaml'),
    yamlWith({ a: { command: acting.command, effects: { act: { recovery: 'once', reach: 'workspace' } } } }),
  )
  const child = begin(t, home, 'run', 'Act on something.')
  await until(() => acting.log('acted').length === 1)
  for (let times = 0; times < 2; times += 1) child.kill('SIGTERM')
  assert.notEqual(await ended(child), null, 'it ended by itself')
  assert.deepEqual(acting.pids().filter(isAlive), [])
})
