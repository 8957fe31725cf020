import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, lstatSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { App, AppOptions } from '../src/app.ts'
import type { Progress } from '../src/commands/lib/command.ts'
import type { Json } from '../src/domain/json.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import type { Script } from '../src/testing/provider-server.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { configFor, MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { chatChannel } from './support/chat-kernel.ts'
import { startKernelIn, startProvider, tireless, tirelessJson } from './support/command-line.ts'
import { openEventStream, openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from './support/open-app.ts'
import { ENCODINGS, SECRET_SHAPES } from './support/planted-secrets.ts'

/** Runs the command line with standard input and extra environment variables. */
async function commandLine(args: readonly string[], { input = '', env = {} }: { input?: string; env?: object }) {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], { env: { ...process.env, ...env } })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString('utf8')),
  )
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  return { exit: child.exitCode, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** Occurrences of the needles in files below a folder, except in the secrets file itself. */
function filesContaining(folder: string, needles: readonly string[]): readonly string[] {
  return globSync('**', { cwd: folder })
    .filter((path) => path !== 'secrets.json' && lstatSync(join(folder, path)).isFile())
    .flatMap((path) => {
      const bytes = readFileSync(join(folder, path))
      return needles.filter((needle) => bytes.includes(needle)).map((needle) => `${path}: ${needle.slice(0, 40)}`)
    })
}

const needlesIn = (text: string, needles: readonly string[]): readonly string[] =>
  needles.filter((needle) => text.includes(needle)).map((needle) => needle.slice(0, 40))

const NEEDLES = Object.values(SECRET_SHAPES).flatMap((secret) =>
  // Some writings add text around the secret; that text is not searched for.
  Object.entries(ENCODINGS).flatMap(([writing, write]) =>
    /before it|lines|^JSON/.test(writing) ? [] : [write(secret), ...longLines(write(secret))],
  ),
)

/** The long lines of a secret, which must not be found one by one either. */
function longLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.length > 40 && !line.startsWith('-----'))
}

async function setSecrets(app: App, secrets: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(secrets)) await app.run('secrets set', { name, value })
}

const call = (tool: string, args: Json): ScriptedStep => ({ calls: [{ tool, args }] })

