/** Two homes on one database: what one of them asks, writes, remembers and spends, as seen and changed in the other. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, sendTool } from '../support/approval-fixtures.ts'
import { chatChannel } from '../support/chat-kernel.ts'
import { tireless, tirelessJson } from '../support/command-line.ts'
import { chatMessage } from '../support/connecting-channel.ts'
import { postJson, sendRequest } from '../support/http-app.ts'
import { isPlanning } from '../support/kernels.ts'
import { query } from '../support/moved-homes.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { leads, type StartedApp, startApp } from '../support/shared-apps.ts'
import { holdTool, payingModels } from '../support/shared-work.ts'

const AGENT = `  schedule: { every: 1h }
  channel: chat
  planner: { mode: llm }
  agents:
    - { agent_id: tick, prompt: "look around", workspace: null }
    - { agent_id: tock, prompt: "look back", workspace: null }
`

/** What people and the program say to the model. */
const wordsTo = ({ messages }: ModelRequest): string =>
  messages.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join('\n')

/** Two words of a task say what its run does. */
function answer(request: ModelRequest, turn: number): ScriptedAnswer {
  if (isPlanning(request)) return { text: '[]' }
  const [, verb, what = ''] = /\b(send|remember|recall|hold|write|plan|look) (\w+)/.exec(wordsTo(request)) ?? []
  if (verb === 'plan' && turn > 0) throw new TirelessError('model_refused', 'no')
  if (turn > 0 || verb === undefined) return { text: '## Execution Summary\ndone' }
  const calls = {
    send: [call('send', { to: 'bob', text: what })],
    remember: [call('remember', { key: what, text: `the ${what} is green` })],
    recall: [call('recall', { query: what })],
    hold: [call('hold', { what })],
    look: [call('create_file', { path: `${what}.md`, content: 'seen' })],
    write: [call('create_file', { path: 'made.md', content: what }), call('remember', { key: 'made', text: what })],
    plan: [call('todo_add', { title: `${what} one` }), call('todo_add', { title: `${what} two` })],
  }
  return { calls: calls[verb as keyof typeof calls] }
}

