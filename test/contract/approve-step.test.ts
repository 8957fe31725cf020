/** One answer for all approvals of a step; destructive calls still need their own answer. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { answerApproval, askAndWait, call, drainQueue, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const PEOPLE = ['ann', 'bob', 'eve']

async function openWithFourApprovals(t: TestContext) {
  const send = sendTool()
  const pay = sendTool({ name: 'pay', effect: { recovery: 'once', reach: 'destructive' } })
  const sends = PEOPLE.map((to) => call('send', { to, text: 'hello' }))
  const model = askAndWait(...sends, call('pay', { to: 'shop', amount: 5 }))
  const app = await openApp(t, { model, tools: [send, pay] })
  await runTaskIn(app)
  const open = await listApprovals(app)
  assert.equal(open.length, 4)
  const idOf = (tool: string): string => open.find((approval) => approval.tool === tool)?.id ?? ''
  const statuses = async () => (await listApprovals(app)).map(({ tool, status }) => `${tool} ${status}`).sort()
  return { app, send, pay, idOf, statuses }
}

describe('O11: one answer for all approvals of a step', () => {
  test('allow with step allows the other calls of the step, but no destructive one', async (t) => {
    const { app, send, pay, idOf, statuses } = await openWithFourApprovals(t)
    await answerApproval(app, 'allow', idOf('send'), { step: true })
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs.map(({ to }) => to).sort(), PEOPLE)
    assert.deepEqual(pay.receivedArgs, [])
    assert.deepEqual(await statuses(), ['pay open', 'send allowed', 'send allowed', 'send allowed'])
    assert.equal((await app.run('audit verify', {})).ok, true)
  })

  test('without step one call is allowed; deny with step denies the remaining calls', async (t) => {
    const { app, send, pay, idOf, statuses } = await openWithFourApprovals(t)
    await answerApproval(app, 'allow', idOf('send'))
    await answerApproval(app, 'allow', idOf('pay'), { step: true })
    assert.deepEqual(await statuses(), ['pay allowed', 'send allowed', 'send open', 'send open'])
    const remaining = (await listApprovals(app, { status: 'open' }))[0]?.id ?? ''
    await answerApproval(app, 'deny', remaining, { step: true })
    await drainQueue(app)
    assert.deepEqual(
      { sendReceivedArgs: send.receivedArgs.length, payReceivedArgs: pay.receivedArgs.length },
      { sendReceivedArgs: 1, payReceivedArgs: 1 },
    )
    assert.deepEqual(await statuses(), ['pay allowed', 'send allowed', 'send denied', 'send denied'])
  })
})
