/** The same intent from several sides at once: it is claimed before anything acts on it, so only one acts. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { configFor } from './crash/kills.ts'
import { createHome, spawnTireless, startKernelIn, startProvider, tirelessJson } from './support/command-line.ts'
import { FRONT_MARK, writeTalkBehaviours } from './support/conversations.ts'
import { deliveryIds, startHookServer } from './support/hook-server.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'
import { sendSigned } from './support/signed-hook.ts'

interface Enqueued {
  readonly dispatch_id: string
  readonly duplicate: boolean
}

test('case 77: of processes that enqueue one key at once, one starts a run, and the run acts once', async (t) => {
  const home = await createHome(t, [
    { calls: [{ tool: 'bash', args: { command: 'echo acted >> acted.txt' } }] },
    { text: 'done' },
  ])
  await startKernelIn(t, home)
  const enqueue = async (): Promise<Enqueued> => {
    const { stdout } = await spawnTireless(home, 'enqueue', 'pay the bill', '--key', 'bill-7', '--json')
    return JSON.parse(stdout)
  }
  const both = await Promise.all([enqueue(), enqueue(), enqueue()])
  const ids = new Set(both.map(({ dispatch_id }) => dispatch_id))
  assert.deepEqual([ids.size, both.filter(({ duplicate }) => !duplicate).length], [1, 1])
  const [id = ''] = ids
  const show = () => tirelessJson<{ status: string; workspace: string }>(home, 'queue', 'show', id)
  await waitUntil(async () => (await show()).status === 'done')
  const { dispatch_id, duplicate } = await enqueue()
  assert.deepEqual({ dispatch_id, duplicate }, { dispatch_id: id, duplicate: true }, 'also after the run has ended')
  const { items } = await tirelessJson<{ items: unknown[] }>(home, 'queue', 'list')
  assert.equal(items.length, 1)
  assert.equal(readFileSync(join((await show()).workspace, 'acted.txt'), 'utf8'), 'acted\n')
})

test('case 77: deliveries of one message at once start one run, which answers once', async (t) => {
  const outside = await startHookServer(t)
  const home = freshFolder(t)
  writeTalkBehaviours(home)
  const turns = [{ calls: [{ tool: 'route', args: { none: true, reply: 'Hello!' } }] }]
  const provider = await startProvider(t, { conversations: [{ match: FRONT_MARK, turns }] })
  const hook = `channels: { webhook: { url: "${outside.url}", secret: of the hook, chat_id: ops } }\n`
  writeFileSync(join(home, 'tireless.yaml'), `${configFor(provider)}server: { port: 0 }\n${hook}`)
  await startKernelIn(t, home)
  const deliver = (): Promise<void> => sendSigned(home, 'of the hook', { text: 'hi', chat_id: 'ops' }, 'd1')
  await Promise.all([deliver(), deliver(), deliver(), deliver()])
  await waitUntil(() => outside.received.length > 0)
  await deliver()
  const { items } = await tirelessJson<{ items: { status: string }[] }>(home, 'queue', 'list')
  assert.deepEqual(
    items.map(({ status }) => status),
    ['done'],
  )
  assert.equal(provider.requests.length, 1)
  assert.equal(new Set(deliveryIds(outside)).size, 1)
})
