/** What one step asks for, answered in one word: each call as it was shown, and nothing that has to be asked about each time. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { answerApproval, askAndWait, call, drainQueue, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const PEOPLE = ['ann', 'bob', 'eve']

async function asked(t: TestContext) {
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

describe('O11: one question for what one step asks for', () => {
  test('allowed with its step, the others of it are allowed, too, and each is run once; not what spends money', async (t) => {
    const { app, send, pay, idOf, statuses } = await asked(t)
    await answerApproval(app, 'allow', idOf('send'), { step: true })
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs.map(({ to }) => to).sort(), PEOPLE)
    assert.deepEqual(pay.receivedArgs, [])
    assert.deepEqual(await statuses(), ['pay open', 'send allowed', 'send allowed', 'send allowed'])
    assert.equal(((await app.run('audit verify', {})) as { ok: boolean }).ok, true)
  })

  test('by itself it is one call; what spends money stands alone; denied with its step, none of it is run', async (t) => {
    const { app, send, pay, idOf, statuses } = await asked(t)
    await answerApproval(app, 'allow', idOf('send'))
    await answerApproval(app, 'allow', idOf('pay'), { step: true })
    assert.deepEqual(await statuses(), ['pay allowed', 'send allowed', 'send open', 'send open'])
    const left = (await listApprovals(app, { status: 'open' }))[0]?.id ?? ''
    await answerApproval(app, 'deny', left, { step: true })
    await drainQueue(app)
    assert.deepEqual([send.receivedArgs.length, pay.receivedArgs.length], [1, 1])
    assert.deepEqual(await statuses(), ['pay allowed', 'send allowed', 'send denied', 'send denied'])
  })
})
