/** Messages of an agent to people when the process is killed right after the call. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { NODE_FLAGS, run } from './kills.ts'

const CASES = [
  { tool: 'send_message', args: { text: 'said once' }, ends: 'done' },
  { tool: 'ask_user', args: { question: 'asked once?' }, ends: 'waiting' },
] as const

describe('case 93: an agent that is killed right after it sent a message', () => {
  for (const { tool, args, ends } of CASES)
    test(`${tool}: the message is in the outbox once, is delivered once, and the run continues`, async (t) => {
      const home = freshFolder(t)
      const main = join(import.meta.dirname, 'after-call-main.ts')
      const died = await run(process.execPath, [...NODE_FLAGS, main, home, tool, JSON.stringify(args)])
      assert.equal(died.exit, null, `the process was not killed: ${died.stderr}`)
      const notes: string[] = []
      const model = scriptedModel([{ calls: [{ tool, args }] }, { text: 'done' }])
      const app = await openApp(t, { home, model })
      app.context.listen((progress) => progress.kind === 'note' && notes.push(progress.text))
      await app.run('start', { until_idle: true })
      const { items } = await app.run('notices list', {})
      assert.deepEqual(
        items.map(({ status }) => status),
        ['sent'],
      )
      assert.equal(notes.filter((text) => text.includes('once')).length, 1)
      const { items: dispatches } = await app.run('queue list', {})
      assert.deepEqual(
        dispatches.map(({ status }) => status),
        [ends],
      )
    })
})
