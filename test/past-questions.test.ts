/** Questions about a home with two weeks of runs: the answers by rule name what happened, and nothing else. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommandOutput } from '../src/commands/lib/registry.ts'
import { shortId } from '../src/domain/short-id.ts'
import { BLIND_QUESTIONS, type BlindQuestion } from './support/blind-questions.ts'
import { openPastHome, PAST_TASKS, type PastHome, type PastTask } from './support/past-home.ts'

const WEEK: [string, string] = ['2026-11-09', '2026-11-15']
const LAST_WEEK: [string, string] = ['2026-11-02', '2026-11-08']
const on = (day: string): [string, string] => [`2026-${day}`, `2026-${day}`]

const OWN_QUESTIONS: readonly BlindQuestion[] = [
  { question: 'What did you do today?', kind: 'did', days: on('11-12') },
  { question: 'what happened yesterday', kind: 'did', days: on('11-11') },
  { question: 'And last week?', kind: 'did', days: LAST_WEEK },
  { question: 'Show me your work of this week', kind: 'did', days: WEEK },
  { question: 'What have you finished since Friday?', kind: 'did', days: ['2026-11-06', '2026-11-12'] },
  { question: 'Give me a summary of the last seven days', kind: 'did', days: ['2026-11-06', '2026-11-12'] },
  { question: 'What did you do on Monday, 9 November?', kind: 'did', days: on('11-09') },
  { question: 'what did you do on Sunday?', kind: 'did', days: on('11-08') },
  { question: 'Did anything happen over the weekend?', kind: 'did', days: ['2026-11-07', '2026-11-08'] },
  { question: 'What did keeper do this week?', kind: 'did', days: WEEK },
  { question: 'How much did you spend today?', kind: 'cost', days: on('11-12') },
  { question: 'What did yesterday cost?', kind: 'cost', days: on('11-11') },
  { question: 'What did the empty Tuesday cost me, 10 November?', kind: 'cost', days: on('11-10') },
  { question: 'how many dollars in November?', kind: 'cost', days: ['2026-11-01', '2026-11-30'] },
  { question: 'What waits for me?', kind: 'waits' },
  { question: 'Do you need my approval for anything?', kind: 'waits' },
  { question: 'Any questions for me?', kind: 'waits' },
  { question: 'Why did you raise the pear price?', kind: 'why' },
  { question: 'How come the exchange rates failed?', kind: 'why' },
  { question: 'Why did you write the weekly report?', kind: 'why' },
  { question: 'What changed in prices.csv?', kind: 'changed' },
  { question: 'What changed in reports/weekly.md today?', kind: 'changed', days: on('11-12') },
  { question: 'Which files did you write last week?', kind: 'changed', days: LAST_WEEK },
  { question: 'Did you edit prices.csv on Tuesday?', kind: 'changed', days: on('11-10') },
  { question: 'What changed in budget.xlsx?', kind: 'changed' },
  { question: 'What failed last week?', kind: 'failed', days: LAST_WEEK },
  { question: 'Did anything go wrong yesterday?', kind: 'failed', days: on('11-11') },
  { question: 'any errors today', kind: 'failed', days: on('11-12') },
  { question: 'What comes next?', kind: 'next' },
  { question: 'What will you do tomorrow?', kind: 'next' },
  { question: '今天做了什么？', kind: 'did', days: on('11-12') },
  { question: '昨天呢', kind: 'did', days: on('11-11') },
  { question: '上周做了哪些事情，做了什么', kind: 'did', days: LAST_WEEK },
  { question: '本周的工作总结', kind: 'did', days: WEEK },
  { question: '周五以来完成了什么', kind: 'did', days: ['2026-11-06', '2026-11-12'] },
  { question: '11月9日发生了什么', kind: 'did', days: on('11-09') },
  { question: '这周二干了啥', kind: 'did', days: on('11-10') },
  { question: '上周末有动静吗', kind: 'did', days: ['2026-11-07', '2026-11-08'] },
  { question: '最近七天的进展', kind: 'did', days: ['2026-11-06', '2026-11-12'] },
  { question: '十月份做了什么', kind: 'did', days: ['2026-10-01', '2026-10-31'] },
  { question: '今天花了多少钱', kind: 'cost', days: on('11-12') },
  { question: '昨天的费用是多少', kind: 'cost', days: on('11-11') },
  { question: '前天有开销吗', kind: 'cost', days: on('11-10') },
  { question: '11月份的成本', kind: 'cost', days: ['2026-11-01', '2026-11-30'] },
  { question: '上周三花费多少', kind: 'cost', days: on('11-04') },
  { question: '有什么在等我？', kind: 'waits' },
  { question: '有没有要我批准的', kind: 'waits' },
  { question: '哪些事卡住了', kind: 'waits' },
  { question: '为什么整理会议纪要', kind: 'why' },
  { question: '检查备份为什么没成', kind: 'why' },
  { question: 'prices.csv 改了什么', kind: 'changed' },
  { question: '谁改过会议纪要.md', kind: 'changed' },
  { question: '今天写了哪些文件', kind: 'changed', days: on('11-12') },
  { question: '前天改了哪些文件', kind: 'changed', days: on('11-10') },
  { question: '上周失败了什么', kind: 'failed', days: LAST_WEEK },
  { question: '昨天出错了吗', kind: 'failed', days: on('11-11') },
  { question: '今天有什么问题', kind: 'failed', days: on('11-12') },
  { question: '下一步做什么', kind: 'next' },
  { question: '明天有什么安排', kind: 'next' },
  { question: '周一到周三做了什么', kind: 'did', days: ['2026-11-09', '2026-11-11'] },
]

type Answer = CommandOutput<'ask'>

const isMorning = (question: string): boolean => /morning|早上/.test(question)

/** The tasks that the answer has to name; null: which ones is up to the answer. */
function expectedTasks({ question, kind, days }: BlindQuestion): readonly PastTask[] | null {
  const [from, to] = days ?? ['', '9999']
  const inDays = PAST_TASKS.filter(({ day, hour }) => day >= from && day <= to && (!isMorning(question) || hour < 12))
  const agent = /keeper/.test(question) ? /backup|备份|mailbox|rates|headlines/i : /./
  const file = /prices\.csv|reports\/weekly\.md|budget\.xlsx|会议纪要\.md/.exec(question)?.[0]
  if (kind === 'did') return /昨晚/.test(question) ? [] : inDays.filter(({ task }) => agent.test(task))
  if (kind === 'failed') return inDays.filter(({ failed }) => failed)
  if (kind !== 'changed') return null
  return inDays.filter(({ files }) => (file === undefined ? files.length > 0 : files.includes(file)))
}

