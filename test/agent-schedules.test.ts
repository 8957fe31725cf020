/** When a new agent runs: what its sentence says is told back, and nothing is guessed. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const MONDAY = Date.parse('2026-11-16T06:30:00Z')
const yaml = 'kernel: { timezone: Asia/Shanghai }\n'
const clock = (): FakeClock => new FakeClock({ now: MONDAY })

/** A model with a price, which answers every request with this text. */
const paidModel = (answer: string) => ({
  ...scriptedModel(() => ({ text: answer })),
  price: { input: 3, output: 15, max_output: 1000 },
})

describe('E1: a new agent says when it runs', () => {
  test('E1: the schedule of a sentence is told back with the next three times, in its language', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml })
    const english = await app.run('agent new', { sentence: 'report on my mail every weekday at half past seven' })
    assert.equal(english.schedule, '30 7 * * 1-5')
    assert.equal(
      english.understood,
      'Runs Monday to Friday at 07:30. ' +
        'Next: 2026-11-17 07:30, 2026-11-18 07:30, 2026-11-19 07:30. About 5 runs a week.',
    )
    const days = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-22']
    assert.deepEqual(
      english.next,
      days.map((day) => `${day}T23:30:00.000Z`),
    )
    const chinese = await app.run('agent new', { sentence: '每天晚上八点总结我的邮件' })
    assert.equal(chinese.agent_id, '总结邮件')
    assert.equal(chinese.schedule, '0 20 * * *')
    assert.match(chinese.understood ?? '', /^运行时间：每天 20:00。接下来：2026-11-16 20:00、2026-11-17 20:00、/)
  })

  test('E1: two times with different minutes are one schedule; an interval stays readable in the file', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml })
    const twice = await app.run('agent new', { sentence: 'check the build every day at 09:00 and 17:30', id: 'twice' })
    assert.equal(twice.schedule, '0 9 * * *; 30 17 * * *')
    assert.deepEqual(twice.next?.slice(0, 2), ['2026-11-16T09:30:00.000Z', '2026-11-17T01:00:00.000Z'])
    assert.equal(twice.next_at, '2026-11-16T09:30:00.000Z')
    const often = await app.run('agent new', { sentence: '每两小时检查一次', id: 'often' })
    assert.deepEqual(parse(readFileSync(often.source, 'utf8')).schedule, { every: '2h' })
  })

  test('E1: words with two readings are refused, nothing is written, and --schedule settles it', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml })
    await assert.rejects(app.run('agent new', { sentence: 'wake me every day at 3', id: 'wake' }), {
      code: 'usage',
      message: /does not say clearly when.*03:00 or 15:00.*--schedule/,
    })
    await assert.rejects(app.run('agent new', { sentence: '每天三点叫我', id: 'wake' }), {
      code: 'usage',
      message: /没有说清什么时候运行; got 3 点可以是 03:00 或 15:00，请写其中一个; .*每个工作日九点/,
    })
    assert.equal((await app.run('agent list', {})).items.length, 0)
    const settled = await app.run('agent new', {
      sentence: 'wake me every day at 3',
      id: 'wake',
      schedule: '每天下午三点',
    })
    assert.equal(settled.schedule, '0 15 * * *')
  })

  test('I8: an agent without a time runs once, then only if something it sees has changed', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clock(), yaml })
    const created = await app.run('agent new', { sentence: 'summarise the inbox', id: 'quiet' })
    assert.equal(created.schedule, null)
    assert.match(created.understood ?? '', /only if something it sees changes/)
    const first = await app.run('once', {})
    const second = await app.run('once', {})
    assert.equal(first.dispatched, 1)
    assert.equal(second.dispatched, 0)
    writeFileSync(join(home, 'kernels/default/GOAL.md'), 'the owner has a new plan\n')
    assert.equal((await app.run('once', {})).dispatched, 1)
  })

  test('more often than hourly with a model that costs money needs a yes', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml, model: paidModel('ok') })
    const wanted = { sentence: 'look at the queue every 10 minutes', id: 'often' }
    await assert.rejects(app.run('agent new', wanted), {
      code: 'confirmation_needed',
      message: /more often than every hour.*About 144 runs a day, \$\d.*add --yes/,
    })
    assert.equal((await app.run('agent list', {})).items.length, 0)
    assert.deepEqual((await app.run('agent new', { ...wanted, yes: true })).schedule, { every: 600_000 })
    await assert.rejects(app.run('agent edit', { id: 'often', schedule: '5m' }), { code: 'confirmation_needed' })
  })

  test('E1: a model proposes what the rules do not understand; code checks it, and the owner agrees', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml, model: paidModel('Sure: {"cron": "0 9 * * 1"}') })
    const wanted = { sentence: 'tidy up regularly at the start of the week', id: 'tidy' }
    await assert.rejects(app.run('agent new', wanted), {
      code: 'confirmation_needed',
      message: /the model understands.*Runs every Monday at 09:00.*--yes/,
    })
    assert.equal((await app.run('agent new', { ...wanted, yes: true })).schedule, '0 9 * * 1')
    assert.equal((await app.run('budget show', {})).today.calls, 2)
  })

  for (const answer of ['{"cron": "99 * * * *"}', '{"at": "2020-01-01T09:00"}', 'no idea', '{"every": "0s"}'])
    test(`E1: a proposal that is no schedule is refused like the sentence: ${answer}`, async (t) => {
      const app = await openApp(t, { clock: clock(), yaml, model: paidModel(answer) })
      await assert.rejects(app.run('agent new', { sentence: 'tidy up regularly', yes: true }), { code: 'usage' })
    })

  test('a watched path that does not exist is refused, and nothing is written', async (t) => {
    const app = await openApp(t, { clock: clock(), yaml })
    const missing = `${freshFolder(t)}/nowhere`
    await assert.rejects(app.run('agent new', { sentence: `watch ${missing} every hour` }), {
      code: 'not_found',
      message: /there is no folder or file \S+nowhere, so there would be nothing to watch/,
    })
    assert.equal((await app.run('agent list', {})).items.length, 0)
  })
})
