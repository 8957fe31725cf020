/** Channels and cards of several homes on one database: the leader keeps them, and the next one goes on with them. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { cardChannel, visibleCards } from '../support/card-channel.ts'
import { waitForExit } from '../support/command-line.ts'
import { chatMessage, connectingChannel } from '../support/connecting-channel.ts'
import { fakeTool } from '../support/fake-tools.ts'
import { startHookServer } from '../support/hook-server.ts'
import { taskIn } from '../support/kernels.ts'
import { query } from '../support/moved-homes.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { leads, type StartedApp, startApp } from '../support/shared-apps.ts'
import { createSharedHome, startRole } from '../support/shared-homes.ts'

/** The owner's module of a home: a chat with a connection to `port`, to which replies are sent by HTTP. */
const chatModule = (port: number, url: string): string => `import { connect } from 'node:net'
import { createInterface } from 'node:readline'
const receive = (listener, socket) => async (line) => {
  const message = JSON.parse(line)
  await listener.receive(message).then(() => socket.write(message.message_id + '\\n'), () => socket.destroy())
}
export default { channels: [{
  name: 'line',
  trouble: () => null,
  ownChat: () => 'c1',
  connect: (listener, signal) => new Promise((resolve, reject) => {
    const socket = connect(${port}, '127.0.0.1', () => listener.connected())
    signal.addEventListener('abort', () => resolve(void socket.destroy()))
    socket.on('error', reject).on('close', () => reject(new Error('closed')))
    createInterface({ input: socket }).on('error', reject).on('line', receive(listener, socket))
  }),
  async deliver(message, signal) {
    await fetch('${url}', { method: 'POST', body: JSON.stringify(message), signal })
  },
}] }
`

/** A chat service that sends a message again until it is acknowledged. */
async function startChatService(t: TestContext) {
  const unread = new Map<string, string>()
  const connections = new Set<Socket>()
  const counts = { said: 0, most: 0 }
  const service = createServer((socket) => {
    connections.add(socket)
    counts.most = Math.max(counts.most, connections.size)
    socket.on('error', () => {}).on('close', () => connections.delete(socket))
    createInterface({ input: socket })
      .on('error', () => {})
      .on('line', (id) => unread.delete(id))
    for (const line of unread.values()) socket.write(line)
  })
  await new Promise<void>((listening) => service.listen(0, '127.0.0.1', listening))
  t.after(() => {
    for (const socket of connections) socket.destroy()
    service.close()
  })
  const say = (): void => {
    counts.said += 1
    const message = { channel: 'line', chat_id: 'c1', user_id: 'u', message_id: `m${counts.said}`, text: '/help' }
    unread.set(message.message_id, `${JSON.stringify(message)}\n`)
    for (const socket of connections) socket.write(`${JSON.stringify(message)}\n`)
  }
  return { port: (service.address() as AddressInfo).port, say, unread, connections, counts }
}

/** A process asks for the lead after a third of it. */
const LEASE_MS = 6000

/** The first words of a task say what its run does. */
function answer(request: ModelRequest, turn: number): ScriptedAnswer {
  const [, verb, what = ''] = /\b(send|ask|hold) (\w+)/.exec(taskIn(request)) ?? []
  if (turn > 0 || verb === undefined) return { text: 'done' }
  if (verb === 'ask') return { calls: [call('ask_user', { question: `${what}?` })] }
  return { calls: [call(verb, { to: 'bob', text: what })] }
}