/** Nothing that did not happen: every id, file and amount in the answer is one of the home's. */
function assertNothingInvented({ answer }: Answer, { runs }: PastHome): void {
  const ids = new Set([...runs.values()].map(shortId))
  for (const [id] of answer.matchAll(/\b[0-9a-f]{8}\b/g)) assert.ok(ids.has(id), `${id} is no run:\n${answer}`)
  const files = PAST_TASKS.flatMap((task) => task.files)
  for (const [file] of answer.matchAll(/[\w/]+\.(?:md|csv|xlsx)\b/g))
    assert.ok(file === 'budget.xlsx' || files.some((known) => known.endsWith(file)), `${file} is no file:\n${answer}`)
}

function assertAnswered(asked: BlindQuestion, answer: Answer, home: PastHome): void {
  const { question, kind, days } = asked
  assert.equal(answer.kind, kind, answer.answer)
  assert.equal(answer.answered_by, 'rules')
  assert.equal(/\p{Script=Han}/u.test(answer.answer.split('\n')[0] ?? ''), /\p{Script=Han}/u.test(question))
  assertNothingInvented(answer, home)
  const wanted = expectedTasks(asked)
  if (wanted !== null) {
    const named = PAST_TASKS.filter(({ task }) => answer.answer.includes(shortId(home.runs.get(task) ?? '')))
    assert.deepEqual(named, wanted, answer.answer)
    if (wanted.length === 0) assert.match(answer.answer, /nothing|no run|No run|没有/i)
  }
  if (kind === 'cost' && days) {
    const spent = PAST_TASKS.filter(({ day }) => day >= days[0] && day <= days[1]).reduce(
      (sum, { usd }) => sum + usd,
      0,
    )
    assert.match(answer.answer, spent === 0 ? /nothing was spent|没有花钱/ : new RegExp(`\\$${spent.toFixed(2)}`))
  }
}

test('questions about the past are answered from the records', async (t) => {
  const home = await openPastHome(t)
  const { app, runs } = home
  const ask = async (question: string): Promise<string> => (await app.run('ask', { question, rules: true })).answer

  await t.test('100 phrasings in both languages name the real runs, files and costs, and nothing else', async (t) => {
    assert.equal(BLIND_QUESTIONS.length + OWN_QUESTIONS.length, 100)
    for (const asked of [...BLIND_QUESTIONS, ...OWN_QUESTIONS])
      await t.test(asked.question, async () => {
        assertAnswered(asked, await app.run('ask', { question: asked.question, rules: true }), home)
      })
  })

  await t.test('an answer has the command to type, the reasons of a run, and the change of a file', async () => {
    const newsletter = shortId(runs.get('Send the newsletter') ?? '')
    const waits = await ask('What waits for me?')
    assert.match(waits, /Send the newsletter — needs your approval/)
    assert.match(waits, new RegExp(`type: tireless approvals allow ${newsletter}`))
    assert.match(waits, /All of this can also be answered on the page, in “Needs you”\./)
    assert.match(waits, /Choose a logo — waits for your answer.*\n {2}“Which logo\?”\n.*send --session/)
    assert.match(waits, /Fetch the exchange rates — failed.*\n.*\n.*queue retry/)
    assert.doesNotMatch(waits, /Check the backups/, 'older than a week')
    assert.match(await ask('Why did you raise the pear price?'), /“The supplier raised the price\.”/)
    assert.match(await ask('Why was the newsletter not sent?'), /Approval .*open \(it sends data to a third party\)/)
    assert.match(await ask('What changed in prices.csv yesterday?'), /^ {2}-pear,2\n {2}\+pear,3$/m)
  })

  await t.test('an empty day says so; an unclear period or question says what can be asked', async () => {
    assert.equal(
      await ask('What did you do on Tuesday?'),
      'Tuesday 10 November 2026: nothing happened. There were no runs and no cycles.',
    )
    assert.match(await ask('前天做了什么'), /^前天（2026年11月10日星期二）：什么也没有发生/)
    assert.match(await ask('What did you do in the last few days?'), /no exact period.*the last three days/)
    assert.match(await ask('What did you do next week?'), /lies in the future/)
    assert.match(await ask('Sing a song'), /did not understand.*You can ask/)
    assert.match(await ask('唱首歌'), /没有看懂/)
  })

  await t.test('I12: what a run read from outside keeps its label in an answer', async () => {
    const today = await app.run('ask', { question: 'What did you do today?', rules: true })
    assert.equal(today.label.trust, 'untrusted')
    assert.match(today.answer, /HEADLINE-FROM-OUTSIDE” \(may quote text from outside\)/)
    assert.equal((await app.run('ask', { question: 'What did you do yesterday?', rules: true })).label.trust, 'trusted')
  })
})
