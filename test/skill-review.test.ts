/** Skills as their owner reviews them: files, what changed since the approval, and the approval taken back. */

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const SKILL = '---\nname: reports\ndescription: Weekly reports.\n---\nThree lines.\n'

function homeWithSkill(t: TestContext): { readonly home: string; readonly folder: string } {
  const home = freshFolder(t)
  const folder = join(home, 'skills/reports')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SKILL.md'), SKILL)
  return { home, folder }
}

describe('O17: the review of a skill', () => {
  test('shows its files, and after a change what differs from the approved text', async (t) => {
    const { home, folder } = homeWithSkill(t)
    const app = await openApp(t, { home })
    const unapproved = await app.run('skills show', { name: 'reports' })
    assert.deepEqual(unapproved.files, [{ path: 'SKILL.md', bytes: SKILL.length, executable: false, text: SKILL }])
    assert.equal(unapproved.changes, null)
    await app.run('skills approve', { name: 'reports' })
    assert.deepEqual((await app.run('skills show', { name: 'reports' })).changes, [])
    writeFileSync(join(folder, 'SKILL.md'), SKILL.replace('Three', 'Four'))
    writeFileSync(join(folder, 'more.md'), 'see https://elsewhere.invalid\n')
    const { skill, changes, findings } = await app.run('skills show', { name: 'reports' })
    assert.equal(skill.status, 'changed')
    assert.deepEqual(
      changes?.map(({ path }) => path),
      ['SKILL.md', 'more.md'],
    )
    assert.match(changes?.[0]?.diff ?? '', /\n-Three lines\.\n\+Four lines\.\n$/)
    assert.deepEqual(
      findings.map(({ file, kind }) => [file, kind]),
      [['more.md', 'address']],
    )
    await app.close()
    assert.match((await tireless(home, 'skills', 'show', 'reports')).stdout, /reports: changed[\s\S]*\+Four lines\./)
  })

  test('an approval is taken back; a change of the mode alone changes no text', async (t) => {
    const { home, folder } = homeWithSkill(t)
    const app = await openApp(t, { home })
    assert.deepEqual(await app.run('skills revoke', { name: 'reports' }), { name: 'reports', revoked: false })
    await app.run('skills approve', { name: 'reports' })
    chmodSync(join(folder, 'SKILL.md'), 0o755)
    const { skill, changes, files } = await app.run('skills show', { name: 'reports' })
    assert.deepEqual([skill.status, changes, files[0]?.executable], ['changed', [], true])
    assert.deepEqual(await app.run('skills revoke', { name: 'reports' }), { name: 'reports', revoked: true })
    const { items } = await app.run('skills list', {})
    assert.deepEqual(
      items.map(({ status, approved_at }) => [status, approved_at]),
      [['unapproved', null]],
    )
    assert.equal((await app.run('skills show', { name: 'reports' })).changes, null)
    assert.match(JSON.stringify(await app.context.store.audit(0, { limit: 10 })), /skill revoked/)
  })
})
