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
import { diligentScript, MINUTE, runClockFor, runOnce as stillOnce } from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

const AGENTS = ['a', 'b', 'c', 'd', 'e'].map((agent_id) => ({ agent_id }))
const TWO = AGENTS.slice(0, 2)
/** Works once, then rests for the day. */
const RESTING = [{ agent_id: 'a', cooldown: '1d' }]

describe('E12: a cycle is told', () => {
  test('E12: the notice of a cycle in which something was done is delivered, once, as seed 001 §9.4 has it', async (t) => {
    const its = await openChatKernel(t)
    const { cycle_id } = await runCycle(its)
    const [only, ...more] = its.chat.received
    assert.deepEqual([only?.id, only?.chat_id, only?.kind, more], [`notice-${cycle_id}`, 'c1', 'notice', []])
    assert.match(
      only?.text ?? '',
      /^Kernel\[default\] cycle summary\n- cycle_id: run-.*\n- status: success\n- tasks: 1\n- completed: 1\n/,
    )
    const [posted] = await listOutbox(its)
    assert.deepEqual([posted?.status, posted?.attempts, posted?.error], ['sent', 1, null])
  })

  test('E12: in Chinese where an agent is told what to do in Chinese', async (t) => {
    const its = await openChatKernel(t, { agents: [{ agent_id: 'a', prompt: '写报告' }] })
    await runCycle(its)
    assert.match(deliveredTexts(its)[0] ?? '', /^Kernel\[default\] 周期完成总结\n.*\n- 状态: success\n/)
    for (let i = 0; i < 3; i++) await runCycle(its)
    assert.match(deliveredTexts(its)[3] ?? '', /- 提示:\n {2}- a 连续 3 次得到相同的结果$/)
    const told = readFileSync(join(its.home, 'kernels/default/SYSTEM_PROMPT.md'), 'utf8')
    assert.match(told, /# 无人值守\n.*\n- 永不询问/, 'what is on record is what they are told')
  })

  test('E4, E12: bound to nobody, nothing is posted; what should be known is in the log, once', async (t) => {
    const its = await openChatKernel(t, { withoutTarget: true, agents: [{ agent_id: 'a', prompt: 'do {ODD} things' }] })
    await runCycle(its)
    await runCycle(its)
    assert.deepEqual([its.chat.received, await listOutbox(its)], [[], []])
    const { items } = (await its.app.run('logs', {})) as { items: { event: string; message?: string }[] }
    assert.deepEqual(
      items.filter(({ event }) => event === 'notice').map(({ message }) => message),
      ['a: unknown placeholders {ODD}; they are left unchanged'],
    )
  })

  test('E12: a routine cycle is not told', async (t) => {
    const its = await openChatKernel(t, { agents: RESTING })
    await runCycle(its)
    assert.equal((await runCycle(its)).dispatched, 0)
    assert.equal((await listOutbox(its)).length, 1)
  })

  test('case 136: a notice holds no secret', async (t) => {
    const SECRET = 'hunter2-hunter2'
    const script: ModelScript = (request) => {
      const said = diligentScript(request)
      return said.text === undefined ? said : { text: `${said.text}, key ${SECRET}` }
    }
    const channels = { webhook: { url: 'http://127.0.0.1:9', secret: SECRET } }
    const its = await openChatKernel(t, { script, config: { channels } })
    await runCycle(its)
    assert.match(deliveredTexts(its)[0] ?? '', /key ‹secret:channels.webhook.secret›/)
    assert.ok(!JSON.stringify(await listOutbox(its)).includes(SECRET))
  })

  test('I9: a channel that is not there is no trouble of the cycle; what could not be delivered is seen', async (t) => {
    const its = await openChatKernel(t, { kernel: { channel: 'lark' } })
    assert.equal((await runCycle(its)).status, 'success')
    const [posted] = await listOutbox(its)
    assert.deepEqual([posted?.status, posted?.error], ['failed', 'unknown channel lark'])
    const { items } = (await its.app.run('channels list', {})) as { items: { name: string; failed: number }[] }
    assert.equal(items.find(({ name }) => name === 'lark')?.failed, 1)
  })
})

describe('E12: what goes wrong is told once', () => {
  test('case 134: a provider that refuses its key is one alert, however many cycles, across restarts; its end is told once', async (t) => {
    let good = false
    const refused = failingScript('model_auth') as typeof diligentScript
    const script: ModelScript = (request) => (good ? diligentScript(request) : refused(request))
    const its = await openChatKernel(t, { agents: TWO, script })
    // On a clock that stands still: how long a probe is waited for is not up to the load of the machine.
    for (let i = 0; i < 3; i++) assert.equal((await stillOnce(its.app)).status, 'failed')
    assert.deepEqual(
      its.chat.received.map(({ kind }) => kind),
      ['alert'],
    )
    assert.match(
      deliveredTexts(its)[0] ?? '',
      /^Kernel\[default\] alert\n- the last cycle failed: 1 of 1 dispatches \(a\)\n- the provider scripted refuses its key/,
    )
    await its.app.close()
    const after = await openChatKernel(t, { ...its, agents: TWO, script })
    assert.equal((await stillOnce(after.app)).status, 'failed')
    assert.equal(its.chat.received.length, 1)
    good = true
    for (let i = 0; i < 2; i++) {
      // Until the key is tried again.
      await its.clock.advance(10 * MINUTE)
      assert.equal((await runCycle(after)).status, 'success')
    }
    const firsts = deliveredTexts(its).map((text) => text.split('\n')[0])
    assert.deepEqual(firsts.slice(1), ['Kernel[default] has recovered', 'Kernel[default] cycle summary'])
  })

  test('case 124: five of five that fail run the alert path, by day and by night', async (t) => {
    const kernel = { quiet_hours: '00:00-23:59' }
    const its = await openChatKernel(t, { agents: AGENTS, script: failingScript('model_refused'), kernel })
    assert.equal((await runCycle(its)).failed, 5)
    assert.equal(deliveredOfKind(its, 'alert').length, 1)
    assert.match(deliveredTexts(its)[0] ?? '', /the last cycle failed: 5 of 5 dispatches \(a, b, c, d, e\)/)
  })

  test('case 124: a kernel that never succeeded since it began alerts after its threshold', async (t) => {
    const its = await openChatKernel(t, { script: failingScript('model_refused') })
    await startAndAwaitFirstCycle(its)
    for (let i = 0; i < 4; i++) assert.equal((await runNextBeat(its)).result?.status, 'failed')
    await waitUntil(() => deliveredOfKind(its, 'alert').length === 2)
    assert.match(
      deliveredOfKind(its, 'alert')[1]?.text ?? '',
      /^Kernel\[default\] alert\n- no cycle has succeeded since the kernel was started\n\n/,
    )
  })

  test('case 135: the same outcome three times running is reported, once', async (t) => {
    const its = await openChatKernel(t)
    for (let i = 0; i < 5; i++) await runCycle(its)
    const reported = deliveredTexts(its).map((text) =>
      /- notes:\n {2}- a had the same result \d times in a row/.test(text),
    )
    assert.deepEqual(reported, [false, false, false, true, false])
  })
})

describe('E12: quiet hours and digests', () => {
  test('E12: in quiet hours what can wait is held back until they end', async (t) => {
    const its = await openChatKernel(t, { script: busyScript(), kernel: { quiet_hours: '08:00-09:15' } })
    await startAndAwaitFirstCycle(its)
    const [held] = await listOutbox(its)
    assert.deepEqual([held?.kind, held?.status, held?.due], ['notice', 'pending', '2026-01-01T09:15:00.000Z'])
    await runClockFor(its.clock, Date.UTC(2026, 0, 1, 9, 14, 59) - its.clock.now())
    assert.equal(its.chat.received.length, 0)
    await runClockFor(its.clock, 1000)
    await waitUntil(() => its.chat.received.length > 1)
    assert.equal(its.chat.received[0]?.id, held?.id)
  })

  test('E12: routine cycles are told together at nine, once, also where nobody was there at nine', async (t) => {
    const its = await openChatKernel(t, { agents: RESTING })
    await runUntilIdle(its)
    await its.clock.advance(MINUTE)
    for (let i = 0; i < 3; i++) await runCycle(its)
    its.clock.setWall(Date.UTC(2026, 0, 1, 9, 5))
    for (let i = 0; i < 2; i++) await runUntilIdle(its)
    assert.deepEqual(
      its.chat.received.map(({ kind }) => kind),
      ['notice', 'digest'],
    )
    assert.match(
      deliveredTexts(its)[1] ?? '',
      /^Kernel\[default\] digest \(2026-01-01 08:3\d – 2026-01-01 09:00\)\n- cycles: 3\n- idle cycles: 2\n/,
    )
  })

  for (const [digest, expected] of [
    [false, []],
    [null, []],
    [{ every: '15m' }, ['08:45', '09:00']],
  ] as const)
    test(`E12: digest: ${JSON.stringify(digest)} is told ${expected.join(' and ') || 'never'}`, async (t) => {
      const its = await openChatKernel(t, { agents: RESTING, kernel: { digest, schedule: '*/5 * * * *' } })
      await startAndAwaitFirstCycle(its)
      for (let i = 0; i < 7; i++) await runNextBeat(its)
      await waitUntil(() => deliveredOfKind(its, 'digest').length >= expected.length)
      const told = (await listOutbox(its)).filter(({ kind }) => kind === 'digest').map(({ ts }) => ts.slice(11, 16))
      assert.deepEqual(told.toReversed(), expected)
    })
})

describe('E12: /notice', () => {
  test('E12: /notice in a chat binds it without a restart, /notice off ends that; each message is acted on and answered once', async (t) => {
    const its = await openChatKernel(t, { withoutTarget: true, script: busyScript(), kernel: { digest: false } })
    await pairChat(its)
    await startAndAwaitFirstCycle(its)
    await runNextBeat(its)
    assert.equal(its.chat.received.length, 0)
    assert.deepEqual(await sendChatMessage(its, ' /Notice ', 'm1'), { duplicate: false })
    // At once: no time passes.
    await waitUntil(() => its.chat.received.length === 1)
    await runNextBeat(its)
    await waitUntil(() => its.chat.received.length === 2)
    const told = its.chat.received.map(({ kind, chat_id }) => [kind, chat_id])
    assert.deepEqual(told, [
      ['reply', 'c9'],
      ['notice', 'c9'],
    ])
    await sendChatMessage(its, '/notice off', 'm2')
    assert.deepEqual(await sendChatMessage(its, '/notice', 'm1'), { duplicate: true })
    await runNextBeat(its)
    await waitUntil(() => its.chat.received.length === 3)
    assert.match(deliveredTexts(its)[2] ?? '', /sends no more notices/)
    assert.equal((await listOutbox(its)).filter(({ kind }) => kind === 'notice').length, 1)
  })

  test('E12: another chat has been told nothing: what stands is told to it', async (t) => {
    const its = await openChatKernel(t, { agents: TWO, script: failingScript('model_auth') })
    await runCycle(its)
    await pairChat(its)
    await sendChatMessage(its, '/notice', 'm1')
    await runCycle(its)
    assert.deepEqual(
      deliveredOfKind(its, 'alert').map(({ chat_id }) => chat_id),
      ['c1', 'c9'],
    )
  })

  test('/status says how the kernel is; to what it does not understand it says what it does', async (t) => {
    const its = await openChatKernel(t, { agents: TWO, script: failingScript('model_auth') })
    await runCycle(its)
    await pairChat(its)
    await sendChatMessage(its, '/status', 'm1')
    await sendChatMessage(its, 'how are you?', 'm2')
    await runUntilIdle(its)
    const [status, other] = deliveredOfKind(its, 'reply').map(({ text }) => text)
    assert.match(status ?? '', /^Kernel\[default\]\n- state: .*\n- next beat: -\n- last cycle: failed\n/)
    assert.match(status ?? '', /- health: .*refuses its key/)
    assert.match(other ?? '', /\/notice off, \/status/)
  })

  test('channels pair and unpair do the same on the terminal; a stranger’s name is refused', async (t) => {
    const its = await openChatKernel(t, { withoutTarget: true })
    const target = async () => ((await its.app.run('channels list', {})) as { target: unknown }).target
    assert.equal(await target(), null)
    await its.app.run('channels pair', { name: 'chat', chat: 'c3' })
    assert.deepEqual(await target(), { channel: 'chat', chat_id: 'c3', by: 'person' })
    await runCycle(its)
    assert.equal(its.chat.received[0]?.chat_id, 'c3')
    await its.app.run('channels unpair', {})
    assert.equal(await target(), null)
    await assert.rejects(async () => its.app.run('channels pair', { name: 'telegraph' }), { code: 'not_found' })
  })
})
