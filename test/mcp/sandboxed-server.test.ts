/** What a hostile MCP server can do to its home: real processes in the real sandbox. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import type { CallResult } from '../../src/domain/decision.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS } from '../crash/kills.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'
import { startSite } from '../support/serve-pages.ts'

const SERVER = [process.execPath, ...NODE_FLAGS, join(import.meta.dirname, 'hostile-server-main.ts')]
const EFFECTS = { evaluate: { recovery: 'pure', reach: 'none' } }

/** The values of these expressions inside the server, in order. */
async function evaluateInServer(
  t: TestContext,
  home: string,
  server: object,
  expressions: readonly string[],
  yaml = '',
): Promise<readonly string[]> {
  const calls = expressions.map((what) => ({
    calls: [{ tool: 'tool_call', args: { name: 'x__evaluate', args: { what } } }],
  }))
  const model = scriptedModel([
    { calls: [{ tool: 'tool_search', args: { query: 'evaluate' } }] },
    ...calls,
    { text: 'done' },
  ])
  const config = { mcp_servers: { x: { command: SERVER, trust: 'trusted', effects: EFFECTS, ...server } } }
  const app = await openApp(t, { home, model, yaml: `${yaml}${stringify(config)}` })
  const { session_id } = await runTaskIn(app, 'Evaluate.')
  const journal = await journalOf(app, session_id)
  const results = journal.flatMap((record): CallResult[] => (record.kind === 'call_settled' ? [record.result] : []))
  return results.slice(1).map(({ content }) => content)
}

/** Characters that a shell would interpret. */
const SHELL_TEXT = 'it\'s mine\n"$HOME" `id`'

const read = (path: string): string => `fs.readFileSync(${JSON.stringify(path)}, 'utf8')`
const write = (path: string): string => `fs.writeFileSync(${JSON.stringify(path)}, 'planted')`

function homeWithSecrets(t: TestContext): string {
  const home = freshFolder(t)
  writeFileSync(join(home, 'secrets.json'), '{"version":1,"secrets":{}}', { mode: 0o600 })
  return home
}

test('a server reads no secret, policy or account of the home, and writes only its own folder', {
  skip,
}, async (t) => {
  const home = homeWithSecrets(t)
  process.env.OWNERS_TOKEN = 'x'
  const account = freshFolder(t, 'account')
  mkdirSync(join(account, '.ssh'))
  writeFileSync(join(account, '.ssh/id_rsa'), 'KEY')
  const forbidden = [
    'secrets.json',
    'audit.key',
    'audit.head',
    'tireless.yaml',
    'tireless.db',
    'token',
    'logs',
    'kernels',
  ].map((name) => join(home, name))
  const attempts = [
    ...forbidden.map(read),
    read(join(account, '.ssh/id_rsa')),
    read('/etc/shadow'),
    `${read('/proc/1/environ')}.includes('OWNERS_TOKEN') || nothing`,
    "Object.keys(process.env).includes('OWNERS_TOKEN') || nothing",
    `fs.readdirSync(${JSON.stringify(home)}).includes('tireless.yaml') || nothing`,
    write(join(import.meta.dirname, 'planted')),
    write('/usr/local/bin/planted'),
    `fs.symlinkSync(${JSON.stringify(join(home, 'secrets.json'))}, 'link'), ${read('link')}`,
    `process.kill(${process.pid}, 0) && 'it sees us'`,
    `child.execSync('mount -o remount,rw / && echo remounted', { stdio: 'pipe' }).toString()`,
    [
      `child.execSync('nsenter -t 1 -m cat ' + ${JSON.stringify(join(home, 'secrets.json'))}, {`,
      `stdio: 'pipe' }).toString()`,
    ].join(' '),
  ]
  // A scratch folder of that name may exist; the home's own files do not.
  const into = ['tireless.yaml', 'secrets.json', 'STATE.md'].map((name) => write(join(home, name)))
  const planting = [...into, `fs.mkdirSync(${JSON.stringify(join(home, 'agents/evil'))}, { recursive: true })`]
  const fine = [
    "fs.writeFileSync('mine', 'x') ?? 'written'",
    "fs.readFileSync('mine', 'utf8')",
    'Array.from(process.env.GIVEN, (c) => c.codePointAt(0)).join()',
  ]
  const values = await evaluateInServer(t, home, { env: { GIVEN: SHELL_TEXT } }, [...attempts, ...fine, ...planting])
  for (const [i, attempt] of attempts.entries())
    assert.match(values[i] ?? '', /^threw/, `${attempt} returned ${values[i]}`)
  assert.deepEqual(values.slice(attempts.length, attempts.length + fine.length), [
    'written',
    'x',
    Array.from(SHELL_TEXT, (c) => c.codePointAt(0)).join(),
  ])
  for (const name of ['tireless.yaml', 'secrets.json'])
    assert.ok(!readFileSync(join(home, name), 'utf8').includes('planted'))
  assert.equal(existsSync(join(home, 'STATE.md')), false)
  assert.equal(existsSync(join(home, 'agents/evil')), false)
  assert.equal(readFileSync(join(home, 'servers/x/mine'), 'utf8'), 'x')
})

