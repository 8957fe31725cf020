/** The tools that read the past: periods, limits, refusals, and the labels of their results. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PAST_TOOLS } from '../src/domain/past-tools.ts'
import { shortId } from '../src/domain/short-id.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import type { ToolContext } from '../src/ports/tool.ts'
import { openPastHome, pastModel } from './support/past-home.ts'

const isAnswering = ({ system }: ModelRequest): boolean => system.includes("answer the owner's question")

async function openTools(t: TestContext) {
  const requests: ModelRequest[] = []
  const model = pastModel((request, turn) => {
    if (!isAnswering(request)) return undefined
    requests.push(structuredClone(request))
    const asked = JSON.stringify(request.messages[0])
    const when = asked.includes('yesterday') ? 'yesterday' : 'today'
    return turn === 0 ? { calls: [{ tool: 'past_work', args: { when } }] } : { text: 'See above.' }
  })
  const { app, runs } = await openPastHome(t, model)
  const tools = app.service('tools').all
  const call = async (name: string, args: object) => {
    const tool = tools.get(name) ?? assert.fail(name)
    return tool.run(tool.args.parse(args), {} as ToolContext)
  }
  return { app, runs, requests, tools, call }
}

test('work of the past is read by period, words and agent', async (t) => {
  const { tools, call } = await openTools(t)

  await t.test('all of them change nothing and reach nothing', () => {
    for (const name of PAST_TOOLS)
      assert.deepEqual(tools.get(name)?.effect({} as never), { recovery: 'pure', reach: 'none' }, name)
  })

  await t.test('a period is given in words or by its days; an unclear one is refused with the reason', async () => {
    const words = await call('past_work', { when: 'last week' })
    const days = await call('past_work', { from: '2026-11-02', to: '2026-11-08' })
    assert.match(words.content, /^Last week \(Monday 2 November 2026 to Sunday 8 November 2026\): 3 runs/)
    assert.equal(days.content, words.content.replace(/^Last week \((.*?)\)/, '$1'))
    const refused = async (args: object) => {
      const { status, content } = await call('past_work', args)
      return status === 'error' ? content : assert.fail(content)
    }
    assert.match(await refused({ when: 'the last few days' }), /no exact period/)
    assert.match(await refused({ when: 'the report' }), /names no period/)
    assert.match(await refused({ when: 'tomorrow' }), /in the future/)
    assert.match(await refused({ from: 'Monday' }), /from: "Monday" is no time; expected a day such as/)
    assert.match(await refused({ from: '2026-11-08', to: '2026-11-02' }), /ends before it begins/)
  })

  await t.test('a result is bounded and says what it leaves out', async () => {
    const { content } = await call('past_work', { when: 'today', limit: 1 })
    assert.match(content, /: 5 runs\.\n/)
    assert.match(content, /… and 4 more, which are left out here\./)
    assert.equal(content.match(/^- /gm)?.length, 1)
  })

  await t.test('work is found by its words and its agent, the best match first', async () => {
    const found = await call('past_work', { when: 'ever', text: 'the weekly report', limit: 1 })
    assert.match(found.content, /Write the weekly report/)
    const keeper = await call('past_work', { when: 'today', agent: 'keeper' })
    assert.match(keeper.content, /2 runs/)
    assert.doesNotMatch(keeper.content, /scribe/)
  })
})

test('spending, runs and files of the past are read, with their labels', async (t) => {
  const { app, runs, requests, call } = await openTools(t)

  await t.test('spending is listed by agent, model or day', async () => {
    const days = await call('past_spend', { when: 'this week', by: 'day' })
    assert.match(days.content, /- 2026-11-09: \$0\.34 .*\n- 2026-11-11: \$0\.16 .*\n- 2026-11-12: \$0\.22 /)
    assert.match((await call('past_spend', { when: 'today', by: 'model' })).content, /- scripted\/model: \$0\.22/)
    assert.match((await call('past_spend', { when: 'this morning' })).content, /\$0\.19\./)
    assert.match((await call('past_spend', { when: 'on Tuesday' })).content, /nothing was spent/)
  })

  await t.test('a run is explained by its short id; an unknown one is refused', async () => {
    const id = shortId(runs.get('Raise the pear price') ?? '')
    assert.match((await call('explain_run', { run: id })).content, /Started by a person\.\n(?:.*\n)*.*raised the price/)
    assert.match((await call('explain_run', { run: 'ffff0000' })).content, /no run ffff0000; past_work lists/)
  })

  await t.test('a file that no run wrote has no history; in Chinese, too', async () => {
    assert.match((await call('file_history', { path: 'none.md' })).content, /^No run wrote none\.md/)
    const chinese = await call('file_history', { path: '会议纪要.md', language: 'zh' })
    assert.match(chinese.content, /整理会议纪要/)
  })

  await t.test('I12: what outside text is quoted in makes the session untrusted, and is fenced as data', async () => {
    const today = await app.run('ask', { question: 'What did you do today?' })
    assert.deepEqual([today.answered_by, today.label.trust], ['model', 'untrusted'])
    const [, second] = requests
    const shown = second?.messages.find(({ role }) => role === 'tool')
    const text = shown?.role === 'tool' ? shown.text : ''
    assert.match(text, /^<data [0-9a-f]{12} [^>]*>\n/)
    assert.ok(text.includes('HEADLINE-FROM-OUTSIDE'))
    const yesterday = await app.run('ask', { question: 'What did you do yesterday?' })
    assert.equal(yesterday.label.trust, 'trusted')
  })
})
