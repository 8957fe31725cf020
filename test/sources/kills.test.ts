/**
 * Signed messages to a process that is killed with -9 at random moments. The sender repeats each message until it is
 * answered with 200, and some messages even then: each is processed exactly once. `npm run hooks` sends 200.
 */

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Observation } from '../../src/domain/observation.ts'
import { startTireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { freshFolder, journalOf, openApp, waitUntil } from '../support/open-app.ts'
import { SECRET, signedHeaders } from '../support/source-app.ts'

const [MESSAGES, KILLS] = process.env.HOOK_SWEEP === 'full' ? [200, 12] : [40, 2]
const SENDERS = 4
/** Every twentieth message is sent again after its answer. */
const REPEATED = 20

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function createListener(t: TestContext, port: number): Promise<string> {
  const home = freshFolder(t)
  const config = {
    ...{ sandbox: 'off', server: { port }, models: { default: 'offline/rules' } },
    residents: [{ agent_id: 'ear', hz: 10, sources: ['orders'] }],
    sources: { orders: { type: 'webhook', secret: SECRET } },
  }
  writeFileSync(join(home, 'tireless.yaml'), stringify(config))
  return home
}

/** Contract: resolves with the number of attempts when the message is acknowledged. */
async function sendUntilHeard(port: number, k: number): Promise<number> {
  const body = JSON.stringify({ text: `message ${k}` })
  for (let attempts = 1; ; attempts += 1) {
    const status = await fetch(`http://127.0.0.1:${port}/api/v1/hooks/orders`, {
      ...{ method: 'POST', body, headers: signedHeaders(body, { delivery: `d${k}` }) },
      signal: AbortSignal.timeout(5000),
    }).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return attempts
    assert.ok([0, 503].includes(status), `status ${status}`)
    await pause(20)
  }
}

async function unread(home: string): Promise<number | undefined> {
  const { residents } = await tirelessJson<{ residents: readonly { unread: number }[] }>(home, 'status')
  return residents[0]?.unread
}

/** The texts of all messages that a committed step has read, repetitions included. */
async function journalTexts(t: TestContext, home: string): Promise<string[]> {
  const app = await openApp(t, { home })
  const { items } = await app.run('sessions list', { limit: 1000 })
  const journals = await Promise.all(items.map(({ session_id }) => journalOf(app, session_id)))
  return journals.flatMap((journal) => {
    // The input of a run that died goes to the next run, so only a commit counts.
    let open: readonly Observation[] = []
    return journal.flatMap((record) => {
      if (record.kind === 'input_bound') open = record.input
      if (record.kind !== 'step_committed') return []
      const read = open.flatMap((observation) => (observation.type === 'user_message' ? [observation.text] : []))
      open = []
      return read
    })
  })
}

test(`K7: ${MESSAGES} webhook messages, ${KILLS} kills with -9: each message is processed exactly once`, async (t) => {
  const port = await freePort()
  const home = await createListener(t, port)
  let child: ChildProcess = startTireless(t, home, 'start')
  let [next, heard, attempts] = [0, 0, 0]
  const sender = async (): Promise<void> => {
    for (let k = next++; k < MESSAGES; k = next++) {
      attempts += await sendUntilHeard(port, k)
      heard += 1
      if (k % REPEATED === 0) attempts += await sendUntilHeard(port, k)
    }
  }
  const killer = async (): Promise<void> => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const at = Math.floor((kill * MESSAGES) / (KILLS + 1))
      await waitUntil(() => heard >= at)
      await pause(Math.random() * 100)
      child.kill('SIGKILL')
      await waitForExit(child)
      child = startTireless(t, home, 'start')
    }
  }
  await Promise.all([killer(), ...Array.from({ length: SENDERS }, sender)])
  await waitUntil(async () => (await unread(home)) === 0)
  child.kill('SIGTERM')
  await waitForExit(child)
  const texts = await journalTexts(t, home)
  const expected = Array.from({ length: MESSAGES }, (_, k) => `message ${k}`)
  assert.deepEqual(texts.toSorted(), expected.toSorted())
  t.diagnostic(`${attempts} requests for ${MESSAGES} messages`)
})
