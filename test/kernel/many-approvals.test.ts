import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, drainQueue, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { buttonsOn, cardChannel, visibleCards } from '../support/card-channel.ts'
import { diligentScript, MINUTE, openKernelApp, runOnce, taskIn } from '../support/kernels.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const PARKED = 20
const CYCLES = 100

/** Agents with the task "send it" make a call that needs approval, then wait. */
function approvalScript(request: ModelRequest): ScriptedAnswer {
  if (!taskIn(request).includes('send it')) return diligentScript(request)
  const { length } = request.messages.filter(({ role }) => role === 'assistant')
  const steps: readonly ScriptedAnswer[] = [
    { calls: [call('send', { to: 'bob', text: 'hi' })] },
    { calls: [call('wait', { for: 'reply' })] },
  ]
  return steps[length] ?? { text: '## Execution Summary\nsent it' }
}

test('case 139: twenty open approvals delay no cycle, survive a restart, and are told on one card', async (t) => {
  const home = freshFolder(t)
  const send = sendTool()
  const senders = Array.from({ length: PARKED }, (_, n) => ({ agent_id: `sender-${n}`, prompt: 'send it' }))
  const given = {
    agents: [...senders, { agent_id: 'worker' }],
    kernel: { planner: { mode: 'static' }, max_concurrent: 2, channel: 'chat', chat_id: 'c1' },
  }
  const model = scriptedModel(approvalScript)
  const chat = cardChannel()
  const { app, clock } = await openKernelApp(t, { ...given, home, model, options: { tools: [send], channels: [chat] } })
  let finishedCycles = 0
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await clock.advance(10 * MINUTE)
    const { status, agents, duration_ms } = await runOnce(app)
    const [worker] = agents.filter(({ agent_id }) => agent_id === 'worker')
    assert.deepEqual(
      { hasFailed: status === 'failed' || status === 'error', worker: worker?.status, duration_ms },
      { hasFailed: false, worker: 'done', duration_ms: 0 },
      `cycle ${cycle}`,
    )
    finishedCycles += 1
  }
  const open = await listApprovals(app, { status: 'open' })
  assert.deepEqual(
    { finishedCycles, open: open.length, receivedArgs: send.receivedArgs },
    { finishedCycles: CYCLES, open: PARKED, receivedArgs: [] },
  )
  const [card, ...moreCards] = visibleCards(chat)
  assert.deepEqual([card?.title, buttonsOn(card).length, moreCards], ['20 things wait for you', 2 * PARKED, []])
  await app.close()

  const restarted = await openApp(t, {
    home,
    clock,
    model: scriptedModel(approvalScript),
    tools: [send],
    channels: [chat],
  })
  assert.deepEqual(await listApprovals(restarted, { status: 'open' }), open)
  for (const { id } of open) await restarted.run('approvals allow', { id })
  await drainQueue(restarted)
  assert.equal(send.receivedArgs.length, PARKED)
  assert.deepEqual(await listApprovals(restarted, { status: 'open' }), [])
  const [settled, ...others] = visibleCards(chat)
  assert.deepEqual([settled?.items.length, buttonsOn(settled), others], [PARKED, [], []])
})
