/** Commands that write a file where they are told to do not replace what is there, unless they are told to. */

import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startTireless, tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

const MY_NOTES = 'my notes\n'

describe('I7: files that commands write', () => {
  for (const place of ['in its own process', 'through the socket of a kernel'])
    test(`I7: report --out and trace export --html replace nothing unasked, ${place}`, async (t) => {
      const [home, mine] = [freshFolder(t), freshFolder(t, 'mine')]
      const { dispatch_id } = await tirelessJson<{ dispatch_id: string }>(home, 'run', 'say hello')
      if (place.includes('socket')) {
        const kernel = startTireless(t, home, 'start')
        await waitUntil(() => kernel.output().includes('http') || kernel.errors().includes('http'))
      }
      const write = { report: ['report', 'today', '--out'], trace: ['trace', 'export', dispatch_id, '--html'] }
      for (const [name, words] of Object.entries(write)) {
        const [file, link, dangling] = [`${name}.md`, `${name}-link.md`, `${name}-none.md`].map((part) =>
          join(mine, part),
        )
        writeFileSync(file ?? '', MY_NOTES, { mode: 0o640 })
        symlinkSync(file ?? '', link ?? '')
        symlinkSync(join(mine, 'nowhere', name), dangling ?? '')
        for (const path of [file ?? '', link ?? '']) {
          const refused = await tireless(home, ...words, path)
          assert.equal(refused.exit, 2, refused.stderr)
          assert.match(refused.stderr, /confirmation_needed: the file exists already.*--yes to replace it/s)
          assert.ok(refused.stderr.includes(`got ${path}`), 'it names the file')
        }
        assert.equal(readFileSync(file ?? '', 'utf8'), MY_NOTES)
        assert.match((await tireless(home, ...words, dangling ?? '')).stderr, /there is a link at this path/)
        assert.match((await tireless(home, ...words, mine, '--yes')).stderr, /path_refused: is a folder/)
        // With a yes, the file behind a link is replaced, and the link stays.
        const replaced = await tireless(home, ...words, link ?? '', '--yes')
        assert.equal(replaced.exit, 0, replaced.stderr)
        assert.ok(lstatSync(link ?? '').isSymbolicLink())
        assert.notEqual(readFileSync(file ?? '', 'utf8'), MY_NOTES)
        const fresh = join(mine, `${name}-new.md`)
        assert.equal((await tireless(home, ...words, fresh)).exit, 0)
        assert.equal(lstatSync(fresh).mode & 0o777, 0o600)
        assert.equal((await tireless(home, ...words, fresh)).exit, 2, 'nor a file that it wrote itself')
      }
      assert.deepEqual(
        readdirSync(mine).filter((name) => name.includes('draft')),
        [],
      )
      assert.equal(existsSync(join(mine, 'nowhere')), false)
    })

  test('I7: the same for the records of a home that cannot be opened', async (t) => {
    const home = freshFolder(t)
    const { dispatch_id } = await tirelessJson<{ dispatch_id: string }>(home, 'run', 'say hello')
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: [\n')
    const file = join(home, 'page.html')
    writeFileSync(file, MY_NOTES)
    mkdirSync(join(home, 'folder'))
    const refused = await tireless(home, 'trace', 'export', dispatch_id, '--html', file)
    assert.match(refused.stderr, /confirmation_needed: the file exists already/)
    assert.equal(readFileSync(file, 'utf8'), MY_NOTES)
    assert.equal((await tireless(home, 'trace', 'export', dispatch_id, '--html', file, '--yes')).exit, 0)
  })
})
