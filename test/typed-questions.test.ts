/** Questions as people type them, about a prepared home: right answers from the records, and nothing else. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortId } from '../src/domain/short-id.ts'
import { openPastHome, PAST_TASKS } from './support/past-home.ts'
import { addPlans } from './support/past-plans.ts'
import { TYPED_QUESTIONS } from './support/typed-questions.ts'

test('questions as people type them are answered from runs, spending, todos and agents', async (t) => {
  const home = await openPastHome(t)
  await addPlans(home)
  const ids = new Set([...home.runs.values()].map(shortId))
  for (const { question, kind, says } of TYPED_QUESTIONS)
    await t.test(question, async () => {
      const { answer, ...rest } = await home.app.run('ask', { question, rules: true })
      assert.equal(rest.kind, kind, answer)
      for (const said of says) assert.match(answer, said)
      for (const [id] of answer.matchAll(/\b[0-9a-f]{8}\b/g)) assert.ok(ids.has(id), `${id} is no run:\n${answer}`)
      const paths = PAST_TASKS.flatMap(({ files }) => files)
      for (const [path] of answer.matchAll(/[\w/]+\.(?:md|csv|txt)\b/g))
        assert.ok(paths.some((known) => known.endsWith(path)) || question.includes(path), `${path}:\n${answer}`)
    })
})

test('a home without todos says so', async (t) => {
  const { app } = await openPastHome(t)
  const ask = async (question: string): Promise<string> => (await app.run('ask', { question, rules: true })).answer
  assert.match(await ask('what is left to do?'), /^There are no todos\.\nBesides, 3 matters wait for you/)
  assert.equal(await ask('what has been proved?'), 'There are no todos.')
  assert.equal(await ask('哪些待办失败了'), '没有待办。')
})
