import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineBehaviour } from '../../src/ports/behaviour.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { dispatchOf, openApp, runTaskIn } from '../support/open-app.ts'

describe('waiting', () => {
  test('case 50: a wait does not count as a step: with max_steps 1 the run waits, then answers', async (t) => {
    const model = scriptedModel([
      { calls: [{ tool: 'wait', args: { for: 'user_message' } }] },
      { text: 'message read' },
    ])
    const app = await openApp(t, { model })
    const { status, dispatch_id, session_id, wait } = await runTaskIn(app, 'wait for it', { max_steps: 1 })
    assert.deepEqual({ status, kind: wait?.kind }, { status: 'waiting', kind: 'observation' })
    await app.run('send', { session: session_id, text: 'now' })
    await app.run('start', { until_idle: true })
    const { status: finalStatus, result } = await dispatchOf(app, dispatch_id)
    assert.deepEqual(
      { finalStatus, result, requests: model.requests.length },
      { finalStatus: 'done', result: 'message read', requests: 2 },
    )
  })

  test("case 73: a message to an idle session is handled by the session's own behaviour", async (t) => {
    const observations: string[] = []
    const listener = defineBehaviour({
      name: 'listener',
      tools: [],
      initState: () => null,
      buildSystemPrompt: () => '',
      observe: (_, { input }) => input.map((one) => (one.type === 'user_message' ? one.text : one.name)).join(' '),
      decide(_, observation) {
        observations.push(String(observation))
        return { kind: 'final', answer: 'message read' }
      },
    })
    const app = await openApp(t, { behaviours: [listener] })
    const { session_id } = await runTaskIn(app, 'first', { behaviour: 'listener' })
    await app.run('send', { session: session_id, text: 'second' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(observations, ['first', 'second'])
  })
})
