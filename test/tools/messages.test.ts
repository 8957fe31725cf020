/** The tools send_message and ask_user: messages to people through the outbox, and the answers. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { OutboxMessage } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { createHome, tireless, tirelessJson } from '../support/command-line.ts'
import { lastMessageIn, resultsOf } from '../support/fake-tools.ts'
import { dispatchOf, freshFolder, journalOf, kindsOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { callStep, runAgent } from '../support/serve-pages.ts'

/** A channel that stores the messages it gets. */
function chat(name = 'chat'): Channel & { readonly delivered: string[] } {
  const delivered: string[] = []
  return {
    name,
    delivered,
    trouble: () => null,
    deliver: async ({ text, chat_id }) => void delivered.push(`${chat_id ?? '-'}: ${text}`),
  }
}

const listNotices = async (app: App): Promise<readonly OutboxMessage[]> => (await app.run('notices list', {})).items

describe('send_message', () => {
  test('without `to` the message goes to the owner by the default channel, without approval', async (t) => {
    const own = chat()
    const calls = [callStep('send_message', { text: 'the report is ready' })]
    const { app, results } = await runAgent(t, calls, {
      channels: [own],
      yaml: 'kernel: { channel: chat, chat_id: me }\n',
    })
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok'],
    )
    assert.deepEqual(own.delivered, ['me: the report is ready'])
    assert.deepEqual(
      (await listNotices(app)).map(({ channel, status, kind }) => ({ channel, status, kind })),
      [{ channel: 'chat', status: 'sent', kind: 'notice' }],
    )
    const tool = app.service('tools').all.get('send_message')
    assert.deepEqual(tool?.effect({ text: 'x' } as never), { recovery: 'idempotent', reach: 'none' })
    assert.deepEqual(tool?.destinations?.({ text: 'x' } as never), [])
  })

  test('without a configured channel it goes to the terminal and the log', async (t) => {
    const delivered: string[] = []
    const app = await openApp(t, {
      model: scriptedModel([callStep('send_message', { text: 'hello' }), { text: 'done' }]),
    })
    await app.run('run', { task: 'x' }, (progress) => {
      if (progress.kind === 'note') delivered.push(progress.text)
    })
    assert.ok(delivered.includes('hello'), delivered.join('\n'))
  })

  test('with `to` it goes to that channel; an unknown or unusable one is refused with the known ones', async (t) => {
    const own = chat()
    const calls = [
      { to: 'chat:team', text: 'one' },
      { to: 'nobody', text: 'two' },
      { to: 'webhook', text: 'three' },
    ]
    const { app, results } = await runAgent(
      t,
      calls.map((args) => callStep('send_message', args)),
      { channels: [own] },
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'error', 'error'],
    )
    assert.match(
      results[1]?.content ?? '',
      /unknown channel; got nobody; expected one of console, .*chat, or leave out "to" to reach your owner/,
    )
    assert.match(results[2]?.content ?? '', /webhook cannot deliver: channels\.webhook is not configured/)
    assert.deepEqual(own.delivered, ['team: one'])
    const tool = app.service('tools').all.get('send_message')
    assert.deepEqual(tool?.effect({ to: 'chat', text: 'x' } as never), { recovery: 'idempotent', reach: 'third_party' })
    assert.deepEqual(tool?.destinations?.({ to: 'chat:team', text: 'x' } as never), ['chat:team'])
  })

  test("the owner's own channel needs no approval, and an unknown channel asks for none", async (t) => {
    const own = chat()
    const calls = ['console', 'chat:boss', 'nobody', 'chat:team'].map((to) =>
      callStep('send_message', { to, text: to }),
    )
    const { app, results } = await runAgent(t, calls, {
      channels: [own],
      yaml: 'kernel: { channel: chat, chat_id: boss }',
    })
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok', 'error', 'parked'],
    )
    assert.match(results[2]?.content ?? '', /^denied: unknown channel; got nobody; expected one of console/)
    const { items } = await app.run('approvals list', {})
    assert.deepEqual(
      items.map(({ args }) => (args as { to: string }).to),
      ['chat:team'],
    )
  })

  test('case 93: the same call, run again after a crash, is one message', async (t) => {
    const home = freshFolder(t)
    const own = chat()
    const calls = [callStep('send_message', { text: 'once' })]
    const { app, session_id } = await runAgent(t, calls, { home, channels: [own] })
    const [row] = await listNotices(app)
    const tool = app.service('tools').all.get('send_message')
    const context = { call: row?.id.replace(/^say-/, '') ?? '' }
    assert.deepEqual(await tool?.run({ text: 'once' } as never, context as never), {
      status: 'ok',
      content: 'message queued for console',
    })
    assert.equal((await listNotices(app)).length, 1)
    assert.equal(row?.id, `say-${session_id}.1.0`)
  })

  test('quiet hours hold back a message to the owner, but not a question', async (t) => {
    const now = new Date()
    const hours = (by: number): string => new Date(now.getTime() + by * 3_600_000).toISOString().slice(11, 16)
    const yaml = `kernel: { channel: chat, timezone: UTC, quiet_hours: "${hours(-1)}-${hours(1)}" }\n`
    const own = chat()
    await runAgent(t, [callStep('send_message', { text: 'later' }), callStep('ask_user', { question: 'now?' })], {
      channels: [own],
      yaml,
    })
    assert.deepEqual(
      own.delivered.map((text) => text.split('\n')[0]),
      ['-: > now?'],
    )
  })
})