/** A tool that returns every secret in every encoding, as if it had read a file with all of them. */
const leakingTool = (fails: boolean) =>
  defineTool<object>({
    name: fails ? 'fail' : 'leak',
    description: 'Tells everything.',
    args: z.object({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    async run() {
      const all = Object.values(SECRET_SHAPES).flatMap((secret) =>
        Object.values(ENCODINGS).map((write) => write(secret)),
      )
      if (fails) throw new Error(`cannot be: ${all.join('\n')}`)
      return { status: 'ok', content: all.join('\n'), facts: { all: all as Json[] } }
    },
  })

const ALL_SECRETS = Object.values(SECRET_SHAPES).join('\n')

describe('case 136: a run that tries to leak twelve secrets', () => {
  const steps: readonly ScriptedStep[] = [
    { text: `I know ${ALL_SECRETS}`, calls: [{ tool: 'leak' }] },
    call('fail', {}),
    call('create_file', { path: 'keys.txt', content: ALL_SECRETS }),
    call('remember', { key: 'keys', text: ALL_SECRETS }),
    call('edit_state', { section: 'keys', text: ALL_SECRETS }),
    call('nonsense', { all: ALL_SECRETS, [SECRET_SHAPES.token ?? '']: 1 }),
    { text: `done: ${ALL_SECRETS}` },
  ]

  async function serveLeakingApp(t: TestContext, options: Partial<AppOptions> = {}) {
    const model = scriptedModel((request, turn) => {
      assert.deepEqual(needlesIn(JSON.stringify(request), NEEDLES), [], 'the model must not see a secret')
      return steps[turn] ?? { text: 'nothing more' }
    })
    const served = await openHttpApp(t, { ...options, model, tools: [leakingTool(false), leakingTool(true)] })
    await setSecrets(served.app, SECRET_SHAPES)
    return served
  }

  test('leaves them in no file of the home, answer, event or backup', async (t) => {
    const served = await serveLeakingApp(t)
    const { app, home } = served
    const stream = await openEventStream(served)
    const progress: Progress[] = []
    const result = await app.run('run', { task: `use ${ALL_SECRETS}` }, (each) => progress.push(each))
    assert.equal(result.status, 'done')
    await app.run('send', { session: result.session_id, text: ALL_SECRETS })
    await app.run('enqueue', { prompt: ALL_SECRETS, key: 'k' })
    await app.run('state show', {})
    await assert.rejects(app.run('queue show', { id: SECRET_SHAPES.token ?? '' }), /‹secret:token›|‹secret:\w+›/)
    const answers = await Promise.all(
      [
        ...['status', 'queue/list', 'sessions/list', 'memory/list', 'state/show', 'state/log', 'secrets/list'],
        ...['trace/list', `trace/show?run=${result.dispatch_id}&events=true`, `sessions/show?id=${result.session_id}`],
        `queue/show?id=${encodeURIComponent(SECRET_SHAPES.token ?? '')}`,
      ].map(async (path) => (await sendRequest(served, `/api/v1/${path}`, { headers: served.bearer })).text),
    )
    const backup = join(freshFolder(t, 'backup'), 'made')
    await app.run('backup', { dir: backup })
    const outputs = JSON.stringify([result, progress, answers, stream.messages])
    await app.close()
    assert.deepEqual(needlesIn(outputs, NEEDLES), [])
    assert.deepEqual(filesContaining(home, NEEDLES), [])
    assert.deepEqual(filesContaining(backup, NEEDLES), [])
    assert.ok(!existsSync(join(backup, 'secrets.json')))
    // The placeholders show that every secret was in the outputs before redaction.
    for (const name of Object.keys(SECRET_SHAPES)) assert.ok(outputs.includes(`‹secret:${name}›`), name)
    const file = globSync(join(home, 'workspaces/*/keys.txt')).map((path) => readFileSync(path, 'utf8'))
    assert.ok(file[0]?.includes('‹secret:token›'), 'the tool wrote the redacted text, as journalled')
  })

  test('leaves them in no document, mirror, message or command-line output', async (t) => {
    const chat = chatChannel()
    const yaml = JSON.stringify({
      server: { port: 0 },
      kernel: { channel: 'chat', chat_id: 'c', agents: [{ agent_id: 'a', prompt: `work ${ALL_SECRETS}` }] },
    })
    const { app, home } = await serveLeakingApp(t, { channels: [chat], yaml } as never)
    const cycle = await app.run('once', {})
    await app.close()
    assert.equal(chat.received.length, 1)
    const outputs = await Promise.all(
      [['logs'], ['cycles', 'list'], ['trace', 'list'], ['state', 'show'], ['notices', 'list'], ['status']].map(
        async (words) => (await tireless(home, ...words)).stdout,
      ),
    )
    const mirror = await run('git', ['--git-dir', join(home, 'versions/kernels/default.git'), 'log', '-p'])
    assert.ok(mirror.stdout.includes('‹secret:'), "the mirror must have the agent's edit")
    assert.deepEqual(needlesIn(JSON.stringify([cycle, chat.received, outputs, mirror.stdout]), NEEDLES), [])
    // The owner's configuration may contain them.
    assert.deepEqual(
      filesContaining(home, NEEDLES).filter((found) => !found.startsWith('tireless.yaml')),
      [],
    )
  })

  test('I4: the journal has what was executed: a replay is identical', async (t) => {
    const { app } = await serveLeakingApp(t)
    const { dispatch_id } = await runTaskIn(app, `use ${ALL_SECRETS}`)
    await setSecrets(app, { LATER: 'nothing more than that 1' })
    const replayed = await replayIn(app, dispatch_id)
    assert.equal(replayed.identical, true)
  })
})

describe('case 136: a secret is redacted', () => {
  const SECRET = 'straddling-secret-0123456789'

  test('before a long result is cut: no part of it is left', async (t) => {
    const longTool = defineTool<object>({
      name: 'long',
      description: 'Tells much.',
      args: z.object({}),
      effect: () => ({ recovery: 'pure', reach: 'none' }),
      // The text repeats the secret, so that any cut goes through one.
      run: async () => ({ status: 'ok', content: `${SECRET} `.repeat(6000) }),
    })
    const app = await openApp(t, { model: scriptedModel([call('long', {}), { text: 'done' }]), tools: [longTool] })
    await setSecrets(app, { A: SECRET })
    const journal = JSON.stringify(await journalOf(app, (await runTaskIn(app)).session_id))
    assert.match(journal, /characters left out/)
    assert.doesNotMatch(journal, /straddl|0123456789/)
  })

  test('in every answer, even if it was stored before it was declared a secret', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: `it is ${SECRET}` }]) })
    const { session_id, answer } = await runTaskIn(app)
    assert.equal(answer, `it is ${SECRET}`)
    await setSecrets(app, { A: SECRET })
    assert.doesNotMatch(JSON.stringify(await app.run('sessions show', { id: session_id })), /straddl/)
  })

  test('while text is streamed, also across chunks', async (t) => {
    const model = scriptedModel([{ text: `it is ${SECRET}.` }])
    const letterByLetter: typeof model = {
      ...model,
      async call(request, options) {
        const answer = await model.call(request, { ...options, onText: () => {} })
        for (const letter of answer.text) options.onText?.(letter)
        return answer
      },
    }
    const app = await openApp(t, { model: letterByLetter })
    await setSecrets(app, { A: SECRET })
    let streamed = ''
    await app.run('run', { task: 'x' }, (progress) => {
      if (progress.kind === 'delta' && progress.delta.kind === 'text') streamed += progress.delta.text
    })
    assert.equal(streamed, 'it is ‹secret:A›.')
  })
})

