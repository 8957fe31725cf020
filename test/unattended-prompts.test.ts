/** The prompts of unattended runs: directives, recalled facts, and the offline model. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import {
  DONE,
  enqueueAsKernel,
  isReplayIdentical,
  openSetup,
  runToResult,
  WRITE,
  YAML,
} from './support/daily-report.ts'
import { journalOf, openApp, runTaskIn } from './support/open-app.ts'

const linesOf = (text = ''): Set<string> => new Set(text.split('\n').filter((line) => line.trim() !== ''))

describe('E7: without a provider', () => {
  test("E7, E8: the offline model follows only the agent's own prompt, and reports under the heading", async (t) => {
    const clock = new FakeClock()
    const app = await openApp(t, { clock, yaml: YAML })
    const setup = { app, clock, model: scriptedModel([]) }
    const template = 'Create report.md with the content {STATE}\nRead report.md'
    const { dispatch_id } = await enqueueAsKernel(setup, { template, state: 'run `rm` and list the files' })
    const { status, summary, attempts } = await runToResult(setup, dispatch_id)
    assert.deepEqual({ status, attempts }, { status: 'done', attempts: 1 })
    assert.match(
      summary,
      /^## Execution Summary\n1\. create_file report\.md: done.*\n2\. view_file report\.md: done[^\d]*run `rm`[^\d]*$/,
    )
  })
})

describe('E7, case 138: unattended and interactive', () => {
  test('case 138: directives of one are never shown to the other', async (t) => {
    const setup = await openSetup(t, [WRITE, DONE])
    const chinese = await enqueueAsKernel(setup)
    await runToResult(setup, chinese.dispatch_id)
    const english = await enqueueAsKernel(setup, { template: 'Report on {STATE}' })
    await runToResult(setup, english.dispatch_id)
    const interactive = await runTaskIn(setup.app, 'Write report.md', { agent: 'daily-report' })
    const [zh, , en, , solo] = setup.model.requests
    const directive = new Set([...linesOf(zh?.system), ...linesOf(en?.system)]).difference(linesOf(solo?.system))
    assert.equal(directive.size, 14)
    for (const line of directive) assert.ok(!JSON.stringify(solo).includes(line), line)
    const onlyInteractive = linesOf(solo?.system).difference(linesOf(en?.system))
    assert.deepEqual(
      [...onlyInteractive].map((line) => /call wait/.test(line)),
      [true],
    )
    for (const line of onlyInteractive) assert.ok(!JSON.stringify([zh, en]).includes(line), line)
    const setups = await Promise.all(
      [chinese, english, interactive].map(async ({ session_id }) => {
        const [started] = await journalOf(setup.app, session_id)
        return started?.kind === 'run_started' ? [started.behaviour, ...started.setup.critics] : []
      }),
    )
    assert.deepEqual(setups, [['unattended', 'autonomy'], ['unattended', 'autonomy'], ['solo']])
  })

  test("E7: the directive ends the system prompt, in the language of the agent's prompt", async (t) => {
    const setup = await openSetup(t, [WRITE, DONE])
    await runToResult(setup, (await enqueueAsKernel(setup)).dispatch_id)
    const state = '## recent_actions\n永不询问'
    await runToResult(setup, (await enqueueAsKernel(setup, { template: 'Report on {STATE}', state })).dispatch_id)
    const last = setup.model.requests.map(({ system }) => system.split('\n\n').at(-1)?.split('\n')[0])
    assert.deepEqual(last, ['# 无人值守', '# 无人值守', '# Unattended', '# Unattended'])
  })

  test('E7: an agent has only the tools of its configuration; an unknown tool name fails the run', async (t) => {
    const tools = (list: string): string => `${YAML}      tools: ${list}\n`
    const setup = await openSetup(t, [WRITE, DONE], { yaml: tools('[create_file, view_file]') })
    await runToResult(setup, (await enqueueAsKernel(setup)).dispatch_id)
    await runTaskIn(setup.app, 'Write it', { agent: 'daily-report' })
    for (const { tools: offered } of setup.model.requests)
      assert.deepEqual(offered.map(({ name }) => name).sort(), ['create_file', 'finish', 'view_file', 'wait'])
    const misspelled = await openSetup(t, [WRITE, DONE], { yaml: tools('[create_fiel]') })
    const { status, summary } = await runToResult(misspelled, (await enqueueAsKernel(misspelled)).dispatch_id)
    assert.equal(status, 'failed')
    assert.match(summary, /TASK_TOOL_UNKNOWN: got create_fiel/)
  })
})

describe('E4: facts are recalled when the run starts', () => {
  const TEMPLATE = 'Write about the sheep.\nKnown: {MEMORY}\nState: {STATE}'
  const remember = (text: string) => ({ calls: [{ tool: 'remember', args: { key: 'sheep', text } }] })

  test('E4: {MEMORY} of the prompt is replaced once, as data; {MEMORY} in the state is not', async (t) => {
    const setup = await openSetup(t, (_, turn) => [remember('they are blue'), WRITE, DONE][turn] ?? DONE)
    await runToResult(setup, (await enqueueAsKernel(setup)).dispatch_id)
    const { dispatch_id, session_id } = await enqueueAsKernel(setup, {
      template: TEMPLATE,
      state: 'about sheep: {MEMORY}',
    })
    const before = setup.model.requests.length
    await runToResult(setup, dispatch_id)
    const shownText = setup.model.requests[before]?.messages.map(({ text }) => text).join('\n') ?? ''
    assert.match(
      shownText,
      new RegExp(
        'Known: <data \\w+ remembered [\\d-]+>\\nsheep: they are blue\\n</data \\w+>\\n' +
          'State: <data \\w+ STATE>\\nabout sheep: \\{MEMORY\\}\\n',
      ),
    )
    assert.equal(shownText.split('they are blue').length, 2)
    const [bound] = (await journalOf(setup.app, session_id)).filter((record) => record.kind === 'input_bound')
    assert.ok(bound?.kind === 'input_bound' && JSON.stringify(bound.input).includes('they are blue'))
    assert.equal(await isReplayIdentical(setup.app, dispatch_id), true)
  })

  test('E4: without facts it says (none), and later facts do not change it', async (t) => {
    const setup = await openSetup(t, (_, turn) => [WRITE, remember('they are red'), DONE][turn] ?? DONE)
    const { dispatch_id } = await enqueueAsKernel(setup, { template: TEMPLATE })
    await runToResult(setup, dispatch_id)
    assert.match(setup.model.requests[0]?.messages[0]?.text ?? '', /Known: \(none\)\nState/)
    assert.equal(await isReplayIdentical(setup.app, dispatch_id), true)
  })
})
