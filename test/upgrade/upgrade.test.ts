/** `upgrade`: another version is installed beside the old one, tried on a copy of the home, selected, and undone. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { tireless } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { createInstallation, IS_SWEEP, startKernel, tarballs } from './installation.ts'

describe('upgrade', () => {
  test('a tarball is installed by npm, migrates the home, and --undo goes back with the backup', async (t) => {
    const { program, home, json, schema, packageFolder } = createInstallation(t, { npm: 'real' })
    const before = schema()
    const checked = await program('upgrade', '--check', '--from', tarballs().migrating)
    assert.match(checked.stdout, /installed +0\.1\.0 in .*\navailable +0\.2\.0\nTo upgrade/)
    assert.equal(existsSync(join(packageFolder, 'versions')), false)
    const done = await json('upgrade', '--from', tarballs().migrating)
    assert.deepEqual(
      { action: done.action, from: done.from, to: done.to },
      { action: 'upgrade', from: '0.1.0', to: '0.2.0' },
    )
    assert.equal(schema(), before + 1)
    assert.equal((await json('queue', 'list')).items.length, 1)
    writeFileSync(join(home, 'later.txt'), 'made by the new version')
    const undone = await json('upgrade', '--undo')
    assert.deepEqual(
      { from: undone.from, to: undone.to, restored: undone.restored },
      { from: '0.2.0', to: '0.1.0', restored: done.backup },
    )
    assert.equal(schema(), before)
    assert.equal((await json('queue', 'list')).items.length, 1)
    const aside = readdirSync(home).find((name) => name.startsWith('before-restore-')) ?? ''
    assert.equal(readFileSync(join(home, aside, 'later.txt'), 'utf8'), 'made by the new version')
    assert.deepEqual(readdirSync(join(packageFolder, 'versions')), ['0.2.0', 'current.json'])
  })

  test('a checkout refuses it and says what to do instead', async (t) => {
    for (const option of ['--check', '--undo']) {
      const { exit, stderr } = await tireless(freshFolder(t), 'upgrade', option)
      assert.equal(exit, 2)
      assert.match(stderr, /this is a checkout.*git pull/)
    }
  })

  test('--undo with --from is refused', async (t) => {
    const { exit, stderr } = await tireless(freshFolder(t), 'upgrade', '--from', '0.2.0', '--undo')
    assert.equal(exit, 2)
    assert.match(stderr, /--undo cannot be combined/)
  })
})

describe('upgrade, at length (npm run upgrades)', { skip: IS_SWEEP ? false : 'takes long: npm run upgrades' }, () => {
  test('a version with the same schema is undone without touching the home', async (t) => {
    const { json, home } = createInstallation(t)
    await json('upgrade', '--from', tarballs().same)
    writeFileSync(join(home, 'later.txt'), 'x')
    assert.equal((await json('upgrade', '--undo')).restored, null)
    assert.ok(existsSync(join(home, 'later.txt')))
    assert.match((await json('upgrade', '--undo')).error.message, /there is no upgrade to go back from/)
    assert.equal((await json('upgrade', '--check', '--from', tarballs().same)).installed, '0.1.0')
  })

  test('beside a running kernel it backs up through it, and says how to restart it', async (t) => {
    const installation = createInstallation(t)
    const kernel = await startKernel(t, installation)
    const { notes } = await installation.json('upgrade', '--from', tarballs().migrating)
    assert.ok(
      notes.includes(`Process ${kernel.pid} still runs 0.1.0. To restart it: tireless stop, then start it as before.`),
    )
    assert.equal((await installation.json('status')).kernel.state, 'running')
    assert.equal((await installation.program('stop')).exit, 0)
    assert.equal((await installation.json('status')).kernel.state, 'stopped')
  })

  test('a service is stopped for the switch and started again', async (t) => {
    const { json, systemctlCalls, setService } = createInstallation(t)
    setService('active')
    const { notes } = await json('upgrade', '--from', tarballs().migrating)
    assert.ok(notes.includes('The service was restarted.'), notes.join('\n'))
    assert.deepEqual(systemctlCalls(), ['stop', 'start'])
  })
})
