/** What a hostile sandboxed plugin can do: real processes in the real sandbox. */

import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { App } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { evaluate, HOSTILE_CODE, hostileHome, hostileManifest, openHostile } from '../support/hostile-plugin.ts'
import { openApp } from '../support/open-app.ts'
import { approvePlugin } from '../support/plugin-homes.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'
import { startSite } from '../support/serve-pages.ts'

const read = (path: string): string => `fs.readFileSync(${JSON.stringify(path)}, 'utf8')`

test('Q18: what a hostile sandboxed plugin cannot do', { skip }, async (t) => {
  const home = hostileHome(t)
  const app = await openHostile(t, home)
  await t.test('it reads no secret or environment, starts no process, writes only its folder', () =>
    readsNothing(app, home),
  )
  await t.test('a crash, a huge answer, a flood, a lie or another call id ends its process only', () =>
    survivesLies(app),
  )
  await t.test('an endless loop is ended, and the next call starts it again; its gate denies', () => endsLoops(app))
  await t.test('each further failure makes the pause before the next start longer', () => pausesAfterFailures(app))
})

test('it phones home only to the hosts that you approved', { skip }, async (t) => {
  const { port, requests } = await startSite(t, (_, response) => response.end('INSIDE'))
  const url = `http://127.0.0.1:${port}/`
  // Node leaves the proxy out for this machine, so the request is written to the proxy by hand.
  const code = `new Promise((resolve, reject) => {
    const { hostname, port, username, password } = new URL(process.env.http_proxy)
    const headers = { 'proxy-authorization': 'Basic ' + btoa(username + ':' + password) }
    http.get({ hostname, port, path: '${url}', headers }, (answer) =>
      answer.statusCode === 200 ? answer.on('data', (data) => resolve(data)) : reject(new Error(answer.statusCode)),
    ).on('error', reject)
  })`
  const yaml = `plugins: [./plugins/greeter]\npolicy: { allow_hosts: ['127.0.0.1:${port}'] }\n`
  const closed = await openHostile(t, hostileHome(t, hostileManifest(), yaml))
  await assert.rejects(evaluate(closed, code), TirelessError)
  await assert.rejects(evaluate(closed, "fetch('https://example.com')"), TirelessError)
  assert.equal(requests.length, 0)
  const manifest = hostileManifest({ needs: { network: [`127.0.0.1:${port}`] } })
  const open = await openHostile(t, hostileHome(t, manifest, yaml))
  assert.equal(await evaluate(open, code), 'INSIDE')
  await assert.rejects(evaluate(open, "fetch('https://example.com').then((r) => r.ok || Promise.reject(new Error()))"))
})

test('a changed byte, and a tool beyond the manifest, are refused', { skip }, async (t) => {
  const home = hostileHome(t)
  await approvePlugin(home)
  appendFileSync(join(home, 'plugins/greeter/index.js'), ' ')
  await assert.rejects(openApp(t, { home }), { code: 'plugin_unapproved', message: /index\.js differs/ })
  writeFileSync(join(home, 'plugins/greeter/tireless-plugin.json'), hostileManifest({ provides: { tools: ['other'] } }))
  const message = /adds to tools what its manifest does not list; got evaluate; expected other/
  await assert.rejects(approvePlugin(home), { code: 'plugin_invalid', message })
})

test('a plugin that offers something else than at its approval is not called', { skip }, async (t) => {
  const home = hostileHome(t)
  const code = HOSTILE_CODE.replace("description: 'Evaluates code'", "description: 'Evaluates code ' + Math.random()")
  writeFileSync(join(home, 'plugins/greeter/index.js'), code)
  const app = await openHostile(t, home)
  await assert.rejects(evaluate(app, '7'), /plugin greeter: it offers something else than you approved/)
})

test('without a sandbox, a sandboxed plugin is refused', async (t) => {
  const home = hostileHome(t, hostileManifest(), 'sandbox: off\nplugins: [./plugins/greeter]\n')
  await assert.rejects(approvePlugin(home), /a sandboxed plugin needs the sandbox.*trust: trusted/)
})

