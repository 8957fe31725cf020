/** Commands behind the page's settings: MCP servers, policy, doctor, log, backups, plugins. */

import assert from 'node:assert/strict'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tireless, tirelessJson } from './support/command-line.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { ControlledServer } from './support/mcp-homes.ts'
import { freshFolder, openApp, readLogs, runTaskIn } from './support/open-app.ts'
import { greeterFiles, pluginHome } from './support/plugin-homes.ts'

const TOKEN = 'tok-marmalade-7731-for-breakfast'
const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' ')

test('case 136: mcp add keeps a server only if it starts; mcp remove removes every trace of it', async (t) => {
  const server = new ControlledServer(t)
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: '# mine\nsandbox: off\n' })
  const file = (): string => readFileSync(join(home, 'tireless.yaml'), 'utf8')
  const broken = await app.run('mcp add', { name: 'broken', command: 'false', sandbox: 'off', key: TOKEN, key_as: 'T' })
  assert.deepEqual(
    { ok: broken.ok, added: broken.added, state: broken.state },
    { ok: false, added: false, state: 'down' },
  )
  assert.doesNotMatch(file(), /broken/)
  assert.deepEqual((await app.run('secrets list', {})).items, [])
  for (const input of [{ name: 'a' }, { name: 'a', command: 'x', url: 'http://127.0.0.1/' }])
    await assert.rejects(app.run('mcp add', input), /either a command or an address/)
  await assert.rejects(app.run('mcp add', { name: 'a', url: 'ftp://x' }), /begins with http/)
  await assert.rejects(app.run('mcp add', { name: 'a', command: 'x', key: TOKEN }), /key_as/)

  const command = quoted(server.command)
  const added = await app.run('mcp add', { name: 'mine', command, sandbox: 'off', key: TOKEN, key_as: 'MY_TOKEN' })
  assert.ok(added.added && added.tools.length > 0)
  assert.match(file(), /^# mine\n/)
  assert.match(file(), /MY_TOKEN: secret:MCP_MINE/)
  assert.doesNotMatch(`${file()}${JSON.stringify([await app.run('mcp list', {}), await readLogs(app)])}`, /marmalade/)
  await assert.rejects(app.run('mcp add', { name: 'mine', command }), /configured already/)
  const [tool = ''] = added.tools.map((one) => one.tool)
  await app.run('mcp declare', { server: 'mine', tool, recovery: 'pure', reach: 'none' })
  const [{ tools } = { tools: [] }] = (await app.run('mcp list', {})).items
  const declared = tools.find((one) => one.tool === tool)
  assert.deepEqual([declared?.effect, declared?.declared], [{ recovery: 'pure', reach: 'none' }, true])

  await app.run('mcp remove', { server: 'mine' })
  assert.deepEqual((await app.run('mcp list', {})).items, [])
  assert.deepEqual((await app.run('secrets list', {})).items, [])
  assert.equal(await app.context.store.setting('mcp mine'), null)
})

test('policy show asks the rule itself; policy set checks values and keeps comments', async (t) => {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: '# mine\npolicy:\n  allow_hosts: [a.example] # read\n' })
  const { rules, ...shown } = await app.run('policy show', {})
  assert.deepEqual(shown, { unattended: 'park', allow_hosts: ['a.example'], quiet_hours: null, sandbox: 'auto' })
  const ruled = Object.fromEntries(rules.map(({ kind, before, after }) => [kind, `${before} ${after}`]))
  assert.deepEqual(ruled, {
    ...{ workspace: 'alone alone', private_data: 'alone alone', read_listed: 'alone depends' },
    ...{ read_named: 'alone depends', read_other: 'asks asks', send_named: 'alone depends', send_other: 'asks asks' },
    ...{ change_itself: 'asks asks', publish: 'asks asks', spend_or_destroy: 'asks asks' },
  })
  await app.run('policy set', { allow: '*.example.org', unattended: 'deny', quiet_hours: '22:00-07:00' })
  const after = await app.run('policy set', { disallow: 'a.example' })
  assert.deepEqual(after, {
    ...{ unattended: 'deny', allow_hosts: ['*.example.org'], quiet_hours: '22:00-07:00', sandbox: 'auto' },
  })
  const before = readFileSync(join(home, 'tireless.yaml'), 'utf8')
  assert.match(before, /^# mine\n/)
  await assert.rejects(app.run('policy set', { allow: 'https://x.example/' }), /policy\.allow_hosts.*without scheme/s)
  await assert.rejects(app.run('policy set', { quiet_hours: 'night' }), /kernel\.quiet_hours.*22:00-07:00/s)
  await assert.rejects(app.run('policy set', {}), /nothing to change/)
  assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), before)
  writeFileSync(join(home, 'tireless.yaml'), 'nonsense: [')
  assert.equal((await app.run('policy show', {})).unattended, 'deny', 'the values in use, not those of a broken file')
})

