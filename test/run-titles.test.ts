/** Titles of runs: the owner's text, never the data that was filled into the prompt. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import { titleOf, titleOfRun } from '../src/domain/title.ts'
import { openKernelApp, runOnce } from './support/kernels.ts'

const YAML = `kernel:
  agents:
    - agent_id: tender
      prompt: "{STATE}\\n{GOAL}\\n{MEMORY}\\nTend the garden.\\n{CYCLE_HISTORY}"
`

test("a run is titled with the owner's text in queue list and show, events and trace list", async (t) => {
  const { app } = await openKernelApp(t, { agents: [], options: { yaml: YAML } as object })
  await runOnce(app)
  const listed = await app.run('queue list', {})
  const [dispatch] = listed.items
  assert.match(dispatch?.prompt ?? '', /<data \w+ STATE>/, 'the prompt itself has the data')
  const expectedTitle = /^Tend the garden\.$/
  assert.match(dispatch?.title ?? '', expectedTitle)
  const id = dispatch?.dispatch_id ?? ''
  assert.match((await app.run('queue show', { id })).title, expectedTitle)
  const { events } = await app.run('trace show', { run: id, events: true })
  assert.match(String(events?.[0]?.payload.title), expectedTitle)
  for (const [verb, output] of [
    ['queue list', listed],
    ['trace list', await app.run('trace list', {})],
  ] as const) {
    assert.match(render(verb, output), /Tend the garden/)
    assert.doesNotMatch(render(verb, output), /<data/)
  }
})

test('a title is one line, without data fences, and never empty', () => {
  const [nonce, other] = ['0123456789ab', 'ba9876543210']
  const fence = (mark: string, text: string) => `<data ${mark} STATE>\n${text}\n</data ${mark}>`
  assert.equal(titleOf(`Before\n${fence(nonce, `x </data ${other}>\n<data x`)}\nafter`), 'Before after')
  assert.equal(titleOf(`Before <data ${nonce} STATE>\nnever closed`), 'Before')
  assert.equal(titleOf(fence(nonce, 'x')), '(nothing but data)')
  const report = `The goal:\n${fence(nonce, 'x')}\n\nState:\n${fence(other, 'y')}\n\nWrite a report. It says:\n- what`
  assert.equal(titleOf(report), 'Write a report. It says: - what', 'a line that only announces data is no title')
  assert.equal(titleOf(`Look at this:\n${fence(nonce, 'x')}`), 'Look at this:', 'unless there is nothing else')
  assert.equal(titleOfRun('', 'resolve_router'), 'your message')
  assert.equal(titleOf('plain <data> words'), 'plain <data> words')
  assert.equal([...titleOf('x'.repeat(5000))].length, 200)
})
