/** The page and the API of a process on a shared store: runs, requests and changes of other processes. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { tireless, tirelessJson } from '../support/command-line.ts'
import { type EventStream, type HttpAddress, openEventStream, postJson, sendRequest } from '../support/http-app.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { addressOf, createSharedHome, startRole, workersIn } from '../support/shared-homes.ts'

const API = '/api/v1'
const SECRET = 'a-secret-of-a-webhook-source'
const AGENT = `  schedule: { every: 1h }
  agents:
    - { agent_id: tick, prompt: "Run \`true\`.", workspace: null }
residents:
  - { agent_id: watcher, hz: 5, sources: [door] }
sources:
  door: { type: webhook, secret: ${SECRET} }
`

interface RunEvent {
  readonly run_id: string
  readonly seq: number
  readonly phase: string
  readonly stage: string
}

const eventsOf = ({ messages }: EventStream, run: string): RunEvent[] =>
  messages.flatMap(({ name, data }) => (name === 'event' && data.run_id === run ? [data as unknown as RunEvent] : []))

const numbersOf = (events: readonly RunEvent[]): number[] => events.map(({ seq }) => seq)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('the page of one of several processes', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  /** A task that ends when the file exists. */
  async function enqueueWaiting(t: TestContext, to: HttpAddress): Promise<{ id: string; release: () => void }> {
    const file = join(freshFolder(t), 'go')
    const prompt = `Run \`while [ ! -e ${file} ]; do sleep 0.05; done\`. Then run \`echo done\`.`
    const answer = await postJson(to, `${API}/enqueue`, { prompt })
    assert.equal(answer.status, 200, answer.text)
    return { id: String(answer.json().dispatch_id), release: () => writeFileSync(file, '') }
  }

  const readEvents = async (to: HttpAddress, run: string): Promise<RunEvent[]> => {
    const path = `${API}/trace/show?run=${run}&events=true`
    return (await sendRequest(to, path, { headers: to.bearer })).json<{ events: RunEvent[] }>().events
  }

  const hasEnded = (stream: EventStream, run: string): boolean =>
    eventsOf(stream, run).some(({ phase }) => phase === 'END')

  test('E15: it shows each event of a run elsewhere once and in order, also after a reconnect', async (t) => {
    const database = await server.newDatabase()
    const [worker, page] = ['worker', 'page'].map((name) => createSharedHome(t, database, name))
    assert.ok(worker && page)
    await startRole(t, worker, 'worker')
    await startRole(t, page, 'server')
    const to = await addressOf(page)
    const first = await openEventStream(to)
    const { id, release } = await enqueueWaiting(t, to)
    await waitUntil(() => eventsOf(first, id).some(({ stage }) => stage === 'decision_ready'))
    const early = eventsOf(first, id)
    first.disconnect()
    await first.ended
    release()
    await waitUntil(async () => (await readEvents(to, id)).some(({ phase }) => phase === 'END'))
    const second = await openEventStream(to, first.messages.at(-1)?.id)
    await waitUntil(() => hasEnded(second, id))
    const all = [...early, ...eventsOf(second, id)]
    assert.deepEqual(numbersOf(all), upTo(all.length))
    assert.deepEqual(all, await readEvents(to, id), 'the same as its journal gives')
    assert.deepEqual(
      second.messages.filter(({ name }) => name === 'reset'),
      [],
    )
    // The page of another process has other ids: the viewer fetches everything anew.
    const other = await startRole(t, createSharedHome(t, database, 'other'), 'server')
    const third = await openEventStream(await addressOf(other.home), second.messages.at(-1)?.id)
    await waitUntil(() => third.messages.some(({ name }) => name === 'reset'))
    third.disconnect()
    second.disconnect()
  })

  test('E15: after the worker is killed, the events go on where another process goes on', async (t) => {
    const database = await server.newDatabase()
    const [worker, page] = ['worker', 'page'].map((name) => createSharedHome(t, database, name))
    assert.ok(worker && page)
    const killed = await startRole(t, worker, 'worker')
    await startRole(t, page, 'server')
    const to = await addressOf(page)
    const stream = await openEventStream(to)
    const { id, release } = await enqueueWaiting(t, to)
    await waitUntil(() => eventsOf(stream, id).some(({ stage }) => stage === 'decision_ready'))
    killed.process.kill('SIGKILL')
    await waitUntil(() => killed.process.signalCode !== null)
    await startRole(t, worker, 'worker')
    release()
    await waitUntil(() => hasEnded(stream, id))
    const events = eventsOf(stream, id)
    assert.deepEqual(numbersOf(events), upTo(events.length))
    assert.deepEqual(events, await readEvents(to, id))
    stream.disconnect()
  })

  test('E15: a process that runs nothing shows the status, and what it is asked reaches the others', async (t) => {
    const database = await server.newDatabase()
    const [scheduler, worker, page] = ['scheduler', 'worker', 'page'].map((name) =>
      createSharedHome(t, database, name, AGENT),
    )
    assert.ok(scheduler && worker && page)
    await startRole(t, scheduler, 'scheduler')
    await startRole(t, worker, 'worker')
    await startRole(t, page, 'server')
    const to = await addressOf(page)
    const call = async (command: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await postJson(to, `${API}/${command}`, body)
      assert.equal(answer.status, 200, answer.text)
      return answer.json()
    }
    await waitUntil(async () => (await tirelessJson<StatusPart>(page, 'status')).kernel.next_beat !== null)
    const status = await tirelessJson<StatusPart>(page, 'status')
    assert.equal(status.kernel.state, 'running')
    assert.equal((await sendRequest(to, '/readyz')).status, 200)
    const workers = await workersIn(page)
    assert.deepEqual(
      workers.map(({ role, slots, here, late, leads }) => ({ role, slots, here, late, leads })),
      [
        { role: 'scheduler', slots: 0, here: false, late: false, leads: true },
        { role: 'worker', slots: 2, here: false, late: false, leads: false },
        { role: 'server', slots: 0, here: true, late: false, leads: false },
      ],
    )
    assert.ok(workers.every(({ version, since }) => /^\d+\.\d+/.test(version ?? '') && Date.parse(since) > 0))
    assert.match((await tireless(page, 'status')).stdout, /processes +process \d+ on .*--role scheduler, leader/)
    const cycle = await call('cycle/now', {})
    assert.deepEqual([cycle.status, cycle.dispatched, cycle.succeeded], ['success', 1, 1])
    const at = new Date(Date.now() + 1000).toISOString()
    await call('schedule/add', { agent: 'tick', at, id: 'soon' })
    await waitUntil(async () => (await cyclesOf(to)).some(({ trigger }) => trigger === 'soon'))
    const sent = await call('send', { text: 'hello' })
    assert.equal(sent.kernel_running, true)
  })

  test('E15: a webhook that comes to any process reaches the residents of the leader', async (t) => {
    const database = await server.newDatabase()
    const [leader, page] = ['leader', 'page'].map((name) => createSharedHome(t, database, name, AGENT))
    assert.ok(leader && page)
    await startRole(t, leader, 'all')
    await startRole(t, page, 'server')
    const to = await addressOf(page)
    for (const [i, event] of ['one', 'two'].entries()) {
      const answer = await sendHook(to, 'door', { type: 'door_opened', payload: { event } }, `delivery-${i}`)
      assert.equal(answer.status, 200, answer.text)
      const again = await sendHook(to, 'door', { type: 'door_opened', payload: { event } }, `delivery-${i}`)
      assert.deepEqual([again.status, again.json().duplicate], [200, true], again.text)
      await waitUntil(async () => (await looksOf(leader)) > i)
    }
  })
})

interface StatusPart {
  readonly kernel: { readonly state: string; readonly next_beat: string | null }
}

const cyclesOf = async (to: HttpAddress): Promise<readonly { readonly trigger: string }[]> =>
  (await sendRequest(to, `${API}/cycles/list`, { headers: to.bearer })).json<{ items: { trigger: string }[] }>().items

const looksOf = async (home: string): Promise<number> =>
  (await tirelessJson<{ residents: readonly { looks: number }[] }>(home, 'status')).residents[0]?.looks ?? 0

function sendHook(to: HttpAddress, name: string, message: object, delivery: string) {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', SECRET)
    .update(`${timestamp}.${JSON.stringify(message)}`)
    .digest('hex')
  return postJson(to, `${API}/hooks/${name}`, message, {
    'x-tireless-timestamp': timestamp,
    'x-tireless-signature': `sha256=${signature}`,
    'x-tireless-delivery': delivery,
  })
}
