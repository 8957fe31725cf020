import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, lstatSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { App, AppOptions } from '../src/app.ts'
import type { Progress, SecretEntry } from '../src/commands/lib/command.ts'
import type { Json } from '../src/domain/json.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import type { TaskResult } from '../src/run-task.ts'
import type { Script } from '../src/testing/provider-server.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { configFor, MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { chatChannel } from './support/chat-kernel.ts'
import { startKernelIn, startProvider, tireless, tirelessJson } from './support/command-line.ts'
import { openEventStream, openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'
import { ENCODINGS, SECRET_SHAPES } from './support/planted-secrets.ts'

/** The command line, with something to read and more variables. */
async function commandLine(args: readonly string[], { input = '', env = {} }: { input?: string; env?: object }) {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], { env: { ...process.env, ...env } })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString('utf8')),
  )
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  return { exit: child.exitCode, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** Files below a folder in which something stands that must not, but for the file of secrets itself. */
function holding(folder: string, needles: readonly string[]): readonly string[] {
  return globSync('**', { cwd: folder })
    .filter((path) => path !== 'secrets.json' && lstatSync(join(folder, path)).isFile())
    .flatMap((path) => {
      const bytes = readFileSync(join(folder, path))
      return needles.filter((needle) => bytes.includes(needle)).map((needle) => `${path}: ${needle.slice(0, 40)}`)
    })
}

const heldBy = (text: string, needles: readonly string[]): readonly string[] =>
  needles.filter((needle) => text.includes(needle)).map((needle) => needle.slice(0, 40))

const NEEDLES = Object.values(SECRET_SHAPES).flatMap((secret) =>
  // Of what is written around a secret nothing is looked for.
  Object.entries(ENCODINGS).flatMap(([writing, write]) =>
    /before it|lines|^JSON/.test(writing) ? [] : [write(secret), ...lines(write(secret))],
  ),
)

/** A long one is not to be found line by line either. */
function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.length > 40 && !line.startsWith('-----'))
}

async function plant(app: App, secrets: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(secrets)) await app.run('secrets set', { name, value })
}

const call = (tool: string, args: Json): ScriptedStep => ({ calls: [{ tool, args }] })

/** A tool that hands out every secret in every writing, as one would that reads a file with all of them. */
const leak = (fails: boolean) =>
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

const EVERYTHING = Object.values(SECRET_SHAPES).join('\n')

