/** The folders that a sentence names: one that exists, one that does not, and the inbox of the home. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import { asTirelessError, type TirelessError } from '../src/domain/error.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const EXCEPT = ['INDEX.md', 'reports']

async function refusalOf(work: Promise<unknown>): Promise<TirelessError> {
  const thrown = await work.then(() => assert.fail('it was not refused'), asTirelessError)
  return thrown
}

describe('the folders that a sentence names', () => {
  test('a folder that does not exist is refused as that, in the language of the sentence', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    const say = (sentence: string) => refusalOf(app.run('agent new', { sentence, dry_run: true, here: '/nowhere' }))
    const english = await say('Every 2 hours, check the folder ./invoices and index what is new')
    assert.equal(english.code, 'not_found')
    assert.deepEqual(english.parts, {
      what: 'there is no folder or file ./invoices (/nowhere/invoices), so there would be nothing to watch',
      fix: 'create it first, or name another one',
    })
    const chinese = await say('每两小时检查一次文件夹 /nowhere/invoices，把新文件编入索引')
    assert.equal(
      chinese.message,
      '没有 /nowhere/invoices 这个文件夹或文件，所以没有可以关注的内容; do this: 先创建它，或换一个路径',
    )
  })

  for (const sentence of ['Every weekday at 7:30, summarise my inbox folder into one page', '每天早上八点总结收件箱'])
    test(`E1: the inbox is the folder of the home: ${sentence}`, async (t) => {
      const home = freshFolder(t)
      mkdirSync(join(home, 'inbox'))
      writeFileSync(join(home, 'inbox', 'letter.md'), 'Dear owner')
      const app = await openApp(t, { home, model: offlineModel })
      const { agent_id, watch, watch_missing, workspace } = await app.run('agent new', { sentence })
      assert.deepEqual([watch, watch_missing, workspace], [[{ path: 'inbox', except: EXCEPT }], false, 'inbox'])
      const run = await app.run('agent run', { id: agent_id })
      assert.equal(run.status, 'done', run.error ?? '')
      assert.match(readFileSync(join(home, 'inbox', 'reports', `${agent_id}.md`), 'utf8'), /letter\.md/)
    })

  test('E1: without an inbox, or for one of mail, nothing is watched, and that is said', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    const plain = await app.run('agent new', { sentence: 'summarise my inbox every day at 8:00', dry_run: true })
    assert.deepEqual([plain.watch, plain.watch_missing], [[], true])
    const mail = await app.run('agent new', { sentence: 'summarise my mail inbox every day at 8:00', dry_run: true })
    assert.deepEqual([mail.watch, mail.watch_missing], [[], false])
  })
})
