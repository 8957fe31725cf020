/** An unattended run whose call a person has to allow: it waits for the answer, whatever its mind says (E8). */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { approvals, call, sending } from '../support/approval-fixtures.ts'
import { kernelApp, once } from '../support/kernels.ts'
import { dispatchOf } from '../support/open-app.ts'

const LETTER = { to: 'bob', text: 'hi' }

/** Asks, and then says this; woken, that it is done. */
const saying = (words: string) =>
  scriptedModel((request) => {
    const { length } = request.messages.filter(({ role }) => role === 'assistant')
    if (length === 0) return { calls: [call('send', LETTER)] }
    return length === 1 ? { text: words } : { text: '## Execution Summary\nover' }
  })

describe('an open approval parks the work (E8)', () => {
  for (const [what, words] of [
    ['a result', '## Execution Summary\nasked for leave to send'],
    ['words that are no result', 'ok'],
    ['a question', 'Please confirm that I may send it.'],
  ] as const)
    test(`E8: whatever it says next (${what}), it is parked, not failed; allowed, it goes on in the same session`, async (t) => {
      const send = sending()
      const model = saying(words)
      const { app } = await kernelApp(t, { agents: [{ agent_id: 'a' }], model, options: { tools: [send] } })
      const first = await once(app)
      const [parked] = first.agents
      assert.deepEqual([first.status, first.parked, first.failed, parked?.status], ['partial_success', 1, 0, 'waiting'])
      const [approval] = await approvals(app, { status: 'open' })
      assert.match(
        parked?.summary ?? '',
        new RegExp(`send needs approval\\. Run: tireless approvals allow ${approval?.id}`),
      )
      assert.equal(model.requests.length, 2, 'it is asked nothing more until somebody has answered')
      await app.run('approvals allow', { id: approval?.id })
      const next = await once(app)
      assert.deepEqual([next.succeeded, next.agents[0]?.dispatch_id, send.asked], [1, parked?.dispatch_id, [LETTER]])
      const replayed = (await app.run('replay', { run: parked?.dispatch_id })) as { identical: boolean }
      assert.equal(replayed.identical, true)
    })

  for (const how of ['denied', 'expired'] as const)
    test(`E8: ${how}, it is woken, told, and comes to its end; nothing was sent`, async (t) => {
      const send = sending()
      const { app, clock } = await kernelApp(t, {
        agents: [{ agent_id: 'a', metadata: { noop: true } }],
        model: saying('## Execution Summary\nasked'),
        options: { tools: [send] },
      })
      const [parked] = (await once(app)).agents
      const [approval] = await approvals(app, { status: 'open' })
      if (how === 'denied') await app.run('approvals deny', { id: approval?.id })
      else await clock.advance(24 * 3_600_000)
      await once(app)
      const { status } = await dispatchOf(app, parked?.dispatch_id ?? '')
      assert.notEqual(status, 'waiting')
      assert.deepEqual([send.asked, await approvals(app, { status: 'open' })], [[], []])
    })

  test('E8: one that goes on asking for the same is parked as well, and asks once', async (t) => {
    const model = scriptedModel(() => ({ calls: [call('send', LETTER)] }))
    const { app } = await kernelApp(t, { agents: [{ agent_id: 'a' }], model, options: { tools: [sending()] } })
    assert.equal((await once(app)).parked, 1)
    assert.equal((await approvals(app, { status: 'open' })).length, 1)
  })
})

test('E20: each cycle is one line of the log, with its id, trigger, status, counts and duration', async (t) => {
  const { app } = await kernelApp(t, { agents: [{ agent_id: 'a' }] })
  const { cycle_id } = await once(app)
  await app.run('cycle now', {})
  const { items } = (await app.run('logs', { lines: 200 })) as { items: Record<string, unknown>[] }
  const lines = items.filter(({ event }) => event === 'cycle')
  assert.equal(lines.length, 2)
  const { trigger, status, dispatched, succeeded, failed, parked, duration_ms } = lines[0] ?? {}
  assert.deepEqual(
    [lines[0]?.cycle_id, trigger, status, dispatched, succeeded, failed, parked, duration_ms],
    [cycle_id, 'manual', 'success', 1, 1, 0, 0, 0],
  )
})