test('doctor --fix --only repairs one finding and leaves the others', async (t) => {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: 'sandbox: off\n' })
  chmodSync(home, 0o755)
  const privacy = async (input = {}) => {
    const { checks } = await app.run('doctor', input)
    const { ok, fixable, found } = checks.find(({ name }) => name === 'privacy') ?? assert.fail()
    return `${ok} ${fixable} ${found.slice(0, 10)}`
  }
  assert.equal(await privacy(), 'false true accessible')
  assert.equal(await privacy({ fix: true, only: 'leftovers' }), 'false true accessible')
  assert.equal(await privacy({ fix: true, only: 'privacy' }), 'true false repaired: ')
})

test('the log is searched on the command line and over HTTP, window by window', async (t) => {
  const served = await openHttpApp(t)
  for (let n = 1; n <= 6; n++) await runTaskIn(served.app, `say ${n % 2 ? 'odd' : 'even'} ${n}`)
  const search = async (query: string) => {
    const { status, json } = await sendRequest(served, `/api/v1/logs?${query}`, { headers: served.bearer })
    return { status, ...json<{ items: { id: string; ts: string; event: string }[]; more: boolean }>() }
  }
  const all = await search('level=info&lines=100')
  const ids = all.items.map(({ id }) => id)
  assert.ok(ids.length >= 12 && new Set(ids).size === ids.length && !all.more)
  const newest = await search('level=info&lines=5')
  assert.deepEqual([newest.items, newest.more], [all.items.slice(-5), true])
  const older = await search(`level=info&lines=5&before=${newest.items[0]?.id}`)
  assert.deepEqual(older.items, all.items.slice(-10, -5))
  assert.deepEqual((await search(`lines=9&after=${ids.at(-3)}`)).items, all.items.slice(-2))
  assert.deepEqual((await search('level=error')).items, [])
  const starts = await search('text=iNiT')
  assert.deepEqual(
    starts.items.map(({ event }) => event),
    Array.from({ length: 6 }, () => 'INIT start'),
  )
  const followed = await sendRequest(served, '/api/v1/logs?follow=true', { headers: served.bearer })
  assert.deepEqual([followed.status, followed.code], [400, 'usage'])
  assert.match((await tireless(served.home, 'logs', '--text', 'END end', '-n', '1')).stdout, /^\S+ info END end .*\n$/)
})

test('backups are listed with what they contain; about says where they go', async (t) => {
  const home = freshFolder(t)
  await tirelessJson(home, 'init')
  const { backups, home: shown, version, kind } = await tirelessJson<Record<string, string>>(home, 'about')
  assert.deepEqual([shown, kind, backups], [home, 'checkout', `${home}-backups`])
  assert.match(version ?? '', /^\d+\.\d+\.\d+/)
  const app = await openApp(t, { home })
  t.after(() => app.close())
  const folder = freshFolder(t, 'backups')
  await app.run('secrets set', { name: 'A', value: 'a-secret-of-the-owner' })
  await app.run('backup', { dir: join(folder, 'one') })
  await app.run('backup', { dir: join(folder, 'two'), secrets: true })
  writeFileSync(join(folder, 'no-backup'), '')
  const { items } = await app.run('backups list', { in: folder })
  assert.deepEqual(
    items.map(({ dir, secrets, home: of, files }) => [dir, secrets, of, files > 2]),
    [
      [join(folder, 'two'), true, home, true],
      [join(folder, 'one'), false, home, true],
    ],
  )
})

test('plugins show says what a plugin may do, before and after it is added, and runs nothing', async (t) => {
  const home = pluginHome(t, greeterFiles({ 'index.ts': 'throw new Error("it ran")' }), 'sandbox: off\n')
  const app = await openApp(t, { home })
  const shown = await app.run('plugins show', { source: './plugins/greeter' })
  assert.deepEqual([shown.name, shown.configured, shown.state], ['greeter', false, 'unapproved'])
  assert.match(shown.words, /with all your rights[\s\S]*It adds: tools greet/)
  assert.match(shown.words_zh, /全部权限/)
  await assert.rejects(
    app.run('plugins add', { source: './plugins/greeter', yes: true, digest: '00000000' }),
    /changed/,
  )
  await app.run('plugins add', { source: './plugins/greeter', yes: true, digest: shown.digest ?? '' })
  assert.equal((await app.run('plugins show', { source: 'greeter' })).configured, true)
})
