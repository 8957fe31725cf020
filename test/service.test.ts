/** `service install|status|uninstall` through the command line, with a fake systemctl. */

import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startKernelIn, tirelessWith } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

const ON_LINUX = process.platform === 'linux' ? false : 'the fake manager is that of Linux'

/** Keeps what it was told in files; without XDG_RUNTIME_DIR it cannot be reached, like the real one. */
const SYSTEMCTL = `#!/bin/sh
[ -n "$XDG_RUNTIME_DIR" ] || { echo 'Failed to connect to bus: No medium found' >&2; exit 1; }
shift; echo "$*" >> "$XDG_RUNTIME_DIR/calls"
case $1 in
  enable) touch "$XDG_RUNTIME_DIR/enabled" ;;
  start|restart) touch "$XDG_RUNTIME_DIR/active" ;;
  disable) rm -f "$XDG_RUNTIME_DIR/enabled" "$XDG_RUNTIME_DIR/active" ;;
  is-enabled) [ -e "$XDG_RUNTIME_DIR/enabled" ] ;;
  is-active) [ -e "$XDG_RUNTIME_DIR/active" ] && echo active || { echo inactive; exit 3; } ;;
esac
`

function machine(t: TestContext, { reachable = true } = {}) {
  const user = freshFolder(t, 'user')
  const home = join(user, 'my 100% 中文 "home"')
  const programs = join(user, 'programs')
  for (const folder of [home, programs]) mkdirSync(folder)
  writeFileSync(join(home, 'tireless.yaml'), 'kernel: { stop_timeout: 45s }\nserver: { port: 0 }\n')
  writeFileSync(join(programs, 'systemctl'), SYSTEMCTL)
  chmodSync(join(programs, 'systemctl'), 0o755)
  const { XDG_CONFIG_HOME: _, TIRELESS_HOME: __, ...rest } = process.env
  const PATH = `${programs}:${process.env.PATH}`
  const env = { ...rest, HOME: user, PATH, XDG_RUNTIME_DIR: reachable ? user : '' }
  const service = (verb: string, ...args: string[]) => tirelessWith(env, home, 'service', verb, ...args)
  const json = async (verb: string) => JSON.parse((await service(verb, '--json')).stdout)
  const calls = (): string[] => {
    const all = readFileSync(join(user, 'calls'), 'utf8').trim().split('\n')
    writeFileSync(join(user, 'calls'), '')
    return all.filter((call) => !call.startsWith('is-'))
  }
  return { user, home, service, json, calls, env }
}

describe('a service', { skip: ON_LINUX }, () => {
  test('install writes a unit, enables and starts it; a second install updates it if a setting changed', async (t) => {
    const { home, json, calls } = machine(t)
    const first = await json('install')
    assert.deepEqual(
      { change: first.change, installed: first.installed, enabled: first.enabled, running: first.running },
      { change: 'created', installed: true, enabled: true, running: true },
    )
    const unit = `${first.name}.service`
    assert.deepEqual(calls(), ['daemon-reload', `enable ${unit}`, `start ${unit}`])
    assert.match(readFileSync(first.file, 'utf8'), /^TimeoutStopSec=65s$/m)
    assert.ok(first.notes.some((note: string) => note.includes('loginctl enable-linger')))
    assert.equal((await json('install')).change, 'unchanged')
    calls()
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: { stop_timeout: 90s }\n')
    assert.equal((await json('install')).change, 'updated')
    assert.deepEqual(calls().at(-1), `restart ${unit}`)
    assert.match(readFileSync(first.file, 'utf8'), /^TimeoutStopSec=110s$/m)
  })

  test('I7: a definition that its owner changed is kept by install and uninstall, which say where', async (t) => {
    const { service, json } = machine(t)
    const { file } = await json('install')
    for (const [nth, command] of ['install', 'uninstall'].entries()) {
      writeFileSync(file, `# mine ${nth}\n`)
      const { stdout } = await service(command)
      const [, copy = ''] = /The definition as it was before: (.*)\n/.exec(stdout) ?? []
      assert.equal(readFileSync(copy, 'utf8'), `# mine ${nth}\n`)
    }
    assert.equal(readFileSync(`${file}.before-1`, 'utf8'), '# mine 0\n')
  })

  test('uninstall stops and removes it, leaves the home alone and says so', async (t) => {
    const { home, service, json, calls } = machine(t)
    const { file, name } = await json('install')
    calls()
    const { exit, stdout } = await service('uninstall')
    assert.equal(exit, 0)
    assert.ok(stdout.includes(`Your data stays in ${home}`), stdout)
    assert.deepEqual(calls(), [`disable --now ${name}.service`, 'daemon-reload'])
    assert.deepEqual(
      { unit: existsSync(file), configuration: existsSync(join(home, 'tireless.yaml')) },
      { unit: false, configuration: true },
    )
    assert.match((await service('uninstall')).stdout, /There is no service/)
  })

  test('status says whether it is installed, enabled and running, and the address of the page', async (t) => {
    const { home, service, json } = machine(t)
    const none = await service('status')
    assert.match(none.stdout, /installed +no\nenabled +no\nrunning +no\nNot installed.*tireless service install/)
    await json('install')
    await startKernelIn(t, home)
    const { stdout } = await service('status')
    assert.match(stdout, /installed +\/.*\.service\nenabled +yes\nrunning +yes\npage +http:\/\/127\.0\.0\.1:\d+\n/)
  })

  test('without a running systemd the unit is written, and the text says what to type later', async (t) => {
    const { service } = machine(t, { reachable: false })
    const { exit, stdout } = await service('install')
    assert.equal(exit, 0)
    assert.match(stdout, /enabled +unknown\n/)
    assert.match(stdout, /Not started: systemctl does not answer here.*systemctl --user enable --now tireless-/)
    assert.match((await service('status')).stdout, /running +unknown\n.*does not answer/s)
  })

  test('a kernel that already runs, and a key that only this shell has, are named', async (t) => {
    const { home, env } = machine(t)
    const { pid } = await startKernelIn(t, home)
    const { stdout } = await tirelessWith({ ...env, DEEPSEEK_API_KEY: 'k' }, home, 'service', 'install')
    assert.ok(stdout.includes(`Process ${pid} holds this home`), stdout)
    assert.match(stdout, /does not see DEEPSEEK_API_KEY of this shell\. Write NAME=value lines into .*\.env/)
  })

  test('an invalid configuration is refused before anything is written', async (t) => {
    const { home, user, service } = machine(t)
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: { stop_timeout: never }\n')
    const { exit, stderr } = await service('install')
    assert.equal(exit, 1)
    assert.match(stderr, /config_invalid.*stop_timeout/s)
    assert.equal(existsSync(join(user, '.config')), false)
  })
})
