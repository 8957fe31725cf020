/** Commands and agents write on a nearly full disk, or are killed. full-disk-sweep.test.ts tries all cases. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { tireless } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { checkCases } from './run-cases.ts'
import { checkKills } from './run-kills.ts'
import { OWN_MOUNTS, whyNoDisk } from './small-disk.ts'

const skip = whyNoDisk('tmpfs')

test(
  'E11, case 101: on a nearly full disk each file is wholly old or wholly new, and the command says which',
  {
    skip,
  },
  (t) => checkCases(t, 'tmpfs', 'sample'),
)

test('E11: an init that finds the disk full leaves whole files, and the next one completes the home', {
  skip,
}, async (t) => {
  const [small, roomy] = [freshFolder(t, 'small'), freshFolder(t, 'roomy')]
  const init = [process.execPath, ...NODE_FLAGS, MAIN, 'init', '--yes', '--home', small].join(' ')
  const script = `mount -t tmpfs -o size=40k tmpfs ${small}; ${init}; echo exit $?
    mount -o remount,size=8m ${small}; ${init}; cd ${small}; find . -type f | xargs sha256sum | sort`
  const [program = '', ...words] = OWN_MOUNTS
  const { stdout, stderr } = spawnSync(program, [...words, 'sh', '-c', script], { encoding: 'utf8' })
  assert.match(stdout, /^exit 1$/m)
  assert.match(stderr, /not_written: .*agents.*no space is left on the disk \(ENOSPC\); do this: free some space/)
  assert.equal((await tireless(roomy, 'init', '--yes')).exit, 0)
  const sums = spawnSync('sh', ['-c', 'find . -type f | xargs sha256sum | sort'], {
    cwd: roomy,
    encoding: 'utf8',
  }).stdout
  assert.ok(readdirSync(roomy).includes('agents') && stdout.endsWith(sums), `${stdout}\n${sums}`)
})

test('E11: a kill in the middle of a write leaves each file wholly old or wholly new, and the home works', (t) =>
  checkKills(t, ['secrets set'], 4))