describe('case 136: twelve secrets, and a run that does its best to tell them', () => {
  const steps: readonly ScriptedStep[] = [
    { text: `I know ${EVERYTHING}`, calls: [{ tool: 'leak' }] },
    call('fail', {}),
    call('create_file', { path: 'keys.txt', content: EVERYTHING }),
    call('remember', { key: 'keys', text: EVERYTHING }),
    call('edit_state', { section: 'keys', text: EVERYTHING }),
    call('nonsense', { all: EVERYTHING, [SECRET_SHAPES.token ?? '']: 1 }),
    { text: `done: ${EVERYTHING}` },
  ]

  async function leaking(t: TestContext, options: Partial<AppOptions> = {}) {
    const model = scriptedModel((request, turn) => {
      assert.deepEqual(heldBy(JSON.stringify(request), NEEDLES), [], 'the model is told none')
      return steps[turn] ?? { text: 'nothing more' }
    })
    const its = await openHttpApp(t, { ...options, model, tools: [leak(false), leak(true)] })
    await plant(its.app, SECRET_SHAPES)
    return its
  }

  test('they are in no file of the home, no answer, no event and no backup', async (t) => {
    const its = await leaking(t)
    const { app, home } = its
    const live = await openEventStream(its)
    const told: Progress[] = []
    const result = (await app.run('run', { task: `use ${EVERYTHING}` }, (progress) =>
      told.push(progress),
    )) as TaskResult
    assert.equal(result.status, 'done')
    await app.run('send', { session: result.session_id, text: EVERYTHING })
    await app.run('enqueue', { prompt: EVERYTHING, key: 'k' })
    await app.run('state show', {})
    await assert.rejects(app.run('queue show', { id: SECRET_SHAPES.token }), /‹secret:token›|‹secret:\w+›/)
    const answers = await Promise.all(
      [
        ...['status', 'queue/list', 'sessions/list', 'memory/list', 'state/show', 'state/log', 'secrets/list'],
        ...['trace/list', `trace/show?run=${result.dispatch_id}&events=true`, `sessions/show?id=${result.session_id}`],
        `queue/show?id=${encodeURIComponent(SECRET_SHAPES.token ?? '')}`,
      ].map(async (path) => (await sendRequest(its, `/api/v1/${path}`, { headers: its.bearer })).text),
    )
    const backup = join(freshFolder(t, 'backup'), 'made')
    await app.run('backup', { dir: backup })
    const said = JSON.stringify([result, told, answers, live.messages])
    await app.close()
    assert.deepEqual(heldBy(said, NEEDLES), [])
    assert.deepEqual(holding(home, NEEDLES), [])
    assert.deepEqual(holding(backup, NEEDLES), [])
    assert.ok(!existsSync(join(backup, 'secrets.json')))
    // Everything was there to be found.
    for (const name of Object.keys(SECRET_SHAPES)) assert.ok(said.includes(`‹secret:${name}›`), name)
    const file = globSync(join(home, 'workspaces/*/keys.txt')).map((path) => readFileSync(path, 'utf8'))
    assert.ok(file[0]?.includes('‹secret:token›'), 'what is done is what is journalled')
  })

  test('nor in STATE.md, its mirror, what people are sent, and what the command line says', async (t) => {
    const chat = chatChannel()
    const yaml = JSON.stringify({
      server: { port: 0 },
      kernel: { channel: 'chat', chat_id: 'c', agents: [{ agent_id: 'a', prompt: `work ${EVERYTHING}` }] },
    })
    const { app, home } = await leaking(t, { channels: [chat], yaml } as never)
    const cycle = await app.run('once', {})
    await app.close()
    assert.equal(chat.received.length, 1)
    const said = await Promise.all(
      [['logs'], ['cycles', 'list'], ['trace', 'list'], ['state', 'show'], ['notices', 'list'], ['status']].map(
        async (words) => (await tireless(home, ...words)).stdout,
      ),
    )
    const mirror = await run('git', ['--git-dir', join(home, 'versions/kernels/default.git'), 'log', '-p'])
    assert.ok(mirror.stdout.includes('‹secret:'), 'the mirror has what the agent wrote')
    assert.deepEqual(heldBy(JSON.stringify([cycle, chat.received, said, mirror.stdout]), NEEDLES), [])
    // The owner's own configuration is theirs.
    assert.deepEqual(
      holding(home, NEEDLES).filter((found) => !found.startsWith('tireless.yaml')),
      [],
    )
  })

  test('I4: what is journalled is what went on: a replay comes to the same', async (t) => {
    const { app } = await leaking(t)
    const { dispatch_id } = await runTaskIn(app, `use ${EVERYTHING}`)
    await plant(app, { LATER: 'nothing more than that 1' })
    const replayed = (await app.run('replay', { run: dispatch_id })) as { identical: boolean }
    assert.equal(replayed.identical, true)
  })
})

describe('case 136: a secret is hidden', () => {
  const SECRET = 'straddling-secret-0123456789'

  test('before a long result is cut: no half of it is left', async (t) => {
    const long = defineTool<object>({
      name: 'long',
      description: 'Tells much.',
      args: z.object({}),
      effect: () => ({ recovery: 'pure', reach: 'none' }),
      // Wherever the cut is, it goes through one.
      run: async () => ({ status: 'ok', content: `${SECRET} `.repeat(6000) }),
    })
    const app = await openApp(t, { model: scriptedModel([call('long', {}), { text: 'done' }]), tools: [long] })
    await plant(app, { A: SECRET })
    const journal = JSON.stringify(await journalOf(app, (await runTaskIn(app)).session_id))
    assert.match(journal, /characters left out/)
    assert.doesNotMatch(journal, /straddl|0123456789/)
  })

  test('in every answer, also where it was written down before anybody knew that it is one', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: `it is ${SECRET}` }]) })
    const { session_id, answer } = await runTaskIn(app)
    assert.equal(answer, `it is ${SECRET}`)
    await plant(app, { A: SECRET })
    assert.doesNotMatch(JSON.stringify(await app.run('sessions show', { id: session_id })), /straddl/)
  })

  test('while it is said, also across the pieces in which it comes', async (t) => {
    const model = scriptedModel([{ text: `it is ${SECRET}.` }])
    const inPieces: typeof model = {
      ...model,
      async call(request, options) {
        const answer = await model.call(request, { ...options, onText: () => {} })
        for (const letter of answer.text) options.onText?.(letter)
        return answer
      },
    }
    const app = await openApp(t, { model: inPieces })
    await plant(app, { A: SECRET })
    let said = ''
    await app.run('run', { task: 'x' }, (progress) => {
      if (progress.kind === 'delta' && progress.delta.kind === 'text') said += progress.delta.text
    })
    assert.equal(said, 'it is ‹secret:A›.')
  })
})