describe('channels of several homes', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  test('E15: when the leader stops or is killed, a connection moves on; nothing is lost or doubled', async (t) => {
    const database = await server.newDatabase()
    const [chat, outside] = [await startChatService(t), await startHookServer(t)]
    const accepted: string[] = []
    const idOf = (body: string | undefined): string => String((JSON.parse(body ?? '{}') as { id?: string }).id)
    let isAccepting = true
    outside.answer = (response) => {
      if (!isAccepting) return
      accepted.push(idOf(outside.received.at(-1)?.body))
      response.end()
    }
    const [a, b] = ['a', 'b'].map((name) => {
      const home = createSharedHome(t, database, name, '', 10_000)
      writeFileSync(join(home, 'tireless.config.mjs'), chatModule(chat.port, outside.url), { mode: 0o600 })
      return home
    })
    assert.ok(a && b)
    const isAnswered = (count: number) => async (): Promise<boolean> => {
      const sent = await query(database, "SELECT id FROM outbox WHERE status = 'sent' AND channel = 'line'")
      return sent.length === count && chat.unread.size === 0
    }
    const first = await startRole(t, a, 'scheduler')
    chat.say()
    await waitUntil(isAnswered(1))
    const second = await startRole(t, b, 'scheduler')
    first.process.kill('SIGTERM')
    chat.say()
    await waitUntil(isAnswered(2))
    assert.equal(await waitForExit(first.process), 0)
    // Killed while a reply is on its way, which the receiver does not accept.
    await startRole(t, a, 'scheduler')
    isAccepting = false
    chat.say()
    await waitUntil(() => outside.received.length > 2)
    second.process.kill('SIGKILL')
    isAccepting = true
    chat.say()
    await waitUntil(isAnswered(4))
    assert.deepEqual([accepted.length, new Set(accepted).size], [4, 4])
    assert.equal(chat.counts.most, 1, 'only the leader is connected')
  })

  const KERNEL = `  channel: chat
  chat_id: c1
  digest: false
`

  test('E15: what waits in any home is on a card once, also after the lead has moved', async (t) => {
    const database = await server.newDatabase()
    const chat = cardChannel()
    const open = (name: string): Promise<StartedApp> =>
      startApp(t, database, name, {
        model: scriptedModel(answer),
        tools: [sendTool()],
        channels: [chat],
        more: KERNEL,
        leaseMs: LEASE_MS,
      })
    const a = await open('a')
    await waitUntil(() => leads(a))
    const b = await open('b')
    const enqueue = ({ app }: StartedApp, prompt: string) =>
      app.run('enqueue', { prompt, workspace: freshFolder(t, 'work') })
    const shown = (): string[] =>
      visibleCards(chat).flatMap(({ items }) =>
        items.map(({ text }) => /\b(one|two|colour|shape)\b/.exec(text)?.[0] ?? text),
      )
    const shows =
      (...texts: string[]) =>
      () =>
        JSON.stringify(shown().toSorted()) === JSON.stringify(texts.toSorted())
    await enqueue(a, 'send one')
    await waitUntil(shows('one'))
    await enqueue(b, 'ask colour')
    await waitUntil(shows('one', 'colour'))
    await enqueue(a, 'send two')
    await waitUntil(shows('one', 'two', 'colour'))
    await enqueue(b, 'ask shape')
    await waitUntil(shows('one', 'two', 'colour', 'shape'))
    const tracked = async (): Promise<number> => {
      const cards = (await b.app.context.store.setting('cards')) as unknown as { readonly items: readonly unknown[] }[]
      return cards.reduce((sum, { items }) => sum + items.length, 0)
    }
    assert.equal(await tracked(), 4)
    await a.stop()
    await waitUntil(() => leads(b))
    const [approval] = await listApprovals(b.app)
    await b.app.run('approvals deny', { id: String(approval?.id) })
    await waitUntil(() => visibleCards(chat).some(({ items }) => items.some(({ text }) => /denied/.test(text))))
    assert.ok(shows('one', 'two', 'colour', 'shape')(), shown().join())
  })

  test('E15: a leader that is told to stop gives the lead up at once, while its last steps end', async (t) => {
    const database = await server.newDatabase()
    const gate = Promise.withResolvers<void>()
    const hold = fakeTool({ name: 'hold', run: () => gate.promise })
    const model = scriptedModel(answer)
    const a = await startApp(t, database, 'a', {
      model,
      channels: [connectingChannel()],
      tools: [hold],
      leaseMs: LEASE_MS,
    })
    await waitUntil(() => leads(a))
    await a.app.run('channels pair', { name: 'chat', chat: 'c9' })
    const { dispatch_id: id } = await a.app.run('enqueue', { prompt: 'hold it' })
    await waitUntil(() => hold.receivedArgs.length === 1)
    // Also a command from a chat is under way.
    const { context } = a.app
    const list = () => gate.promise.then(() => context.models.list())
    const models = Object.assign(Object.create(context.models), { list })
    const handled = handleChatMessage({ ...context, models }, chatMessage('/models list'))
    await waitUntil(async () => JSON.stringify(await context.store.setting('chat commands')).includes('/models'))
    const chat = connectingChannel()
    const b = await startApp(t, database, 'b', { model, channels: [chat], role: 'scheduler', leaseMs: LEASE_MS })
    const stopping = a.stop()
    await waitUntil(() => leads(b))
    assert.equal((await b.app.run('queue show', { id })).status, 'running')
    // Before it connects, the next leader looks for commands of processes that have died.
    await waitUntil(() => chat.opened.length > 0)
    gate.resolve()
    await handled
    const replies = async () => (await b.app.run('notices list', {})).items.map(({ text }) => text)
    await waitUntil(async () => (await replies()).length > 0)
    assert.match((await replies()).join(), /^(?!.*The program stopped).*scripted/s)
    await stopping
    assert.equal((await b.app.run('queue show', { id })).status, 'pending')
  })
})
