/** Agents from sentences without a model: what the offline model can do is done, else it is said before. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { AGENTS_TEXTS } from '../web/src/texts/agents.ts'
import { freshFolder, openApp } from './support/open-app.ts'

describe('an agent from a sentence, without a model', () => {
  const SENTENCES = [
    'Every day at 8:15, create hello.md with the text "good morning"',
    'Create hello.md with the text "good morning" every day at 8:15.',
    '每天早上8点15分，创建文件 hello.md，内容为“good morning”',
  ]
  for (const sentence of SENTENCES)
    test(`does its sentence: ${sentence}`, async (t) => {
      const home = freshFolder(t)
      const app = await openApp(t, { home, model: offlineModel })
      const preview = await app.run('agent new', { sentence, dry_run: true })
      assert.equal(preview.beyond_model, false)
      const { agent_id, workspace, prompt } = await app.run('agent new', preview.create)
      assert.doesNotMatch(prompt, /[Ee]very|每天/, 'the schedule keeps the words that say when')
      const run = await app.run('agent run', { id: agent_id })
      assert.equal(run.status, 'done', run.answer ?? '')
      assert.equal(readFileSync(join(home, workspace, 'hello.md'), 'utf8').trim(), 'good morning')
    })

  test('the examples of the page are understood, and the first one needs no model', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    for (const { maker } of [AGENTS_TEXTS.en, AGENTS_TEXTS.zh])
      for (const [at, sentence] of maker.examples.entries()) {
        const { schedule, beyond_model } = await app.run('agent new', { sentence, dry_run: true })
        assert.notEqual(schedule, null, sentence)
        if (at === 0) assert.equal(beyond_model, false, sentence)
      }
  })

  test('what the offline model cannot do is said before the agent is created, and not of other models', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    const notes: string[] = []
    const preview = await app.run('agent new', { sentence: '每天早上八点整理我的思路', dry_run: true }, (progress) => {
      if (progress.kind === 'note') notes.push(progress.text)
    })
    assert.equal(preview.beyond_model, true)
    assert.match(notes.join(), /The offline model cannot do this: .*Set a model/)
    const other = await openApp(t, { model: scriptedModel(() => ({ text: 'done' })) })
    const understood = await other.run('agent new', { sentence: 'tidy my thoughts every day at 8:00', dry_run: true })
    assert.equal(understood.beyond_model, false)
  })
})
