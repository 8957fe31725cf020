/** Settings that are not supported yet are refused, not ignored. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const KERNEL = 'kernel: { agents: [{ agent_id: a, prompt: look }] }\n'
const UNSUPPORTED: readonly (readonly [string, RegExp])[] = [
  ['channels:\n  slack: { app_id: hunter2 }\n', /tireless\.yaml:3: channels\.slack is not supported yet.*webhook/],
  ['channels: { telegram: { token: hunter2 } }\n', /tireless\.yaml:2: channels\.telegram is not supported yet/],
]

test('a home with an unsupported setting is not opened; file, line and remedy are named', async (t) => {
  for (const [yaml, message] of UNSUPPORTED)
    await assert.rejects(openApp(t, { yaml: KERNEL + yaml }), (error: Error & { code: string }) => {
      assert.equal(error.code, 'config_invalid')
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /hunter2/)
      return true
    })
  const supported = 'residents: []\nsources: {}\nplugins: []\nstore: sqlite\nmodels: { planner: offline/rules }\n'
  const app = await openApp(t, { yaml: KERNEL + supported })
  await app.close()
})

test('start, once and run refuse it on the command line; config check names it', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), `${KERNEL}channels: { slack: { app_id: x } }\n`)
  for (const args of [['start', '--until-idle'], ['once'], ['run', 'a task']]) {
    const { exit, stderr } = await tireless(home, ...args)
    assert.equal(exit, 1, args.join(' '))
    assert.match(stderr, /config_invalid: .*tireless\.yaml:2: channels\.slack is not supported yet/, args.join(' '))
  }
  const { exit, stdout } = await tireless(home, 'config', 'check')
  assert.equal(exit, 0)
  assert.match(stdout, /not supported yet: channels\.slack/)
})

test('a changed file with such a setting is refused, and the last valid one stays in use', async (t) => {
  const app = await openApp(t, { yaml: KERNEL })
  const config = app.service('config')
  writeFileSync(config.file, `${KERNEL}channels: { slack: { app_id: x } }\n`)
  assert.equal(config.refresh(), 'refused')
  assert.deepEqual(config.loaded.config.channels, {})
  const { degraded } = await app.run('status', {})
  assert.ok(degraded.some((text) => /the last valid one stays in use: .*channels\.slack is not supported/.test(text)))
})

test('start refuses an unknown channel for notices, and names the known ones', async (t) => {
  const app = await openApp(t, { yaml: 'kernel: { channel: slack, agents: [{ agent_id: a, prompt: look }] }\n' })
  await assert.rejects(app.run('start', { until_idle: true }), /kernel\.channel .*slack.*console/)
})
