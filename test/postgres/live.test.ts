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
  const lifetime = { after } as unknown as TestContext
  const database = await server.newDatabase()
  const newHome = (name: string): string => createSharedHome(lifetime, database, name, AGENT)
  const homes = { leader: newHome('leader'), worker: newHome('worker'), page: newHome('page'), other: newHome('other') }
  await startRole(lifetime, homes.leader, 'scheduler')
  const worker = await startRole(lifetime, homes.worker, 'worker')
  await startRole(lifetime, homes.page, 'server')
  /** Of a process that runs nothing. */
  const to = await addressOf(homes.page)

  /** A task that ends when the file exists. */
  async function enqueueWaiting(t: TestContext): Promise<{ id: string; release: () => void }> {
    const file = join(freshFolder(t), 'go')
    const prompt = `Run \`while [ ! -e ${file} ]; do sleep 0.05; done\`. Then run \`echo done\`.`
    return { id: String((await call('enqueue', { prompt })).dispatch_id), release: () => writeFileSync(file, '') }
  }

  async function call(command: string, body: object): Promise<Record<string, unknown>> {
    const answer = await postJson(to, `${API}/${command}`, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }

  const read = async <T>(path: string): Promise<T> =>
    (await sendRequest(to, `${API}/${path}`, { headers: to.bearer })).json<T>()

  const readEvents = async (run: string): Promise<RunEvent[]> =>
    (await read<{ events: RunEvent[] }>(`trace/show?run=${run}&events=true`)).events

  const hasEnded = (events: readonly RunEvent[]): boolean => events.some(({ phase }) => phase === 'END')

  test('E15: it shows each event of a run elsewhere once and in order, also after a reconnect', async (t) => {
    const first = await openEventStream(to)
    const { id, release } = await enqueueWaiting(t)
    await waitUntil(() => eventsOf(first, id).some(({ stage }) => stage === 'decision_ready'))
    const early = eventsOf(first, id)
    first.disconnect()
    await first.ended
    release()
    await waitUntil(async () => hasEnded(await readEvents(id)))
    const second = await openEventStream(to, first.messages.at(-1)?.id)
    await waitUntil(() => hasEnded(eventsOf(second, id)))
    const all = [...early, ...eventsOf(second, id)]
    assert.deepEqual(numbersOf(all), upTo(all.length))
    assert.deepEqual(all, await readEvents(id), 'the same as its journal gives')
    assert.ok(!second.messages.some(({ name }) => name === 'reset'))
    // The page of another process has other ids: the viewer fetches everything anew.
    await startRole(t, homes.other, 'server')
    const third = await openEventStream(await addressOf(homes.other), second.messages.at(-1)?.id)
    await waitUntil(() => third.messages.some(({ name }) => name === 'reset'))
    third.disconnect()
    second.disconnect()
  })

  test('E15: after the worker is killed, the events go on where another process goes on', async (t) => {
    const stream = await openEventStream(to)
    const { id, release } = await enqueueWaiting(t)
    await waitUntil(() => eventsOf(stream, id).some(({ stage }) => stage === 'decision_ready'))
    worker.process.kill('SIGKILL')
    await waitUntil(() => worker.process.signalCode !== null)
    await startRole(t, homes.worker, 'worker')
    release()
    await waitUntil(() => hasEnded(eventsOf(stream, id)))
    const events = eventsOf(stream, id)
    assert.deepEqual(numbersOf(events), upTo(events.length))
    assert.deepEqual(events, await readEvents(id))
    stream.disconnect()
  })

  test('E15: a process that runs nothing shows the status, and what it is asked reaches the others', async (t) => {
    // The one of the test before has ended with it.
    await startRole(t, homes.worker, 'worker')
    const status = await read<StatusPart>('status')
    assert.equal(status.kernel.state, 'running')
    assert.notEqual(status.kernel.next_beat, null)
    assert.equal((await sendRequest(to, '/readyz')).status, 200)
    // The killed ones of the tests before are listed until their leases have ended.
    await waitUntil(async () => (await workersIn(homes.page)).every(({ late }) => !late))
    const workers = await workersIn(homes.page)
    const listed = workers.map(({ role, slots, here, late, leads }) => ({ role, slots, here, late, leads }))
    assert.deepEqual(
      listed.toSorted((a, b) => String(a.role).localeCompare(String(b.role))),
      [
        { role: 'scheduler', slots: 0, here: false, late: false, leads: true },
        { role: 'server', slots: 0, here: true, late: false, leads: false },
        { role: 'worker', slots: 2, here: false, late: false, leads: false },
      ],
    )
    assert.ok(workers.every(({ version, since }) => /^\d+\.\d+/.test(version ?? '') && Date.parse(since) > 0))
    assert.match((await tireless(homes.page, 'status')).stdout, /processes +process \d+ on .*--role scheduler, leader/)
    const { cycle_id, status: outcome } = await call('cycle/now', {})
    assert.equal(outcome, 'success')
    const cycles = async () => (await read<{ items: readonly CyclePart[] }>('cycles/list')).items
    assert.equal((await cycles()).find((cycle) => cycle.cycle_id === cycle_id)?.trigger, 'manual')
    const at = new Date(Date.now() + 1000).toISOString()
    await call('schedule/add', { agent: 'tick', at, id: 'soon' })
    await waitUntil(async () => (await cycles()).some(({ trigger }) => trigger === 'soon'))
    assert.equal((await call('send', { text: 'hello' })).kernel_running, true)
  })

  test('E15: a webhook that comes to any process reaches the residents of the leader', async () => {
    for (const [i, event] of ['one', 'two'].entries()) {
      const answer = await sendHook(to, 'door', { type: 'door_opened', payload: { event } }, `delivery-${i}`)
      assert.equal(answer.status, 200, answer.text)
      const again = await sendHook(to, 'door', { type: 'door_opened', payload: { event } }, `delivery-${i}`)
      assert.deepEqual([again.status, again.json().duplicate], [200, true], again.text)
      await waitUntil(async () => (await looksOf(homes.leader)) > i)
    }
  })
})

interface CyclePart {
  readonly cycle_id: string
  readonly trigger: string
}

interface StatusPart {
  readonly kernel: { readonly state: string; readonly next_beat: string | null }
}

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
