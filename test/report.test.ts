/** `report`: a day of work on one page, for people: what was done and why, evidence, cost, what waits, how to undo. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openTalkApp, pairTalk, receivedTexts, routing, say, type TalkApp, work } from './support/conversations.ts'
import { openPastHome, PAST_NOW, PAST_TASKS } from './support/past-home.ts'
import { addPlans } from './support/past-plans.ts'

const cents = (usd: number): number => Math.round(usd * 100)

describe('the report of a day', () => {
  test('E12: it names the runs, files and cost of each day as they were, and no others', async (t) => {
    const { app } = await openPastHome(t)
    for (const day of ['2026-11-03', '2026-11-04', '2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12']) {
      const { runs, cost, text, zh } = await app.run('report', { day })
      const told = PAST_TASKS.filter((task) => task.day === day)
      assert.deepEqual(
        runs.map(({ title, status }) => ({ title, failed: status === 'failed' })),
        told.map(({ task, failed }) => ({ title: task, failed })),
        day,
      )
      assert.deepEqual(runs.flatMap(({ files }) => files).toSorted(), told.flatMap(({ files }) => files).toSorted())
      assert.equal(cents(cost.usd), cents(told.reduce((sum, { usd }) => sum + usd, 0)), day)
      for (const { task } of PAST_TASKS) {
        assert.equal(text.includes(task), told.some((one) => one.task === task) || waits(text, task), `${day} ${task}`)
        assert.equal(zh.includes(task), text.includes(task))
      }
    }
  })

  test('E12: today it says what waits; a day that is long over does not', async (t) => {
    const { app } = await openPastHome(t)
    const today = await app.run('report', {})
    assert.deepEqual(today.waits?.map(({ kind, title }) => `${kind}: ${title}`).toSorted(), [
      'approval: Send the newsletter',
      'failed: Fetch the exchange rates',
      'question: Choose a logo',
    ])
    assert.match(today.text, /## Waits\n\nWaits for you:[\s\S]*approvals allow/)
    assert.equal((await app.run('report', { day: '2026-11-09' })).waits, null)
  })

  test('O12: the checks of todos are its evidence: proved, or only asserted', async (t) => {
    const home = await openPastHome(t)
    home.clock.setWall(Date.parse('2026-11-09T15:00:00+01:00'))
    await addPlans(home)
    home.clock.setWall(PAST_NOW)
    const { runs, text, zh } = await home.app.run('report', { day: '2026-11-09' })
    const evidence = runs.flatMap((run) => run.evidence)
    assert.deepEqual(
      evidence.map(({ code, proof, checks }) => ({ code, proof, checks })),
      [
        { code: 'T001', proof: 'proved', checks: [{ what: 'file prices.csv exists', ok: true, observed: 'exists' }] },
        { code: 'T002', proof: 'asserted', checks: [] },
      ],
    )
    assert.match(text, /Evidence: T001 List the fruit; proved \(.*\); ✓ file prices\.csv exists → exists\n/)
    assert.match(text, /Evidence: T002 Count the crates; asserted\n/)
    assert.match(zh, /证据：T001 List the fruit; 已证实（/)
  })

  test('E12: a day that was taken back says so, and offers no undo', async (t) => {
    const { app } = await openPastHome(t)
    const before = await app.run('report', { day: '2026-11-11' })
    assert.equal(before.can_be_undone, true)
    assert.match(before.text, /`tireless undo 2026-11-11`/)
    await app.run('undo', { target: '2026-11-11', yes: true })
    const after = await app.run('report', { day: 'yesterday' })
    assert.equal(after.can_be_undone, false)
    assert.match(after.text, /clerk: Raise the pear price\*\* \(done, \$0\.\d+, \w+, taken back\)/)
    assert.doesNotMatch(after.text, /tireless undo/)
  })

  test('E12: it is written to a file in the language that was asked for', async (t) => {
    const { app, home } = await openPastHome(t)
    const out = join(home, 'report.md')
    const { zh, file } = await app.run('report', { day: '昨天', out, language: 'zh' })
    assert.equal(file, out)
    assert.equal(readFileSync(out, 'utf8'), `${zh}\n`)
    assert.match(zh, /^# 工作日报：2026年11月11日星期三\n/)
  })

  test('E12: what names no single day that has begun is refused', async (t) => {
    const { app } = await openPastHome(t)
    for (const day of ['tomorrow', 'last week', '2026-13-40', 'soup', '2027-01-01'])
      await assert.rejects(app.run('report', { day }), { code: 'usage' }, day)
  })

  test('E12: the list of days counts runs and money of each', async (t) => {
    const { app } = await openPastHome(t)
    const { items } = await app.run('reports list', { days: 4 })
    assert.deepEqual(
      items.map(({ day, runs, failed, usd }) => ({ day, runs, failed, cents: cents(usd) })),
      ['2026-11-12', '2026-11-11', '2026-11-10', '2026-11-09'].map((day) => {
        const told = PAST_TASKS.filter((task) => task.day === day)
        const usd = told.reduce((sum, task) => sum + task.usd, 0)
        return { day, runs: told.length, failed: told.filter(({ failed }) => failed).length, cents: cents(usd) }
      }),
    )
  })
})

describe('the report as a message', () => {
  const openWorked = async (t: TestContext): Promise<TalkApp> => {
    const talk = await openTalkApp(t, { front: () => routing({ new: true }), work: () => ({ text: 'Painted.' }) })
    await pairTalk(talk)
    await say(talk, 'paint the shed')
    await work(talk)
    return talk
  }

  test('E12: it is sent to where notices go; without such a place the owner hears what to do', async (t) => {
    const talk = await openWorked(t)
    await talk.app.run('channels unpair', {})
    await assert.rejects(talk.app.run('report', { send: true }), { code: 'conflict' })
    await pairTalk(talk)
    const { sent_to, text } = await talk.app.run('report', { send: true })
    assert.equal(sent_to, 'chat')
    await work(talk)
    assert.equal(receivedTexts(talk).at(-1), text)
    assert.match(text, /paint the shed[\s\S]*“Painted\.”/)
  })

  test('E12: a paired chat gets it by /report', async (t) => {
    const talk = await openWorked(t)
    await say(talk, '/report')
    await work(talk)
    assert.match(receivedTexts(talk).at(-1) ?? '', /^# Shift report: [\s\S]*“Painted\.”/)
  })
})

/** A task may be named because it waits, which is not work of the day. */
const waits = (text: string, task: string): boolean => (text.split('## Waits')[1] ?? '').includes(task)
