import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ModelScript } from '../../src/testing/scripted-model.ts'
import {
  busyScript,
  deliveredOfKind,
  deliveredTexts,
  failingScript,
  listOutbox,
  openChatKernel,
  pairChat,
  runCycle,
  runNextBeat,
  runUntilIdle,
  sendChatMessage,
  startAndAwaitFirstCycle,
} from '../support/chat-kernel.ts'
import { diligentScript, MINUTE, runClockFor, runOnce } from '../support/kernels.ts'
import { readLogs, waitUntil } from '../support/open-app.ts'

const AGENTS = ['a', 'b', 'c', 'd', 'e'].map((agent_id) => ({ agent_id }))
const TWO = AGENTS.slice(0, 2)
/** Runs once a day. */
const DAILY = [{ agent_id: 'a', cooldown: '1d' }]

describe('E12: notices of cycles', () => {
  test('E12: the notice of an active cycle is delivered once, in the format of seed 001 §9.4', async (t) => {
    const home = await openChatKernel(t)
    const { cycle_id } = await runCycle(home)
    const [only, ...more] = home.chat.received
    assert.deepEqual(
      { id: only?.id, chat_id: only?.chat_id, kind: only?.kind, more },
      { id: `notice-${cycle_id}`, chat_id: 'c1', kind: 'notice', more: [] },
    )
    assert.match(
      only?.text ?? '',
      /^Kernel\[default\] cycle summary\n- cycle_id: run-.*\n- status: success\n- tasks: 1\n- completed: 1\n/,
    )
    const [posted] = await listOutbox(home)
    assert.deepEqual(
      { status: posted?.status, attempts: posted?.attempts, error: posted?.error },
      { status: 'sent', attempts: 1, error: null },
    )
  })

  test('E12: notices are in Chinese when an agent prompt is in Chinese', async (t) => {
    const home = await openChatKernel(t, { agents: [{ agent_id: 'a', prompt: '写报告' }] })
    await runCycle(home)
    assert.match(deliveredTexts(home)[0] ?? '', /^Kernel\[default\] 周期完成总结\n.*\n- 状态: success\n/)
    for (let i = 0; i < 3; i++) await runCycle(home)
    assert.match(deliveredTexts(home)[3] ?? '', /- 提示:\n {2}- a 连续 3 次得到相同的结果$/)
    const systemPrompt = readFileSync(join(home.home, 'kernels/default/SYSTEM_PROMPT.md'), 'utf8')
    assert.match(systemPrompt, /# 无人值守\n.*\n- 永不询问/, 'the recorded system prompt is in Chinese too')
  })

  test('E4, E12: without a notice target nothing is sent; a warning is logged once', async (t) => {
    const home = await openChatKernel(t, {
      withoutTarget: true,
      agents: [{ agent_id: 'a', prompt: 'do {ODD} things' }],
    })
    await runCycle(home)
    await runCycle(home)
    assert.deepEqual({ received: home.chat.received, outbox: await listOutbox(home) }, { received: [], outbox: [] })
    const { items } = await readLogs(home.app)
    assert.deepEqual(
      items.filter(({ event }) => event === 'notice').map(({ message }) => message),
      ['a: unknown placeholders {ODD}; they are left unchanged'],
    )
  })

  test('E12: a cycle without dispatches sends no notice', async (t) => {
    const home = await openChatKernel(t, { agents: DAILY })
    await runCycle(home)
    assert.equal((await runCycle(home)).dispatched, 0)
    assert.equal((await listOutbox(home)).length, 1)
  })

  test('case 136: secrets are redacted in notices', async (t) => {
    const SECRET = 'hunter2-hunter2'
    const script: ModelScript = (request) => {
      const answer = diligentScript(request)
      return answer.text === undefined ? answer : { text: `${answer.text}, key ${SECRET}` }
    }
    const channels = { webhook: { url: 'http://127.0.0.1:9', secret: SECRET } }
    const home = await openChatKernel(t, { script, config: { channels } })
    await runCycle(home)
    assert.match(deliveredTexts(home)[0] ?? '', /key ‹secret:channels.webhook.secret›/)
    assert.ok(!JSON.stringify(await listOutbox(home)).includes(SECRET))
  })

  test('I9: an unknown channel does not fail the cycle; the failed delivery is listed', async (t) => {
    const home = await openChatKernel(t, { kernel: { channel: 'pigeon' } })
    assert.equal((await runCycle(home)).status, 'success')
    const [posted] = await listOutbox(home)
    assert.deepEqual(
      { status: posted?.status, error: posted?.error },
      { status: 'failed', error: 'unknown channel pigeon' },
    )
    const { items } = await home.app.run('channels list', {})
    assert.equal(items.find(({ name }) => name === 'pigeon')?.failed, 1)
  })
})

describe('E12: alerts are sent once', () => {
  test('case 134: a refused key is one alert over many cycles and restarts; so is its recovery', async (t) => {
    let isKeyValid = false
    const refused = failingScript('model_auth') as typeof diligentScript
    const script: ModelScript = (request) => (isKeyValid ? diligentScript(request) : refused(request))
    const home = await openChatKernel(t, { agents: TWO, script })
    // With a fixed clock, so that the wait for the first agent does not depend on machine load.
    for (let i = 0; i < 3; i++) assert.equal((await runOnce(home.app)).status, 'failed')
    assert.deepEqual(
      home.chat.received.map(({ kind }) => kind),
      ['alert'],
    )
    assert.match(
      deliveredTexts(home)[0] ?? '',
      /^Kernel\[default\] alert\n- the last cycle failed: 1 of 1 dispatches \(a\)\n- the provider scripted refuses/,
    )
    assert.match(deliveredTexts(home)[0] ?? '', /\n- the provider scripted refuses its key/)
    await home.app.close()
    const after = await openChatKernel(t, { ...home, agents: TWO, script })
    assert.equal((await runOnce(after.app)).status, 'failed')
    assert.equal(home.chat.received.length, 1)
    isKeyValid = true
    for (let i = 0; i < 2; i++) {
      // Long enough for the key to be tried again.
      await home.clock.advance(10 * MINUTE)
      assert.equal((await runCycle(after)).status, 'success')
    }
    const firsts = deliveredTexts(home).map((text) => text.split('\n')[0])
    assert.deepEqual(firsts.slice(1), ['Kernel[default] has recovered', 'Kernel[default] cycle summary'])
  })

  test('case 124: a cycle in which all agents fail sends an alert, in quiet hours too', async (t) => {
    const kernel = { quiet_hours: '00:00-23:59' }
    const home = await openChatKernel(t, { agents: AGENTS, script: failingScript('model_refused'), kernel })
    assert.equal((await runCycle(home)).failed, 5)
    assert.equal(deliveredOfKind(home, 'alert').length, 1)
    assert.match(deliveredTexts(home)[0] ?? '', /the last cycle failed: 5 of 5 dispatches \(a, b, c, d, e\)/)
  })

  test('case 124: a kernel without any success sends an alert after its threshold', async (t) => {
    const home = await openChatKernel(t, { script: failingScript('model_refused') })
    await startAndAwaitFirstCycle(home)
    for (let i = 0; i < 4; i++) assert.equal((await runNextBeat(home)).result?.status, 'failed')
    await waitUntil(() => deliveredOfKind(home, 'alert').length === 2)
    assert.match(
      deliveredOfKind(home, 'alert')[1]?.text ?? '',
      /^Kernel\[default\] alert\n- no cycle has succeeded since the kernel was started\n\n/,
    )
  })

  test('case 135: the same outcome three times in a row is reported once', async (t) => {
    const home = await openChatKernel(t)
    for (let i = 0; i < 5; i++) await runCycle(home)
    const reported = deliveredTexts(home).map((text) =>
      /- notes:\n {2}- a had the same result \d times in a row/.test(text),
    )
    assert.deepEqual(reported, [false, false, false, true, false])
  })
})

describe('E12: quiet hours and digests', () => {
  test('E12: notices in quiet hours are delivered when they end', async (t) => {
    const home = await openChatKernel(t, { script: busyScript(), kernel: { quiet_hours: '08:00-09:15' } })
    await startAndAwaitFirstCycle(home)
    const [delayed] = await listOutbox(home)
    assert.deepEqual(
      { kind: delayed?.kind, status: delayed?.status, due: delayed?.due },
      { kind: 'notice', status: 'pending', due: '2026-01-01T09:15:00.000Z' },
    )
    await runClockFor(home.clock, Date.UTC(2026, 0, 1, 9, 14, 59) - home.clock.now())
    assert.equal(home.chat.received.length, 0)
    await runClockFor(home.clock, 1000)
    await waitUntil(() => home.chat.received.length > 1)
    assert.equal(home.chat.received[0]?.id, delayed?.id)
  })

  test('E12: idle cycles are summarised in one digest at nine, or at the next start after it', async (t) => {
    const home = await openChatKernel(t, { agents: DAILY })
    await runUntilIdle(home)
    await home.clock.advance(MINUTE)
    for (let i = 0; i < 3; i++) await runCycle(home)
    home.clock.setWall(Date.UTC(2026, 0, 1, 9, 5))
    for (let i = 0; i < 2; i++) await runUntilIdle(home)
    assert.deepEqual(
      home.chat.received.map(({ kind }) => kind),
      ['notice', 'digest'],
    )
    assert.match(
      deliveredTexts(home)[1] ?? '',
      /^Kernel\[default\] digest \(2026-01-01 08:3\d – 2026-01-01 09:00\)\n- cycles: 3\n- idle cycles: 2\n/,
    )
    assert.match(deliveredTexts(home)[1] ?? '', /\n\n# Shift report: [\s\S]*\n## Done\n\n- 08:3\d \*\*/)
  })

  for (const [digest, expected] of [
    [false, []],
    [null, []],
    [{ every: '15m' }, ['08:45', '09:00']],
  ] as const)
    test(`E12: digest: ${JSON.stringify(digest)} is sent ${expected.join(' and ') || 'never'}`, async (t) => {
      const home = await openChatKernel(t, { agents: DAILY, kernel: { digest, schedule: '*/5 * * * *' } })
      await startAndAwaitFirstCycle(home)
      for (let i = 0; i < 7; i++) await runNextBeat(home)
      await waitUntil(() => deliveredOfKind(home, 'digest').length >= expected.length)
      const times = (await listOutbox(home)).filter(({ kind }) => kind === 'digest').map(({ ts }) => ts.slice(11, 16))
      assert.deepEqual(times.toReversed(), expected)
    })
})

describe('E12: /notice', () => {
  test('E12: /notice makes a chat the notice target at once; /notice off ends it', async (t) => {
    const home = await openChatKernel(t, { withoutTarget: true, script: busyScript(), kernel: { digest: false } })
    await pairChat(home)
    await startAndAwaitFirstCycle(home)
    await runNextBeat(home)
    assert.equal(home.chat.received.length, 0)
    assert.deepEqual(await sendChatMessage(home, ' /Notice ', 'm1'), { duplicate: false })
    // The reply comes at once, without advancing the clock.
    await waitUntil(() => home.chat.received.length === 1)
    await runNextBeat(home)
    await waitUntil(() => home.chat.received.length === 2)
    const delivered = home.chat.received.map(({ kind, chat_id }) => [kind, chat_id])
    assert.deepEqual(delivered, [
      ['reply', 'c9'],
      ['notice', 'c9'],
    ])
    await sendChatMessage(home, '/notice off', 'm2')
    assert.deepEqual(await sendChatMessage(home, '/notice', 'm1'), { duplicate: true })
    await runNextBeat(home)
    await waitUntil(() => home.chat.received.length === 3)
    assert.match(deliveredTexts(home)[2] ?? '', /sends no more notices/)
    assert.equal((await listOutbox(home)).filter(({ kind }) => kind === 'notice').length, 1)
  })

  test('E12: a new notice target receives the current alert', async (t) => {
    const home = await openChatKernel(t, { agents: TWO, script: failingScript('model_auth') })
    await runCycle(home)
    await pairChat(home)
    await sendChatMessage(home, '/notice', 'm1')
    await runCycle(home)
    assert.deepEqual(
      deliveredOfKind(home, 'alert').map(({ chat_id }) => chat_id),
      ['c1', 'c9'],
    )
  })

  test('/status describes the kernel; an unknown command is answered with the known ones', async (t) => {
    const home = await openChatKernel(t, { agents: TWO, script: failingScript('model_auth') })
    await runCycle(home)
    await pairChat(home)
    await sendChatMessage(home, '/status', 'm1')
    await sendChatMessage(home, '/dance', 'm2')
    await runUntilIdle(home)
    const [status, other] = deliveredOfKind(home, 'reply').map(({ text }) => text)
    assert.match(status ?? '', /^Kernel\[default\]\n- state: .*\n- next beat: -\n- last cycle: failed\n/)
    assert.match(status ?? '', /- health: .*refuses its key/)
    assert.match(other ?? '', /\/status · \/approvals · \/allow ID/)
  })

  test('channels pair and unpair set the notice target; an unknown channel is refused', async (t) => {
    const home = await openChatKernel(t, { withoutTarget: true })
    const target = async () => (await home.app.run('channels list', {})).target
    assert.equal(await target(), null)
    await home.app.run('channels pair', { name: 'chat', chat: 'c3' })
    assert.deepEqual(await target(), { channel: 'chat', chat_id: 'c3', by: 'person' })
    await runCycle(home)
    assert.equal(home.chat.received[0]?.chat_id, 'c3')
    await home.app.run('channels unpair', {})
    assert.equal(await target(), null)
    await assert.rejects(async () => home.app.run('channels pair', { name: 'telegraph' }), { code: 'not_found' })
  })
})
