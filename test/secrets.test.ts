/** The command secrets, and how tools, providers and commands get a secret. */

import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { Json } from '../src/domain/json.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import type { Script } from '../src/testing/provider-server.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { configFor } from './crash/kills.ts'
import { startKernelIn, startProvider, tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'
import { SECRET_SHAPES } from './support/planted-secrets.ts'
import { call, commandLine, setSecrets } from './support/secret-fixtures.ts'

describe('secrets set, list, remove', () => {
  test('a value is read from standard input, a variable or a file, and never printed', async (t) => {
    const home = freshFolder(t)
    const set = (args: readonly string[], input = '', env = {}) =>
      commandLine(['secrets', 'set', ...args, '--home', home, '--json'], { input, env })
    writeFileSync(join(home, 'key.pem'), SECRET_SHAPES.pem ?? '')
    const results = [
      await set(['PIPED', '--to', 'api.example.com, Other.example'], 'from-a-pipe-123\n'),
      await set(['VARIABLE', '--from-env', 'MINE'], '', { MINE: 'from-a-variable-123' }),
      await set(['FILE', '--from-file', join(home, 'key.pem')]),
    ]
    for (const { exit, stderr } of results) assert.equal(exit, 0, stderr)
    const listed = await tireless(home, 'secrets', 'list')
    assert.match(listed.stdout, /PIPED +now +api\.example\.com, other\.example/)
    assert.doesNotMatch(JSON.stringify([results, listed]), /-123|[A-Za-z0-9+/]{60}/)
    const { secrets } = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8'))
    assert.deepEqual(
      Object.values(secrets as Record<string, { value: string }>).map(({ value }) => value),
      ['from-a-pipe-123', 'from-a-variable-123', SECRET_SHAPES.pem?.trimEnd()],
    )
    assert.equal(statSync(join(home, 'secrets.json')).mode & 0o777, 0o600)
    assert.equal((await tireless(home, 'secrets', 'remove', 'FILE')).exit, 0)
    assert.equal((await tireless(home, 'secrets', 'remove', 'FILE')).exit, 1)
    const typed = await tireless(home, 'secrets', 'set', 'A', 'on-the-command-line', '--json')
    assert.deepEqual(
      { exit: typed.exit, hasOnTheCommandLine: JSON.stringify(typed).includes('on-the-command-line') },
      { exit: 2, hasOnTheCommandLine: false },
    )
  })

  test('a secret that is too short, not text or badly named is refused without printing it', async (t) => {
    const app = await openApp(t)
    for (const [name, value, why] of [
      ['A', 'x7?k', /too short: .*got 4 characters.*at least 6/],
      ['A', 'a\\ b c d', /too short/],
      ['A', 'a\0bcdefgh', /expected text without NUL/],
      ['not a name', 'long enough 1', /name of the secret is not valid/],
      ['hunter2-hunter2', 'hunter2', /the name reveals the secret/],
    ] as const)
      await assert.rejects(app.run('secrets set', { name, value }), (error: Error) => {
        assert.match(error.message, why)
        return name === 'hunter2-hunter2' || !error.message.includes(value)
      })
    assert.deepEqual(await app.run('secrets list', {}), { items: [] })
  })

  test('a secrets file that others can read is refused with the remedy; doctor --fix repairs it', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await setSecrets(app, { A: 'long enough 1' })
    await app.close()
    chmodSync(join(home, 'secrets.json'), 0o640)
    const { exit, stderr } = await tireless(home, 'status')
    assert.equal(exit, 1)
    assert.match(stderr, /other users can read the secrets \(mode 0640\).*do this: chmod 600 /)
    await tireless(home, 'doctor', '--fix')
    assert.equal((await tireless(home, 'status')).exit, 0)
  })

  test('set while start is running, a secret is redacted from then on', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), 'server: { port: 0 }\n')
    await startKernelIn(t, home)
    await commandLine(['secrets', 'set', 'A', '--home', home], { input: 'said-later-1' })
    const { prompt } = await tirelessJson<{ prompt: string }>(
      home,
      ...[
        'queue',
        'show',
        (await tirelessJson<{ dispatch_id: string }>(home, 'enqueue', '--prompt', 'do said-later-1')).dispatch_id,
      ],
    )
    assert.equal(prompt, 'do ‹secret:A›')
  })

  test('a backup contains secrets only on request; restore keeps those that the backup lacks', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await setSecrets(app, { A: 'as it was then 1' })
    const [withoutSecrets, withSecrets] = ['without', 'with'].map((name) => join(freshFolder(t, 'backup'), name))
    await app.run('backup', { dir: withoutSecrets ?? '' })
    const { notes } = await app.run('backup', { dir: withSecrets ?? '', secrets: true })
    assert.match(notes.join(), /contains the values of your secrets/)
    await setSecrets(app, { A: 'as it is now 2' })
    await app.close()
    const valueNow = (): string => JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')).secrets.A.value
    assert.equal((await tireless(home, 'restore', withoutSecrets ?? '')).exit, 0)
    assert.equal(valueNow(), 'as it is now 2')
    assert.equal((await tireless(home, 'restore', withSecrets ?? '')).exit, 0)
    assert.equal(valueNow(), 'as it was then 1')
  })
})

