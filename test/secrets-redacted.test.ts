/** Secrets that a run tries to leak: they are redacted everywhere. */

import assert from 'node:assert/strict'
import { existsSync, globSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { AppOptions } from '../src/app.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import type { Json } from '../src/domain/json.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { run } from './crash/kills.ts'
import { chatChannel } from './support/chat-kernel.ts'
import { tireless } from './support/command-line.ts'
import { openEventStream, openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from './support/open-app.ts'
import { ENCODINGS, SECRET_SHAPES } from './support/planted-secrets.ts'
import { call, commandLine, setSecrets } from './support/secret-fixtures.ts'

/** Occurrences of the needles in files below a folder, except in the secrets file itself. */
function filesContaining(folder: string, needles: readonly string[]): readonly string[] {
  return globSync('**', { cwd: folder })
    .filter((path) => !/^secrets\.(json$|versions\/)/.test(path) && lstatSync(join(folder, path)).isFile())
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
    await assert.rejects(app.run('queue show', { id: SECRET_SHAPES.token ?? '' }), /‹secret:token(?:#\w+)?›/)
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
    for (const name of Object.keys(SECRET_SHAPES)) assert.match(outputs, new RegExp(`‹secret:${name}(?:#\\w+)?›`))
    assert.deepEqual(globSync(join(home, 'workspaces/*/keys.txt')), [], 'no placeholder is written into a file')
    assert.match(outputs, /create_file was not run: ‹secret:[\w#]+› stands for a text that is hidden from you/)
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
    await commandLine(['run', task, '--json'], { env })
    assert.deepEqual(
      filesContaining(home, keys).filter((found) => !/^(tireless\.yaml|script\.json)/.test(found)),
      [],
    )
    assert.deepEqual(globSync(join(home, 'workspaces/*/made.md')), [], 'no placeholder is written into a file')
    const told = '‹secret:SOME_TOKEN› chat-number-12345 required'
    assert.notDeepEqual(filesContaining(home, [told]), [], 'an ordinary word in a variable must not be redacted')
  })
})
