import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin } from '../../src/ports/plugin.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const isDeeplyFrozen = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))

test('each record passed to a sink is deeply frozen', async (t) => {
  const records: { readonly kind: string; readonly isFrozen: boolean }[] = []
  const sink = definePlugin({
    name: 'sink',
    needs: ['events'],
    setup: (host) =>
      host.get('events').add({
        onRunOpened() {},
        onRecord: (_, record) => records.push({ kind: record.kind, isFrozen: isDeeplyFrozen(record) }),
        onRunClosed() {},
        delta() {},
      }),
  })
  const model = scriptedModel([{ calls: [{ tool: 'send', args: { to: 'ann' } }] }, { text: 'done' }])
  const app = await openApp(t, { model, tools: [fakeTool({ name: 'send' })], plugins: [sink] })
  assert.equal((await runTaskIn(app)).status, 'done')
  const kinds = ['run_started', 'input_bound', 'model_requested', 'model_answered', 'call_intended', 'call_settled']
  for (const kind of [...kinds, 'step_committed', 'run_ended'])
    assert.ok(
      records.some((one) => one.kind === kind),
      kind,
    )
  assert.deepEqual(
    records.filter(({ isFrozen }) => !isFrozen),
    [],
  )
})