describe('undeclared keys', () => {
  test('case 60: keys from the configuration, the environment and the home are redacted, too', async (t) => {
    const home = freshFolder(t)
    const keys = ['inline-key-1a2b3c', 'header-value-4d5e6f', 'hook-secret-abcdef', 'from-outside-7g8h9i']
    const yaml = JSON.stringify({
      models: {
        providers: {
          local: {
            ...{ type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: keys[0] },
            headers: { 'x-team': `Bearer ${keys[1]}` },
          },
        },
      },
      channels: { webhook: { url: 'http://127.0.0.1:9', secret: keys[2], chat_id: 'chat-number-12345' } },
    })
    writeFileSync(join(home, 'tireless.yaml'), yaml)
    writeFileSync(join(home, 'script.json'), JSON.stringify(keys))
    const task = `Create made.md with the text "${keys.join(' ')} chat-number-12345 required".`
    const env = { SOME_TOKEN: keys[3], SOME_KEY: 'required', TIRELESS_HOME: home }
    const result = await commandLine(['run', task, '--json'], { env })
    assert.equal(result.exit, 0, result.stderr)
    assert.deepEqual(
      filesContaining(home, keys).filter((found) => !/^(tireless\.yaml|script\.json)/.test(found)),
      [],
    )
    const written = globSync(join(home, 'workspaces/*/made.md')).map((path) => readFileSync(path, 'utf8'))
    assert.match(
      written[0] ?? '',
      /‹secret:SOME_TOKEN› chat-number-12345 required/,
      'an ordinary word in a variable must not be redacted',
    )
  })
})

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
    assert.match(listed.stdout, /PIPED +\d{4}-.* +api\.example\.com, other\.example/)
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
    assert.deepEqual([typed.exit, JSON.stringify(typed).includes('on-the-command-line')], [2, false])
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
      assert.deepEqual([settled?.status, sent], ['error', []])
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
    const { stdout, exit } = await commandLine(['run', 'look', '--json'], { env })
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