describe('ask_user', () => {
  const asks = callStep('ask_user', { question: 'red or blue?' })

  test('the question is sent once, the run waits at no cost, and the answer is its next input', async (t) => {
    const own = chat()
    const model = scriptedModel([asks, { text: 'blue it is' }])
    const app = await openApp(t, { model, channels: [own], yaml: 'kernel: { channel: chat }\n' })
    const { status, wait, session_id, dispatch_id } = await runTaskIn(app)
    assert.deepEqual({ status, reason: wait?.reason }, { status: 'waiting', reason: 'red or blue?' })
    assert.equal(own.delivered.length, 1)
    assert.match(
      own.delivered[0] ?? '',
      new RegExp(
        `^-: > red or blue\\?\\n\\n\\(The agent default asks\\. Answer: tireless send --session ${session_id} "…"\\)$`,
      ),
    )
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      { requests: model.requests.length, delivered: own.delivered.length },
      { requests: 1, delivered: 1 },
      'waiting costs nothing and asks only once',
    )
    await app.run('send', { session: session_id, text: 'blue' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    assert.match(lastMessageIn(model, 1), /blue/)
    const replayed = await replayIn(app, dispatch_id)
    assert.equal(replayed.identical, true)
    assert.equal(own.delivered.length, 1)
  })

  test('other runs continue while one waits for its answer, and both survive a restart', async (t) => {
    const home = freshFolder(t)
    const first = await openApp(t, { home, model: scriptedModel([asks]) })
    const { session_id, dispatch_id } = await runTaskIn(first)
    await first.close()
    const model = scriptedModel((_, turn) => (turn === 0 ? { text: 'something else' } : { text: 'red it is' }))
    const app = await openApp(t, { home, model })
    assert.equal((await runTaskIn(app, 'another task')).status, 'done')
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'waiting')
    await app.run('send', { session: session_id, text: 'red' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
  })

  test('it must be the only call, and a question that could not be sent is not waited for', async (t) => {
    const model = scriptedModel([
      { calls: [{ tool: 'ask_user', args: { question: 'x?' } }, { tool: 'list_files' }] },
      asks,
      { text: 'then without' },
    ])
    const app = await openApp(t, {
      model,
      yaml: 'kernel: { channel: chat }\n',
      gates: [
        {
          name: 'no',
          judge: async ({ tool }) => (tool === 'ask_user' ? { kind: 'deny', reason: 'not today' } : { kind: 'allow' }),
        },
      ],
    })
    const { session_id, status } = await runTaskIn(app)
    assert.match(lastMessageIn(model, 1), /Call ask_user alone/)
    assert.equal(status, 'done')
    assert.match(JSON.stringify(await resultsOf(app, session_id)), /not today/)
    assert.deepEqual(await listNotices(app), [])
    assert.ok(!kindsOf(await journalOf(app, session_id)).includes('call_intended'))
  })

  test('E8: an unattended run that asks is parked and counted so, and it gets the answer', async (t) => {
    const yaml = 'kernel: { agents: [{ agent_id: a, prompt: paint it }] }\n'
    const model = scriptedModel([asks, callStep('list_files'), { text: '## Execution Summary\npainted it blue' }])
    const app = await openApp(t, { model, yaml })
    const cycle = await app.run('once', {})
    assert.deepEqual(
      { status: cycle.status, parked: cycle.parked, failed: cycle.failed },
      { status: 'partial_success', parked: 1, failed: 0 },
    )
    const [agent] = cycle.agents
    assert.deepEqual(
      { status: agent?.status, failure_class: agent?.failure_class },
      { status: 'waiting', failure_class: null },
    )
    const [question] = await listNotices(app)
    assert.match(question?.text ?? '', /^red or blue\?/)
    await app.run('send', { session: agent?.session_id ?? '', text: 'blue' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, agent?.dispatch_id ?? '')).status, 'done')
  })

  test('on the command line: the user reads the question and how to answer, and the run gets the answer', async (t) => {
    const home = await createHome(t, {
      turns: [{ calls: [{ tool: 'ask_user', args: { question: 'red or blue?' } }] }, { text: 'as you say' }],
    })
    const asked = await tireless(home, 'run', '--behaviour', 'solo', 'paint it')
    assert.equal(asked.exit, 3)
    const [, session = ''] =
      /^parked: red or blue\?\n {2}to answer: tireless send --session (\S+) "…"\n/.exec(asked.stdout) ?? []
    assert.notEqual(session, '', asked.stdout)
    assert.equal((await tireless(home, 'send', '--session', session, 'blue')).exit, 0)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    const { items } = await tirelessJson<{ items: { status: string }[] }>(home, 'queue', 'list')
    assert.deepEqual(
      items.map(({ status }) => status),
      ['done'],
    )
  })
})
