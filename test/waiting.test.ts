/** What waits for the owner is told: on the terminal, by a notice, in `status`. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Approval } from '../src/domain/approval.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { answerApproval, getOnlyApproval, LETTER, sendTool } from './support/approval-fixtures.ts'
import { chatChannel, listOutbox, MORNING, type RecordingChannel } from './support/chat-kernel.ts'
import { createHome, tireless, tirelessJson } from './support/command-line.ts'
import { type KernelHome, openKernelApp } from './support/kernels.ts'
import { waitUntil } from './support/open-app.ts'

const POST = { url: 'https://shop.example.com/orders', method: 'POST', body: 'one lamp' }

describe('a parked task on the command line', () => {
  test('run prints the whole id, the exact call and what to type, and exits with 3', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'fetch', args: POST }] },
      { text: 'ordered' },
      { text: 'done' },
    ])
    const { exit, stdout } = await tireless(home, 'run', 'Look for a lamp')
    assert.equal(exit, 3)
    const { items } = await tirelessJson<{ items: Approval[] }>(home, 'approvals', 'list')
    const [{ id } = assert.fail('no approval')] = items
    for (const text of [
      `tireless approvals allow ${id}\n`,
      `tireless approvals deny ${id}\n`,
      'tool: fetch (reach third_party',
      '"url": "https://shop.example.com/orders"',
      '"body": "one lamp"',
      'tireless start --until-idle',
    ])
      assert.ok(stdout.includes(text), `${text} is missing in:\n${stdout}`)
    const status = await tirelessJson(home, 'status')
    assert.deepEqual(
      { approvals: status.approvals, questions: status.questions, unknowns: status.unknowns },
      { approvals: 1, questions: 0, unknowns: 0 },
    )
    await tireless(home, 'approvals', 'deny', id)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    assert.equal((await tirelessJson(home, 'status')).approvals, 0)
  })

  test('a question is printed with the command that answers it, and status counts it', async (t) => {
    const ask = { calls: [{ tool: 'ask_user', args: { question: 'Which colour?' } }] }
    const home = await createHome(t, [ask, { text: 'done' }])
    const { exit, stdout } = await tireless(home, 'run', 'Look for a lamp')
    assert.equal(exit, 3)
    const { items } = await tirelessJson<{ items: { session_id: string }[] }>(home, 'sessions', 'list')
    assert.ok(stdout.includes(`tireless send --session ${items[0]?.session_id} "…"`), stdout)
    const status = await tirelessJson(home, 'status')
    assert.deepEqual(
      { approvals: status.approvals, questions: status.questions, unknowns: status.unknowns },
      { approvals: 0, questions: 1, unknowns: 0 },
    )
  })
})

const STEPS: readonly ScriptedStep[] = [
  { calls: [{ tool: 'send', args: LETTER }] },
  { text: '## Execution Summary\nasked' },
  { text: '## Execution Summary\nover' },
]

async function openHome(
  t: Parameters<typeof openKernelApp>[0],
  kernel: object = {},
  now = MORNING,
  folder?: string,
): Promise<KernelHome & { readonly chat: RecordingChannel }> {
  const chat = chatChannel()
  const home = await openKernelApp(t, {
    ...(folder === undefined ? {} : { home: folder }),
    agents: [{ agent_id: 'a', prompt: 'Look for a lamp' }],
    model: scriptedModel([...STEPS]),
    clock: new FakeClock({ now }),
    kernel: { channel: 'chat', chat_id: 'c1', timezone: 'UTC', ...kernel },
    config: { server: { port: 0 } },
    options: { channels: [chat], tools: [sendTool()] },
  })
  return { ...home, chat }
}

const approvalNotices = ({ chat }: { readonly chat: RecordingChannel }) =>
  chat.received.filter(({ id }) => id.startsWith('approval-'))

const deliver = async ({ app }: KernelHome): Promise<void> => {
  // On a shared store, only the leader delivers.
  await app.service('queue').requireLead()
  await app.context.notifier.deliver(app.context.signals.drain)
}

describe('a notice of a call that needs approval', () => {
  for (const verb of ['run', 'once', 'start'] as const)
    test(`is sent at once by ${verb}, with the call, the whole id and what to type`, async (t) => {
      const home = await openHome(t)
      if (verb === 'run') await home.app.run('run', { task: 'Look for a lamp' })
      else if (verb === 'once') await home.app.run('once', {})
      else home.app.run('start', {}).catch(() => {})
      await waitUntil(() => approvalNotices(home).length > 0)
      const { id } = await getOnlyApproval(home.app)
      const [notice, ...more] = approvalNotices(home)
      assert.deepEqual(
        { id: notice?.id, chat_id: notice?.chat_id, kind: notice?.kind, more },
        { id: `approval-${id}`, chat_id: 'c1', kind: 'notice', more: [] },
      )
      assert.match(notice?.text ?? '', /^send needs your approval\n- arguments: `\{"to":"bob","text":"hello"\}`\n/)
      assert.ok(notice?.text.includes(`- to allow it: tireless approvals allow ${id}\n`))
      assert.ok(notice?.text.includes(`- to deny it: tireless approvals deny ${id}\n`))
    })

  test('waits for the morning in quiet hours, unless the approval expires before', async (t) => {
    const night = Date.UTC(2026, 0, 1, 23, 0)
    const home = await openHome(t, { quiet_hours: '22:00-07:00' }, night)
    await home.app.run('run', { task: 'Look for a lamp' })
    const [held] = await listOutbox(home)
    assert.deepEqual(
      { kind: held?.kind, due: held?.due, approvalNotices: approvalNotices(home) },
      { kind: 'notice', due: '2026-01-02T07:00:00.000Z', approvalNotices: [] },
    )
    // Told for the first time in the next night, because no channel was there before.
    const late = await openHome(t, { channel: null, chat_id: null, quiet_hours: '22:00-07:00' }, night)
    await late.app.run('run', { task: 'Look for a lamp' })
    await late.clock.advance(23 * 3_600_000 + 50 * 60_000)
    await late.app.run('channels pair', { name: 'chat', chat: 'c1' })
    await late.app.run('run', { task: 'Something else' })
    assert.deepEqual(
      approvalNotices(late).map(({ kind }) => kind),
      ['alert'],
    )
  })

  test('is not repeated after a restart', async (t) => {
    const home = await openHome(t)
    await home.app.run('run', { task: 'Look for a lamp' })
    await deliver(home)
    assert.equal(approvalNotices(home).length, 1)
    await home.app.close()
    const again = await openHome(t, {}, MORNING + 60_000, home.home)
    await deliver(again)
    await again.app.run('start', { until_idle: true })
    assert.equal((await again.app.run('approvals list', {})).items.length, 1)
    assert.deepEqual(approvalNotices(again), [])
  })

  test('is the only message of a cycle in which nothing else happened', async (t) => {
    const home = await openHome(t)
    await home.app.run('once', {})
    await deliver(home)
    assert.deepEqual(
      home.chat.received.map(({ id }) => id.replace(/-.*/, '')),
      ['approval'],
    )
  })

  for (const restarts of [false, true])
    test(`is not sent in the morning if answered at night${restarts ? ', nor after a restart' : ''}`, async (t) => {
      const night = Date.UTC(2026, 0, 1, 23, 0)
      const quiet = { quiet_hours: '22:00-07:00' }
      const home = await openHome(t, quiet, night)
      await home.app.run('run', { task: 'Look for a lamp' })
      await answerApproval(home.app, 'deny', (await getOnlyApproval(home.app)).id)
      const morning = night + 9 * 3_600_000
      if (restarts) await home.app.close()
      else await home.clock.advance(morning - night)
      const later = restarts ? await openHome(t, quiet, morning, home.home) : home
      await deliver(later)
      assert.deepEqual([approvalNotices(later), await listOutbox(later)], [[], []])
    })
})