describe('use of a secret', () => {
  const sent: unknown[] = []
  const postTool = defineTool<{
    headers: Readonly<Record<string, string>>
    note?: string | undefined
    host?: string | undefined
  }>({
    name: 'post',
    description: 'Sends something.',
    args: z.object({
      headers: z.record(z.string(), z.string()),
      note: z.string().optional(),
      host: z.string().optional(),
    }),
    secrets: ['headers'],
    effect: () => ({ recovery: 'once', reach: 'third_party' }),
    destinations: ({ host }) => (host === undefined ? [] : [host]),
    async run(args) {
      sent.push(args)
      return { status: 'ok', content: `sent ${JSON.stringify(args)}` }
    },
  })
  const callPost = async (t: TestContext, args: Json) => {
    sent.length = 0
    const model = scriptedModel([call('post', args), { text: 'done' }])
    const yaml = 'policy: { grants: [{ tool: post, to: ["*"] }] }'
    const app = await openApp(t, { model, yaml, tools: [postTool] })
    await app.run('secrets set', { name: 'KEY', value: 'real-value-123', to: 'api.example.com' })
    await app.run('secrets set', { name: 'KEPT', value: 'kept-value-123' })
    const { session_id } = await runTaskIn(app)
    const journal = await journalOf(app, session_id)
    const [settled] = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : []))
    return { journal: JSON.stringify(journal), settled }
  }

  test('a tool gets the value in declared arguments for allowed destinations; the journal has the name', async (t) => {
    const args = {
      headers: { Authorization: 'Bearer secret:KEY', b: '‹secret:KEY›!' },
      note: 'secret:KEY',
      host: 'API.example.com',
    }
    const { journal, settled } = await callPost(t, args)
    assert.deepEqual(sent, [{ ...args, headers: { Authorization: 'Bearer real-value-123', b: 'real-value-123!' } }])
    assert.match(settled?.content ?? '', /Bearer ‹secret:KEY›/)
    assert.ok(!journal.includes('real-value'))
    assert.ok(journal.includes('Bearer secret:KEY'))
  })

  for (const [what, args, why] of [
    [
      'to another host',
      { headers: { a: 'secret:KEY' }, host: 'evil.example' },
      /KEY may not be sent there; got evil\.example; expected api/,
    ],
    ['without a destination', { headers: { a: 'secret:KEY' } }, /got a call without a destination/],
    [
      'that has no allowed destination',
      { headers: { a: 'secret:KEPT' }, host: 'api.example.com' },
      /no destination is allowed/,
    ],
    ['that does not exist', { headers: { a: 'secret:NONE' }, host: 'api.example.com' }, /no such secret; got NONE/],
  ] as const)
    test(`a call with a secret is refused: ${what}`, async (t) => {
      const { settled } = await callPost(t, args)
      assert.deepEqual({ status: settled?.status, sent }, { status: 'error', sent: [] })
      assert.match(settled?.content ?? '', why)
    })

  test('a provider gets the value in key and headers as soon as it is set', async (t) => {
    const provider = await startProvider(t, [{ text: 'hello' }])
    const home = freshFolder(t)
    const yaml = configFor(provider).replace(
      'base_url',
      'api_key: "secret:PROVIDER", headers: { x: "secret:PROVIDER" }, base_url',
    )
    writeFileSync(join(home, 'tireless.yaml'), yaml)
    assert.match(yaml, /secret:PROVIDER/)
    const app = await openApp(t, { home })
    const before = await app.run('models list', {})
    assert.match(before.items[0]?.problem ?? '', /no such secret; got PROVIDER/)
    await setSecrets(app, { PROVIDER: 'provider-key-123' })
    assert.equal((await runTaskIn(app)).answer, 'hello')
    const { items } = await app.run('secrets list', {})
    assert.match(
      items[0]?.used_by.join() ?? '',
      /^models\.providers\.local\.api_key,models\.providers\.local\.headers\.x$/,
    )
  })

  test('a child process has no secret in its environment, and those of its parent are redacted', async (t) => {
    const home = freshFolder(t)
    const printEnv = (pid: string): string => `tr '\\0' '\\n' < /proc/${pid}/environ`
    const command = `env; ${printEnv('self')}; git -c alias.e='!env' e; echo [parent]; ${printEnv('$PPID')}`
    const provider = await startProvider(t, [call('bash', { command }), { text: 'done' }] as Script)
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    await commandLine(['secrets', 'set', 'A', '--home', home], { input: 'kept-value-123' })
    const env = { OPENAI_API_KEY: 'outside-key-123', TIRELESS_HOME: home }
    const { stdout, exit } = await commandLine(['run', '--behaviour', 'solo', 'look', '--json'], { env })
    assert.equal(exit, 0)
    const app = await openApp(t, { home })
    const journal = await journalOf(app, JSON.parse(stdout).session_id)
    const [printed = ''] = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result.content] : []))
    const [ownEnvironment = '', parentEnvironment = ''] = printed.split('[parent]')
    assert.match(ownEnvironment, /PATH=/)
    assert.doesNotMatch(ownEnvironment, /OPENAI_API_KEY|-123/)
    assert.match(parentEnvironment, /OPENAI_API_KEY=‹secret:OPENAI_API_KEY›/)
    assert.doesNotMatch(parentEnvironment, /-123/)
  })
})
