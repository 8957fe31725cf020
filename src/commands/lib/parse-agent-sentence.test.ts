import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSchedule } from '../../kernel/schedule/schedule.ts'
import { findSchedule, parseScheduleOption, parseSentence, writePromptForSentence } from './parse-agent-sentence.ts'

describe('E1: an agent from a sentence', () => {
  for (const [words, schedule] of [
    ['watch my repo and report every morning', '0 9 * * *'],
    ['write the daily report', '0 9 * * *'],
    ['every evening, tidy up', '0 18 * * *'],
    ['each night', '0 21 * * *'],
    ['every day at 7:30', '30 7 * * *'],
    ['every evening at 8', '0 20 * * *'],
    ['every day at 6 pm', '0 18 * * *'],
    ['every day at 12 am', '0 0 * * *'],
    ['every hour', '0 * * * *'],
    ['hourly', '0 * * * *'],
    ['every 15 minutes', { every: '15m' }],
    ['every 2 hours', { every: '2h' }],
    ['every weekday', '0 9 * * 1-5'],
    ['on Mondays at 10:15', '15 10 * * 1'],
    ['every week', '0 9 * * 1'],
    ['once a month', '0 9 1 * *'],
    ['每天早上汇报仓库的新提交', '0 9 * * *'],
    ['每天早上8点', '0 8 * * *'],
    ['每天晚上8点30', '30 20 * * *'],
    ['每小时检查一次', '0 * * * *'],
    ['每隔10分钟', { every: '10m' }],
    ['每周五下午写周报', '0 15 * * 5'],
    ['每个工作日', '0 9 * * 1-5'],
    ['每月', '0 9 1 * *'],
    ['this weekend', null],
    ['tell me about everything in the folder', null],
    ['look at the morning light', null],
  ] as const)
    test(`E1: schedule in: ${words}`, () => {
      const found = findSchedule(words)
      assert.deepEqual(found, schedule)
      if (typeof found === 'string') assert.ok(parseSchedule(found, 'UTC').next(0))
    })

  test('E1: a schedule option is words, a duration, an instant, a cron line or none', () => {
    assert.equal(parseScheduleOption('every morning'), '0 9 * * *')
    assert.deepEqual(parseScheduleOption('every 30m'), { every: '30m' })
    assert.deepEqual(parseScheduleOption('90s'), { every: '90s' })
    assert.deepEqual(parseScheduleOption('2030-01-31T09:00:00Z'), { at: '2030-01-31T09:00:00Z' })
    assert.equal(parseScheduleOption('*/5 * * * *'), '*/5 * * * *')
    assert.equal(parseScheduleOption('@daily'), '@daily')
    assert.equal(parseScheduleOption('none'), null)
  })

  test('E1: finds path, repository, current folder and id', () => {
    const pick = (words: string) => {
      const { path, repository, thisFolder, id } = parseSentence(words)
      return [path, repository, thisFolder, id]
    }
    assert.deepEqual(pick('watch my repo and report every morning'), [null, true, false, 'watch-repo-report'])
    assert.deepEqual(pick('Tend ~/Downloads/new, please'), ['~/Downloads/new', false, false, 'tend'])
    assert.deepEqual(pick('summarise the commits in "/srv/a b".'), ['/srv/a', true, false, 'summarise-commits'])
    assert.deepEqual(pick('watch this folder'), [null, false, true, 'watch-folder'])
    assert.deepEqual(pick('每天早上汇报仓库 /srv/git 的新提交'), ['/srv/git', true, false, 'agent'])
    assert.equal(parseSentence('x'.repeat(500)).id.length <= 40, true)
    assert.equal(parseSentence('either/or').path, null)
  })

  test('E1: the prompt is the sentence with placeholders, in its language', () => {
    assert.match(
      writePromptForSentence('watch it', true),
      /^watch it\n\nThis is your.*\{WATCHED\}.*\{STATE\}.*\{GOAL\}.*Write a report\.\n$/s,
    )
    assert.doesNotMatch(writePromptForSentence('do it', false), /WATCHED/)
    assert.match(writePromptForSentence('看着它', false), /生成一份简报。\n$/)
  })
})
