import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSentence, writePromptForSentence } from './parse-agent-sentence.ts'

describe('E1: an agent from a sentence', () => {
  test('E1: finds path, repository, current folder and id', () => {
    const pick = (words: string) => {
      const { path, repository, thisFolder, id } = parseSentence(words)
      return [path, repository, thisFolder, id]
    }
    assert.deepEqual(pick('watch my repo and report every morning'), [null, true, false, 'watch-repo-report'])
    assert.deepEqual(pick('Tend ~/Downloads/new, please'), ['~/Downloads/new', false, false, 'tend'])
    assert.deepEqual(pick('summarise the commits in "/srv/a b".'), ['/srv/a', true, false, 'summarise-commits'])
    assert.deepEqual(pick('watch this folder'), [null, false, true, 'watch-folder'])
    assert.deepEqual(pick('每天早上汇报仓库 /srv/git 的新提交'), ['/srv/git', true, false, '汇报仓库新提交'])
    assert.deepEqual(pick('关注 ~/notes、每天早上写报告'), ['~/notes', false, false, '关注写报告'])
    assert.deepEqual(pick('每天早上8点整理 ~/notes 文件夹'), ['~/notes', false, false, '整理文件夹'])
    assert.equal(parseSentence('每天零点整整理照片').id, '整理照片')
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
