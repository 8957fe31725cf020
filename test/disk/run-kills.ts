/** Kills commands with -9 at changes of files, and judges what they leave. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { NODE_FLAGS } from '../crash/kills.ts'
import { freshFolder } from '../support/open-app.ts'
import { prepareHome } from './commands.ts'
import { compareFiles, readFilesOf } from './home-files.ts'

const MAIN = join(import.meta.dirname, 'kill-main.ts')

/** `nth`: every nth change of each command is a kill. */
export async function checkKills(t: TestContext, titles: readonly string[], nth: number): Promise<void> {
  const folder = freshFolder(t, 'killed-writes')
  const [prepared, home] = [join(folder, 'prepared'), join(folder, 'home')]
  await prepareHome(prepared)
  const before = readFilesOf(prepared)
  const runAt = (title: string, at: number) =>
    spawnSync(process.execPath, [...NODE_FLAGS, MAIN, home, title, String(at)], { encoding: 'utf8' })
  let kills = 0
  for (const title of titles) {
    const reset = (): void => {
      rmSync(home, { recursive: true, force: true })
      cpSync(prepared, home, { recursive: true })
    }
    reset()
    const { stdout, stderr } = runAt(title, 0)
    const changes = Number(stdout)
    assert.ok(changes > 0, `${title}: ${stderr}`)
    const expected = readFilesOf(home)
    for (let at = 1; at <= changes; at += nth) {
      reset()
      assert.equal(runAt(title, at).signal, 'SIGKILL', `${title} at ${at} of ${changes}`)
      kills += 1
      const { files, differs } = compareFiles(before, readFilesOf(home), expected)
      assert.notEqual(files, 'wrong', `${title} at ${at} of ${changes}: ${differs}`)
      const again = runAt(title, 0)
      // What is there already may be refused, such as a channel of this name; the home works.
      assert.equal(again.signal, null)
      assert.doesNotMatch(again.stderr, /internal|SyntaxError|not a secrets file/, `${title} at ${at}: ${again.stderr}`)
      if (again.status === 0) assert.deepEqual(globSync(['.*.draft', 'agents/*/.*.draft'], { cwd: home }), [])
    }
  }
  t.diagnostic(`${kills} kills at changes of files, 0 wrong`)
}
