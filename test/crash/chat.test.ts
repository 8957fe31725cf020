/**
 * Kills a conversation in a chat before and after every commit, and inside every delivery: nothing is lost, nothing is
 * answered twice, and at most one delivery is repeated, under its own id. `npm run crash` tries all points.
 */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isFrontSession } from '../../src/domain/reply-to.ts'
import { writeTalkBehaviours } from '../support/conversations.ts'
import { freshFolder, journalOf, openApp } from '../support/open-app.ts'
import { answeringModel, deliveredMessages, deliveringChannel, receiveChatTask } from './chat-kill-tools.ts'
import { NODE_FLAGS, run, sampled } from './kills.ts'

const MAIN = join(import.meta.dirname, 'chat-kill-main.ts')
/** The last commits may be missing in a run: what a process still writes when it ends depends on timing. */
const MAX_UNREACHED = 2

async function createPairedHome(t: TestContext): Promise<string> {
  const home = freshFolder(t)
  writeTalkBehaviours(home)
  const app = await openApp(t, { home, model: answeringModel(), channels: [deliveringChannel(home)] })
  await app.run('channels pair', { name: 'chat', chat: 'c9' })
  await app.close()
  return home
}

const killed = (home: string, point: string) => run(process.execPath, [...NODE_FLAGS, MAIN, home, point])

/** Every point of the conversation, found by a run that is not killed. */
async function findPoints(t: TestContext): Promise<readonly string[]> {
  const { stdout } = await killed(await createPairedHome(t), 'never')
  const { commits, deliveries } = JSON.parse(stdout) as { commits: number; deliveries: number }
  assert.equal(deliveries, 2)
  return [
    ...Array.from({ length: commits }, (_, i) => [`before ${i + 1}`, `after ${i + 1}`]).flat(),
    ...Array.from({ length: deliveries }, (_, i) => `deliver ${i + 1}`),
  ]
}

/** Contract: whether the process died at the point; either way, the conversation is whole after the next start. */
async function killAndContinue(t: TestContext, point: string): Promise<boolean> {
  const home = await createPairedHome(t)
  const { exit } = await killed(home, point)
  const app = await openApp(t, { home, model: answeringModel(), channels: [deliveringChannel(home)] })
  await receiveChatTask(app)
  assert.deepEqual(await receiveChatTask(app), { duplicate: true })
  await app.run('start', { until_idle: true })
  const { items } = await app.run('queue list', {})
  assert.deepEqual(
    items.map(({ status, session_id }) => `${isFrontSession(session_id) ? 'front' : 'work'} ${status}`).toSorted(),
    ['front done', 'work done'],
  )
  const received = deliveredMessages(home)
  const distinct = new Map(received.map((message) => [message.id, message]))
  assert.deepEqual(
    [...distinct.values()].map(({ text, thread_id }) => [text.split('\n')[0], thread_id]),
    [
      ['On it.', 't1'],
      ['Written.', 't1'],
    ],
  )
  assert.ok(received.length <= distinct.size + 1, 'a crash repeats at most one delivery')
  const work = items.find(({ session_id }) => !isFrontSession(session_id))?.session_id ?? ''
  const made = (await journalOf(app, work)).filter(({ kind }) => kind === 'call_settled')
  assert.equal(made.length, 1, 'the file is written once')
  await app.close()
  return exit === null
}

test('E12, E16: kill -9 between a message in a chat and its answer: one session, one answer', async (t) => {
  const all = await findPoints(t)
  const points = [...new Set([...sampled(all, 8), 'deliver 2'])]
  const unreached: string[] = []
  for (const point of points)
    await t.test(point, async (inner) => {
      if (!(await killAndContinue(inner, point))) unreached.push(point)
    })
  assert.ok(unreached.length <= MAX_UNREACHED, `never reached: ${unreached.join(', ')}`)
})