describe('the records of two homes on one database', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  const lifetime = { after } as unknown as TestContext
  const database = await server.newDatabase()

  async function open(name: string) {
    const [send, hold, model] = [sendTool(), holdTool(), scriptedModel(answer)]
    const options = { model, tools: [send, hold.tool], channels: [chatChannel()], more: AGENT }
    return Object.assign(await startApp(lifetime, database, name, options), { send, hold, model })
  }

  const a = await open('a')
  await waitUntil(() => leads(a))
  const b = await open('b')

  /** A task in a folder of this machine, which only this home may run. */
  async function enqueue({ app }: StartedApp, prompt: string, more: object = {}): Promise<Dispatched> {
    const workspace = freshFolder(lifetime, 'work')
    const { dispatch_id, session_id } = await app.run('enqueue', { prompt, workspace, ...more })
    return { id: dispatch_id, session_id, workspace }
  }

  interface Dispatched {
    readonly id: string
    readonly session_id: string
    readonly workspace: string
  }

  async function runIn(home: StartedApp, prompt: string, more: object = {}): Promise<Dispatched> {
    const run = await enqueue(home, prompt, more)
    await waitUntil(async () => ['done', 'failed'].includes(String((await dispatchOf(run.id)).status)))
    return run
  }

  const dispatchOf = (id: string) => a.app.run('queue show', { id })

  /** What the page of a home is answered. */
  const post = (home: StartedApp, command: string, body: object) => postJson(home.to, `/api/v1/${command}`, body)

  async function openApproval(home: StartedApp, text: string): Promise<string> {
    let found: string | undefined
    await waitUntil(async () => {
      const listed = await tirelessJson<{ items: { id: string; args: object }[] }>(home.home, 'approvals', 'list')
      found = listed.items.find(({ args }) => JSON.stringify(args).includes(text))?.id
      return found !== undefined
    })
    return String(found)
  }

  test('E15: a call of a run in one home is allowed in the other, by CLI, page or both, and runs once', async () => {
    const runs = [await enqueue(a, 'send one'), await enqueue(a, 'send two'), await enqueue(a, 'send three')]
    const one = await openApproval(b, 'one')
    assert.equal((await tireless(b.home, 'approvals', 'allow', one)).exit, 0)
    assert.equal((await post(b, 'approvals/allow', { id: await openApproval(b, 'two') })).status, 200)
    const three = await openApproval(b, 'three')
    await Promise.allSettled([post(a, 'approvals/allow', { id: three }), post(b, 'approvals/allow', { id: three })])
    for (const { id } of runs) await waitUntil(async () => (await dispatchOf(id)).status === 'done')
    assert.deepEqual(a.send.receivedArgs.map(({ text }) => text).toSorted(), ['one', 'three', 'two'])
    assert.deepEqual(b.send.receivedArgs, [])
  })

  test('E15: STATE.md edited in one home is read by the next cycle of the other; clashes are refused', async () => {
    await waitUntil(async () => (await a.app.run('cycles list', {})).items[0]?.ended_at != null)
    const edited = await post(b, 'state/edit', { text: '# Notes\nThe code of the gate is blue-42.\n' })
    assert.equal(edited.status, 200, edited.text)
    const planned = (): readonly ModelRequest[] => [a, b].flatMap(({ model }) => model.requests.filter(isPlanning))
    const readEdit = (): boolean => planned().some((request) => wordsTo(request).includes('blue-42'))
    assert.equal(readEdit(), false)
    assert.equal((await post(b, 'cycle/now', {})).status, 200)
    assert.equal(readEdit(), true)
    const { version: base } = await a.app.run('state show', {})
    const edits = await Promise.all([a, b].map((home, i) => post(home, 'state/edit', { text: `# By ${i}\n`, base })))
    assert.deepEqual(edits.map(({ status: one }) => one).toSorted(), [200, 409])
    const { own_text } = await a.app.run('state show', {})
    assert.equal(own_text, (await b.app.run('state show', {})).own_text)
    assert.equal(own_text, `# By ${edits.findIndex((one) => one.status === 200)}\n`)
    // The file of each home is an entry of its own.
    const file = join(b.home, 'kernels/default/STATE.md')
    await waitUntil(() => readFileSync(file, 'utf8').includes(own_text))
    writeFileSync(file, readFileSync(file, 'utf8').replace('# By', '# Signed by'))
    assert.equal((await tireless(b.home, 'state', 'accept')).exit, 0)
    assert.match((await a.app.run('state show', {})).own_text, /^# Signed by/)
  })

  test('E15: a fact and todos of a run in one home are found, recalled and removed in the other', async () => {
    await runIn(a, 'remember lamp')
    const found = await tirelessJson<{ items: { key: string }[] }>(b.home, 'memory', 'search', 'lamp')
    assert.deepEqual(
      found.items.map(({ key }) => key),
      ['lamp'],
    )
    await runIn(b, 'recall lamp')
    const recalled = b.model.requests.filter((request) => wordsTo(request).includes('recall lamp'))
    const results = recalled.flatMap(({ messages }) => messages.filter(({ role }) => role === 'tool'))
    assert.match(JSON.stringify(results), /the lamp is green/)
    assert.equal((await tireless(b.home, 'memory', 'forget', 'lamp')).exit, 0)
    assert.deepEqual((await a.app.run('memory list', {})).items, [])

    const { session_id: session } = await runIn(a, 'plan work', { behaviour: 'plan' })
    const listed = await b.app.run('todo list', { session })
    assert.deepEqual(
      listed.items.map(({ code, title }) => [code, title]),
      [
        ['T001', 'work one'],
        ['T002', 'work two'],
      ],
    )
    assert.equal((await post(b, 'todo/clear', { session, yes: true })).status, 200)
    assert.equal((await a.app.run('todo list', { session })).total, 0)
  })

  test('E15: max_concurrent holds for each process: two homes run twice as many, and neither more', async () => {
    const ids: string[] = []
    for (let i = 0; i < 6; i += 1) ids.push((await b.app.run('enqueue', { prompt: `hold n${i}` })).dispatch_id)
    await waitUntil(() => a.hold.counts.now + b.hold.counts.now === 4)
    const { queue, workers } = await b.app.run('status', {})
    assert.deepEqual({ running: queue.running, pending: queue.pending }, { running: 4, pending: 2 })
    assert.deepEqual(
      workers.map(({ running, slots }) => ({ running, slots })),
      [
        { running: 2, slots: 2 },
        { running: 2, slots: 2 },
      ],
    )
    for (const { hold } of [a, b]) hold.release()
    for (const id of ids) await waitUntil(async () => (await dispatchOf(id)).status === 'done')
    assert.deepEqual([a.hold.counts.most, b.hold.counts.most], [2, 2])
  })

  test('E15: what needs the files of a run is refused in another home, which says where they are', async () => {
    const { id, session_id: session, workspace } = await runIn(a, 'write words')
    const refused = {
      code: 'conflict',
      message: new RegExp(`${hostname()}.*do this: .*in that home|home on that`, 's'),
    }
    const inB = [
      () => b.app.run('undo', { target: id, yes: true }),
      () => b.app.run('workspace diff', { run: id }),
      () => b.app.run('workspace diff', { session }),
      () => b.app.run('workspace files', { workspace }),
      () => b.app.run('workspace show', { workspace }),
      () => b.app.run('replay', { run: id, from: 1 }),
    ]
    for (const ask of inB) await assert.rejects(ask, refused, String(ask))
    const file = `/api/v1/files?${new URLSearchParams({ session, path: 'made.md' })}`
    const sent = await sendRequest(b.to, file, { headers: b.to.bearer })
    assert.deepEqual([sent.status, sent.code], [409, 'conflict'], sent.text)
    assert.equal((await sendRequest(a.to, file, { headers: a.to.bearer })).text, 'words')
    const known = (await a.app.run('memory list', {})).items.map(({ key }) => key)
    assert.deepEqual([existsSync(join(workspace, 'made.md')), known], [true, ['made']])
    // A file that is sent to its session here.
    await b.app.run('channels pair', { name: 'chat', chat: 'c9' })
    const files = [{ name: 'a.txt', read: async () => Buffer.from('x') }]
    await handleChatMessage(b.app.context, chatMessage(`/to ${session} read it`, { files }))
    const replies = async () => (await b.app.run('notices list', {})).items.map(({ text }) => text).join('\n')
    assert.match(await replies(), new RegExp(`a\\.txt: this conversation works on ${hostname()}; send it to`))
    assert.equal(existsSync(join(workspace, 'inbox')), false)
    await waitUntil(async () => (await a.app.run('sessions show', { id: session })).status === 'idle')
  })

  test('E15: an undo is taken back only in the home that has the files, and never by half', async () => {
    const { id, workspace } = await runIn(a, 'write lines')
    const made = join(workspace, 'made.md')
    const undone = await a.app.run('undo', { target: id, yes: true })
    assert.deepEqual([undone.status, existsSync(made)], ['done', false])
    const facts = async () => (await a.app.run('memory list', {})).items.map(({ text }) => text)
    const before = await facts()
    await assert.rejects(b.app.run('undo', { target: String(undone.id), yes: true }), {
      code: 'conflict',
      message: new RegExp(`files are on another machine.*${hostname()}`, 's'),
    })
    assert.deepEqual(await facts(), before, 'half of it would be wrong')
    assert.equal((await a.app.run('undo', { target: String(undone.id), yes: true })).status, 'done')
    assert.equal(readFileSync(made, 'utf8'), 'lines')
  })

  test('E15: two homes that spend at the same time keep one cap', async (t) => {
    const bank = await server.newDatabase()
    const models = payingModels()
    const more = 'budget: { per_day_usd: 1 }\n'
    const homes: StartedApp[] = []
    for (const [i, { model }] of models.entries()) homes.push(await startApp(t, bank, `pays${i}`, { model, more }))
    const [one, two] = homes
    assert.ok(one && two)
    const ids: string[] = []
    for (let i = 0; i < 12; i += 1) ids.push((await one.app.run('enqueue', { prompt: `task ${i}` })).dispatch_id)
    const ended = async () => Promise.all(ids.map((id) => two.app.run('queue show', { id })))
    await waitUntil(async () => (await ended()).every(({ status }) => status === 'done' || status === 'failed'))
    const all = await ended()
    assert.equal(all.filter(({ status }) => status === 'done').length, 4)
    assert.ok(all.every(({ status, failure_class }) => status === 'done' || failure_class === 'budget'))
    assert.ok(models.every(({ calls }) => calls() > 0))
    assert.equal(models[0] && models[1] && models[0].calls() + models[1].calls(), 4)
    const rows = await query(bank, 'SELECT sum(usd)::int AS usd, sum(reserved)::int AS reserved FROM spend')
    assert.deepEqual(rows, [{ usd: 1_000_000, reserved: 0 }])
    for (const { app } of homes) assert.equal((await app.run('budget show', {})).today.usd, 1)
  })
})