test("a server has only the network that its configuration declares, without this machine's loopback", {
  skip,
}, async (t) => {
  const { port, requests: asked } = await startSite(t, (_, response) => response.end('INSIDE'))
  const get = (url: string): string =>
    `await fetch(${JSON.stringify(url)}).then((r) => r.status === 200 ? r.text() : nothing)`
  const connect = `net.connect(${port}, '127.0.0.1', () => ok('connected'))`
  const direct = `await new Promise((ok, no) => ${connect}.on('error', no))`
  const url = `http://127.0.0.1:${port}/`
  const none = await evaluateInServer(t, homeWithSecrets(t), {}, [direct, get(url), get('http://example.com/')])
  for (const values of none) assert.match(values, /^threw/)
  const all = await evaluateInServer(t, homeWithSecrets(t), { network: 'all' }, [direct, get(url)])
  for (const values of all) assert.match(values, /^threw/)
  assert.deepEqual(asked, [])
  const yaml = `policy: { allow_hosts: ["127.0.0.1:${port}"] }\n`
  const viaProxy = [
    `child.execFileSync('curl', ['-sS', '--noproxy', '', '-x', process.env.http_proxy,`,
    `${JSON.stringify(url)}], { stdio: 'pipe' }).toString()`,
  ].join(' ')
  const unnamed = await evaluateInServer(
    t,
    homeWithSecrets(t),
    { network: ['example.com'] },
    [`${viaProxy}.includes('INSIDE') || nothing`],
    yaml,
  )
  assert.match(unnamed[0] ?? '', /^threw/, 'hosts that are allowed for agents are not allowed for a server')
  const undeclared = await evaluateInServer(
    t,
    homeWithSecrets(t),
    {},
    [`${viaProxy}.includes('INSIDE') || nothing`],
    yaml,
  )
  assert.match(undeclared[0] ?? '', /^threw/, 'a server that declares no network has none')
  const named = await evaluateInServer(t, homeWithSecrets(t), { network: [`127.0.0.1:${port}`] }, [viaProxy], yaml)
  assert.deepEqual(named, ['INSIDE'])
})

test('`folders` are writable and `reads` readable; neither reaches the home or protected names', {
  skip,
}, async (t) => {
  const [work, library] = [freshFolder(t, 'work'), freshFolder(t, 'library')]
  writeFileSync(join(library, 'book'), 'BOOK')
  mkdirSync(join(work, '.git/hooks'), { recursive: true })
  for (const [name, text] of [
    ['HEAD', 'ref: refs/heads/main\n'],
    ['config', '[core]\n\tbare = false\n'],
  ] as const)
    writeFileSync(join(work, '.git', name), text)
  for (const name of ['objects', 'refs']) mkdirSync(join(work, '.git', name))
  const values = await evaluateInServer(t, homeWithSecrets(t), { folders: [work], reads: [library] }, [
    `${write(join(work, 'note'))} ?? 'written'`,
    read(join(library, 'book')),
    write(join(library, 'book')),
    write(join(work, '.git/hooks/post-commit')),
    write(join(work, '.git/config')),
  ])
  assert.deepEqual(values.slice(0, 2), ['written', 'BOOK'])
  for (const one of values.slice(2)) assert.match(one, /^threw/)
  const { HOME = '/root' } = process.env
  const wide = [
    (home: string) => ({ folders: [home] }),
    (home: string) => ({ folders: [join(home, 'servers')] }),
    (home: string) => ({ reads: [join(home, '..')] }),
    () => ({ reads: ['/'] }),
    () => ({ folders: [HOME] }),
  ]
  for (const server of wide) {
    const home = homeWithSecrets(t)
    mkdirSync(join(home, 'servers'), { recursive: true })
    const [refused] = await evaluateInServer(t, home, server(home), ["'it ran'"])
    assert.doesNotMatch(refused ?? '', /^it ran/, JSON.stringify(server(home)))
  }
})

test('with sandbox: off the server runs with the rights of the owner', async (t) => {
  const home = homeWithSecrets(t)
  const [values] = await evaluateInServer(t, home, { sandbox: 'off' }, [read(join(home, 'secrets.json'))])
  assert.match(values ?? '', /secrets/)
})

test('without a working sandbox a server is off and says what to do; with sandbox: off it runs', async (t) => {
  const home = homeWithSecrets(t)
  const { PATH } = process.env
  // The PATH has only node: no bubblewrap.
  process.env.PATH = freshFolder(t, 'empty')
  t.after(() => {
    process.env.PATH = PATH
  })
  const config = { mcp_servers: { x: { command: SERVER }, y: { command: SERVER, sandbox: 'off' } } }
  const app = await openApp(t, { home, yaml: stringify(config) })
  const x = await app.run('mcp test', { server: 'x' })
  assert.equal(x.state, 'down')
  assert.match(x.error ?? '', /no sandbox works here.*mcp_servers\.x\.sandbox: off/s)
  const y = await app.run('mcp test', { server: 'y' })
  assert.equal(y.state, 'up')
})

test('a server may start in a system folder, which every sandbox shows', { skip }, async (t) => {
  const values = await evaluateInServer(t, homeWithSecrets(t), { cwd: '/usr/lib' }, ['process.cwd()'])
  assert.deepEqual(values, ['/usr/lib'])
})
