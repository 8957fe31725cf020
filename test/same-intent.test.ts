/** The same intent from several sides at once: it is claimed before anything acts on it, so only one acts. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createHome, spawnTireless, startKernelIn, tirelessJson } from './support/command-line.ts'
import { createGreetingHome } from './support/greeting-home.ts'
import { deliveryIds } from './support/hook-server.ts'
import { waitUntil } from './support/open-app.ts'

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
  const { home, outside, provider, say } = await createGreetingHome(t)
  await startKernelIn(t, home)
  await Promise.all([say(), say(), say(), say()])
  await waitUntil(() => outside.received.length > 0)
  await say()
  const { items } = await tirelessJson<{ items: { status: string }[] }>(home, 'queue', 'list')
  assert.deepEqual(
    items.map(({ status }) => status),
    ['done'],
  )
  assert.equal(provider.requests.length, 1)
  assert.equal(new Set(deliveryIds(outside)).size, 1)
})