async function readsNothing(app: App, home: string): Promise<void> {
  process.env.OWNERS_TOKEN = 'owners-token-123'
  app.service('secrets').keeper.set('CITY_KEY', 'k-123456789', undefined)
  const attempts = [
    ...['secrets.json', 'tireless.db', 'tireless.yaml', 'audit.key', 'plugins/greeter/index.js'].map((name) =>
      read(join(home, name)),
    ),
    read('/etc/shadow'),
    read(join(import.meta.dirname, '../../README.md')),
    "child.execSync('id').toString()",
    "child.spawnSync('/bin/sh', ['-c', 'id']).stdout.toString()",
    "child.fork('/tmp/x.js').pid",
    "new Worker('1', { eval: true }).threadId",
    "process.dlopen({ exports: {} }, '/tmp/x.node')",
    `process.kill(${process.pid}, 0)`,
    `fs.writeFileSync(${JSON.stringify(join(import.meta.dirname, 'planted'))}, 'planted')`,
  ]
  for (const code of attempts) await assert.rejects(evaluate(app, code), TirelessError, code)
  await evaluate(app, `fs.writeFileSync(${JSON.stringify(join(home, 'tireless.yaml'))}, 'planted')`).catch(() => {})
  assert.doesNotMatch(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /planted/)
  assert.doesNotMatch(await evaluate(app, 'JSON.stringify(process.env)'), /OWNERS_TOKEN|owners-token/)
  assert.doesNotMatch(await evaluate(app, "fs.readFileSync('/proc/self/environ', 'utf8')"), /owners-token/)
  assert.equal(await evaluate(app, "fs.writeFileSync('mine', 'x') ?? fs.readFileSync('mine', 'utf8')"), 'x')
}

async function endsLoops(app: App): Promise<void> {
  const over = new AbortController()
  const looping = evaluate(app, '{ for (;;); }', over.signal)
  over.abort()
  await assert.rejects(looping, /plugin greeter: .*(cancelled|did not stop)/)
  assert.equal(await evaluate(app, '7'), '7')
  const started = evaluate(app, '{ fs.writeFileSync("looping", ""); for (;;); }', AbortSignal.timeout(300))
  await assert.rejects(started, /plugin greeter: it did not stop when its call was cancelled/)
  assert.equal(await evaluate(app, 'fs.existsSync("looping")'), 'true')
  const gate = app.service('gates').all.get('gate')
  const verdict = await gate?.judge({
    tool: 'x',
    args: {},
    effect: { recovery: 'pure', reach: 'none' },
    session_id: '',
    agent_id: '',
  })
  assert.equal(verdict?.kind, 'deny')
  assert.match(verdict?.reason ?? '', /the gate gate gave no answer: plugin greeter: it did not/)
}

async function survivesLies(app: App): Promise<void> {
  const line = (message: object): string => `fs.writeSync(1, ${JSON.stringify(`${JSON.stringify(message)}\n`)})`
  const cases: readonly (readonly [string, RegExp])[] = [
    ['process.exit(3)', /plugin greeter: its process exited with code 3/],
    ["return 'x'.repeat(100 * 1024 * 1024)", /plugin greeter: it sent a message of more than 4194304 bytes/],
    ['fs.writeSync(1, \'{"type":"pong"}\\n\'.repeat(3000))', /more than 2000 messages in a second/],
    ["fs.writeSync(1, 'nonsense\\n')", /plugin greeter: it sent an invalid message: nonsense/],
    [line({ type: 'result', id: 999, value: 1 }), /plugin greeter: it answered for a call that is not open: 999/],
  ]
  for (const [code, message] of cases) {
    await assert.rejects(evaluate(app, `{ ${code}; await new Promise(() => {}) }`), message, code)
    assert.equal(await evaluate(app, '7'), '7', `after ${code}`)
  }
}

async function pausesAfterFailures(app: App): Promise<void> {
  await assert.rejects(evaluate(app, 'process.exit(1)'), /exited with code 1/)
  await assert.rejects(evaluate(app, 'process.exit(1)'), /exited with code 1/)
  await assert.rejects(evaluate(app, '7'), /exited with code 1; it is started again in 1 seconds/)
}