describe('keys that nobody put under a name', () => {
  test('case 60: of the configuration, the environment and the home are hidden all the same', async (t) => {
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
    const said = await commandLine(['run', task, '--json'], { env })
    assert.equal(said.exit, 0, said.stderr)
    assert.deepEqual(
      holding(home, keys).filter((found) => !/^(tireless\.yaml|script\.json)/.test(found)),
      [],
    )
    const made = globSync(join(home, 'workspaces/*/made.md')).map((path) => readFileSync(path, 'utf8'))
    assert.match(made[0] ?? '', /‹secret:SOME_TOKEN› chat-number-12345 required/, 'what only may be one is left')
  })
})

describe('secrets set, list, remove', () => {
  test('a value is read from the standard input, a variable or a file, and never said', async (t) => {
    const home = freshFolder(t)
    const set = (args: readonly string[], input = '', env = {}) =>
      commandLine(['secrets', 'set', ...args, '--home', home, '--json'], { input, env })
    writeFileSync(join(home, 'key.pem'), SECRET_SHAPES.pem ?? '')
    const said = [
      await set(['PIPED', '--to', 'api.example.com, Other.example'], 'from-a-pipe-123\n'),
      await set(['VARIABLE', '--from-env', 'MINE'], '', { MINE: 'from-a-variable-123' }),
      await set(['FILE', '--from-file', join(home, 'key.pem')]),
    ]
    for (const { exit, stderr } of said) assert.equal(exit, 0, stderr)
    const listed = await tireless(home, 'secrets', 'list')
    assert.match(listed.stdout, /PIPED +\d{4}-.* +api\.example\.com, other\.example/)
    assert.doesNotMatch(JSON.stringify([said, listed]), /-123|[A-Za-z0-9+/]{60}/)
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

  test('one that is too short, no text or badly named is refused, and says nothing of it', async (t) => {
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

  test('a file that others can read is refused with its remedy, and doctor mends it', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await plant(app, { A: 'long enough 1' })
    await app.close()
    chmodSync(join(home, 'secrets.json'), 0o640)
    const { exit, stderr } = await tireless(home, 'status')
    assert.equal(exit, 1)
    assert.match(stderr, /other users can read the secrets \(mode 0640\).*do this: chmod 600 /)
    await tireless(home, 'doctor', '--fix')
    assert.equal((await tireless(home, 'status')).exit, 0)
  })

  test('beside a start they are set in it: what it tells from then on is without them', async (t) => {
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

  test('a backup has them only where it is asked to; a restore keeps those that the backup lacks', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await plant(app, { A: 'as it was then 1' })
    const [without, within] = ['without', 'with'].map((name) => join(freshFolder(t, 'backup'), name))
    await app.run('backup', { dir: without })
    const { notes } = (await app.run('backup', { dir: within, secrets: true })) as { notes: string[] }
    assert.match(notes.join(), /contains the values of your secrets/)
    await plant(app, { A: 'as it is now 2' })
    await app.close()
    const valueNow = (): string => JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')).secrets.A.value
    assert.equal((await tireless(home, 'restore', without ?? '')).exit, 0)
    assert.equal(valueNow(), 'as it is now 2')
    assert.equal((await tireless(home, 'restore', within ?? '')).exit, 0)
    assert.equal(valueNow(), 'as it was then 1')
  })
})

describe('who is handed a secret', () => {
  const sent: unknown[] = []
  const post = defineTool<{
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
  const sending = async (t: TestContext, args: Json) => {
    sent.length = 0
    const model = scriptedModel([call('post', args), { text: 'done' }])
    const yaml = 'policy: { grants: [{ tool: post, to: ["*"] }] }'
    const app = await openApp(t, { model, yaml, tools: [post] })
    await app.run('secrets set', { name: 'KEY', value: 'real-value-123', to: 'api.example.com' })
    await app.run('secrets set', { name: 'KEPT', value: 'kept-value-123' })
    const { session_id } = await runTaskIn(app)
    const journal = await journalOf(app, session_id)
    const [settled] = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : []))
    return { journal: JSON.stringify(journal), settled }
  }

  test('a tool, in the arguments that it names, for where the owner allows it; the journal says its name', async (t) => {
    const args = {
      headers: { Authorization: 'Bearer secret:KEY', b: '‹secret:KEY›!' },
      note: 'secret:KEY',
      host: 'API.example.com',
    }
    const { journal, settled } = await sending(t, args)
    assert.deepEqual(sent, [{ ...args, headers: { Authorization: 'Bearer real-value-123', b: 'real-value-123!' } }])
    assert.match(settled?.content ?? '', /Bearer ‹secret:KEY›/)
    assert.ok(!journal.includes('real-value'))
    assert.ok(journal.includes('Bearer secret:KEY'))
  })

  for (const [what, args, why] of [
    [
      'elsewhere',
      { headers: { a: 'secret:KEY' }, host: 'evil.example' },
      /KEY may not be sent there; got evil\.example; expected api/,
    ],
    ['nowhere', { headers: { a: 'secret:KEY' } }, /got a call without a destination/],
    ['one that goes nowhere', { headers: { a: 'secret:KEPT' }, host: 'api.example.com' }, /no destination is allowed/],
    ['one that is not there', { headers: { a: 'secret:NONE' }, host: 'api.example.com' }, /no such secret; got NONE/],
  ] as const)
    test(`not a tool that sends it ${what}`, async (t) => {
      const { settled } = await sending(t, args)
      assert.deepEqual([settled?.status, sent], ['error', []])
      assert.match(settled?.content ?? '', why)
    })

  test('a provider and its headers, by the name in the configuration, from the moment it is set', async (t) => {
    const provider = await startProvider(t, [{ text: 'hello' }])
    const home = freshFolder(t)
    const yaml = configFor(provider).replace(
      'base_url',
      'api_key: "secret:PROVIDER", headers: { x: "secret:PROVIDER" }, base_url',
    )
    writeFileSync(join(home, 'tireless.yaml'), yaml)
    assert.match(yaml, /secret:PROVIDER/)
    const app = await openApp(t, { home })
    const before = (await app.run('models list', {})) as { items: { problem: string | null }[] }
    assert.match(before.items[0]?.problem ?? '', /no such secret; got PROVIDER/)
    await plant(app, { PROVIDER: 'provider-key-123' })
    assert.equal((await runTaskIn(app)).answer, 'hello')
    const { items } = (await app.run('secrets list', {})) as { items: SecretEntry[] }
    assert.match(
      items[0]?.used_by.join() ?? '',
      /^models\.providers\.local\.api_key,models\.providers\.local\.headers\.x$/,
    )
  })

  test('no child: it has none in its environment, and what it finds in that of its parent is hidden', async (t) => {
    const home = freshFolder(t)
    const listed = (pid: string): string => `tr '\\0' '\\n' < /proc/${pid}/environ`
    const command = `env; ${listed('self')}; git -c alias.e='!env' e; echo [parent]; ${listed('$PPID')}`
    const provider = await startProvider(t, [call('bash', { command }), { text: 'done' }] as Script)
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    await commandLine(['secrets', 'set', 'A', '--home', home], { input: 'kept-value-123' })
    const env = { OPENAI_API_KEY: 'outside-key-123', TIRELESS_HOME: home }
    const { stdout, exit } = await commandLine(['run', 'look', '--json'], { env })
    assert.equal(exit, 0)
    const app = await openApp(t, { home })
    const journal = await journalOf(app, JSON.parse(stdout).session_id)
    const [printed = ''] = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result.content] : []))
    const [own = '', parent = ''] = printed.split('[parent]')
    assert.match(own, /PATH=/)
    assert.doesNotMatch(own, /OPENAI_API_KEY|-123/)
    assert.match(parent, /OPENAI_API_KEY=‹secret:OPENAI_API_KEY›/)
    assert.doesNotMatch(parent, /-123/)
  })
})
