/**
 * The bash tool of agents: offered only with a working sandbox, keeps its folder between calls, and streams its output.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { Delta } from '../../src/domain/event.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { createHome, waitForExit } from '../support/command-line.ts'
import { freshFolder, journalOf, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const bash = (command: string) => ({ calls: [{ tool: 'bash', args: { command } }] })
const final = { text: 'done' }

/** Removes bubblewrap from the PATH. */
function withoutBubblewrap(t: TestContext): void {
  const { PATH } = process.env
  t.after(() => Object.assign(process.env, { PATH }))
  const folder = freshFolder(t, 'programs')
  for (const name of ['git', 'bash', 'sh', 'sleep'])
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(folder, name))
  process.env.PATH = folder
}

interface Checked {
  readonly name: string
  readonly ok: boolean
  readonly found: string
  readonly remedy: string
}

async function offered(
  t: TestContext,
  yaml: string,
): Promise<{ readonly bash: boolean; readonly notes: readonly string[] }> {
  const model = scriptedModel([final])
  const app = await openApp(t, { model, yaml })
  const notes: string[] = []
  await app.run('run', { task: 'x' }, (progress) => progress.kind === 'note' && notes.push(progress.text))
  const tools = model.requests[0]?.tools.map(({ name }) => name) ?? []
  return { bash: tools.includes('bash'), notes: notes.filter((note) => note.includes('sandbox')) }
}

describe('when bash is offered', () => {
  test('Q8: with a working sandbox it is on by default, without a note', {
    skip: WITHOUT_SANDBOX,
  }, async (t) => {
    for (const yaml of ['', 'sandbox: required']) assert.deepEqual(await offered(t, yaml), { bash: true, notes: [] })
  })

  test('Q8: without a sandbox it is off, and one line says why; the owner can still turn it on', async (t) => {
    withoutBubblewrap(t)
    const off = await offered(t, '')
    assert.deepEqual({ bash: off.bash, notes: off.notes.length }, { bash: false, notes: 1 })
    assert.match(off.notes[0] ?? '', /bash is disabled.*bubblewrap is not installed.*sandbox: off/)
    assert.deepEqual(await offered(t, 'sandbox: off'), { bash: true, notes: [] })
  })

  test('Q8: with an image but no container engine it is off, and one line says why', async (t) => {
    withoutBubblewrap(t)
    const none = await offered(t, 'sandbox_image: debian:12')
    assert.equal(none.bash, false)
    assert.match(none.notes[0] ?? '', /bash is disabled.*neither docker nor podman is installed/)
    const folder = freshFolder(t, 'engine')
    writeFileSync(join(folder, 'podman'), '#!/bin/sh\necho "cannot connect" >&2\nexit 1\n')
    chmodSync(join(folder, 'podman'), 0o755)
    process.env.PATH = `${folder}:${process.env.PATH}`
    const withSilentEngine = await offered(t, 'sandbox_image: debian:12')
    assert.equal(withSilentEngine.bash, false)
    assert.match(withSilentEngine.notes[0] ?? '', /bash is disabled.*podman does not respond: cannot connect/)
  })

  test('Q8: `sandbox: required` refuses to start without a sandbox, and says what to do', async (t) => {
    withoutBubblewrap(t)
    const startWith = async (yaml: string) => (await openApp(t, { yaml })).run('start', { until_idle: true })
    await assert.rejects(
      startWith('sandbox: required'),
      /requires a sandbox.*bubblewrap is not installed.*do this: install the package bubblewrap/,
    )
    await startWith('')
  })

  test('Q8: doctor fails without a sandbox or with one that leaks, and bash is off', {
    skip: WITHOUT_SANDBOX,
  }, async (t) => {
    const check = async (yaml = '') => {
      const { checks } = (await (await openApp(t, { yaml })).run('doctor', {})) as { checks: readonly Checked[] }
      return checks.find(({ name }) => name === 'sandbox')
    }
    assert.match(JSON.stringify(await check()), /"ok":true,"found":"bubblewrap .* self-test passed/)
    const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim()
    const { PATH } = process.env
    t.after(() => Object.assign(process.env, { PATH }))
    const folder = freshFolder(t, 'programs')
    writeFileSync(
      join(folder, 'bwrap'),
      [
        `#!/bin/bash\nargs=()\nfor arg; do [ "$arg" = --unshare-net ] || args+=("$arg");`,
        `done\nexec ${real} "\${args[@]}"\n`,
      ].join(' '),
    )
    chmodSync(join(folder, 'bwrap'), 0o755)
    process.env.PATH = `${folder}:${PATH}`
    const leakySandbox = await check()
    assert.deepEqual(
      { ok: leakySandbox?.ok, namesTheLeak: /opened a connection/.test(leakySandbox?.found ?? '') },
      { ok: false, namesTheLeak: true },
    )
    assert.equal((await offered(t, '')).bash, false)
    withoutBubblewrap(t)
    const none = await check()
    assert.equal(none?.ok, false)
    assert.match(none?.remedy ?? '', /install the package bubblewrap/)
    assert.match(JSON.stringify(await check('sandbox: off')), /"ok":true,"found":"off/)
  })
})

describe('bash in a run', { skip: WITHOUT_SANDBOX }, () => {
  test('Q9: `cd` holds for the next call, also after a restart, and the model is told', async (t) => {
    const home = freshFolder(t)
    const first = await openApp(t, {
      home,
      model: scriptedModel([bash('mkdir -p a/b && cd a'), bash('pwd; cd b'), final]),
    })
    const { session_id } = (await runTaskIn(first)) as { session_id: string }
    const journal = await journalOf(first, session_id)
    const settled = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : []))
    assert.match(settled[0]?.content ?? '', /\[exit 0; now in a\]$/)
    assert.match(settled[1]?.content ?? '', /\/a\n\[exit 0; now in a\/b\]$/)
    assert.deepEqual(settled[1]?.facts, { exit: 0, cwd: 'a/b' })
    await first.close()
    // The three earlier answers are part of the conversation.
    const answers = [bash('pwd; cd /'), bash('pwd'), final]
    const model = scriptedModel((_, turn) => answers[turn - 3] ?? final)
    const second = await openApp(t, { home, model })
    await second.run('send', { session: session_id, text: 'go on' })
    await second.run('start', { until_idle: true })
    const [firstFolder, secondFolder] = model.requests.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)))
    assert.match(firstFolder ?? '', /\/a\/b\\n\[exit 0\]/)
    assert.match(secondFolder ?? '', new RegExp(`workspaces/${session_id}\\\\n\\[exit 0\\]`))
  })

  test('Q9: an agent that removed its own rights to the workspace gets them back', async (t) => {
    const app = await openApp(t, { model: scriptedModel([bash('chmod 000 .'), bash('echo back > in.txt'), final]) })
    const { workspace } = (await runTaskIn(app)) as { workspace: string }
    assert.equal(readFileSync(join(workspace, 'in.txt'), 'utf8'), 'back\n')
  })

  test('Q9: output is streamed while the command runs, and is not stored', async (t) => {
    const app = await openApp(t, {
      model: scriptedModel([
        bash(
          [
            'echo begun; echo what could be the beginning of a secret is held back; until [ -e go ];',
            'do sleep 0.01; done; echo over',
          ].join(' '),
        ),
        final,
      ]),
    })
    const deltas: Delta[] = []
    app.context.listen((progress) => progress.kind === 'delta' && deltas.push(progress.delta))
    const workspace = freshFolder(t, 'work')
    const running = runTaskIn(app, 'x', { workspace })
    await waitUntil(() =>
      deltas.some((delta) => delta.kind === 'output' && delta.tool === 'bash' && delta.text.includes('begun')),
    )
    assert.ok(!deltas.some(({ kind }) => kind === 'result'))
    writeFileSync(join(workspace, 'go'), '')
    const { session_id } = (await running) as { session_id: string }
    assert.ok(!JSON.stringify(await journalOf(app, session_id)).includes('"output"'))
  })

  test('Q8: a command cannot read the token of its home or the files of another session', async (t) => {
    const home = freshFolder(t)
    const model = scriptedModel([
      bash(
        [
          `cat ${home}/token ${home}/tireless.db; ls -A ${home} ${home}/workspaces |`,
          `grep -v -e : -e workspaces; echo over`,
        ].join(' '),
      ),
      final,
    ])
    const app = await openApp(t, { home, model })
    writeFileSync(join(home, 'token'), 'secret-token\n', { mode: 0o600 })
    mkdirSync(join(home, 'workspaces/other'), { recursive: true })
    const { session_id } = (await runTaskIn(app)) as { session_id: string }
    const shown = JSON.stringify(model.requests[1]?.messages.at(-1))
    assert.match(shown, /over/)
    assert.doesNotMatch(shown, /secret-token|other|tireless\.db:? [^N]/)
    assert.ok(shown.includes(session_id))
  })

  test('I4: kill -9 of the program ends its command; the model is told, and it does not run again', async (t) => {
    const home = await createHome(t, [bash('echo begun; touch here; sleep 77.25; touch twice'), { text: 'understood' }])
    const file = join(home, 'tireless.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('sandbox: off', 'sandbox: required'))
    const workspace = freshFolder(t, 'work')
    const victim = spawn(
      process.execPath,
      [...NODE_FLAGS, MAIN, 'run', '--behaviour', 'solo', 'go', '--home', home, '--workspace', workspace],
      { stdio: 'ignore' },
    )
    t.after(() => victim.kill('SIGKILL'))
    await waitUntil(() => existsSync(join(workspace, 'here')))
    victim.kill('SIGKILL')
    await waitForExit(victim)
    const app = await openApp(t, { home })
    await app.run('start', { until_idle: true })
    const { items } = await app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ tool, status }) => ({ tool, status })),
      [{ tool: 'bash', status: 'told_model' }],
    )
    assert.match(items[0]?.output_so_far ?? '', /The command was no longer running.*begun/s)
    assert.equal(existsSync(join(workspace, 'twice')), false)
  })
})

describe('bash and allowed hosts', { skip: WITHOUT_SANDBOX }, () => {
  /** Does the work of curl with bash alone. */
  const get = (url: string): string => `way=\${http_proxy#http://}; exec 5<>/dev/tcp/127.0.0.1/3128
printf 'GET ${url} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n'\\
'Proxy-Authorization: Basic %s\\r\\n\\r\\n' "$(printf %s "\${way%@*}" | base64 -w 0)" >&5
cat <&5`

  async function messagesOfRun(t: TestContext, isPrivate: boolean): Promise<string> {
    const served = createServer((_, response) => response.end('from outside\n'))
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    t.after(() => served.close())
    const { port } = served.address() as AddressInfo
    const diary = defineTool({
      name: 'diary',
      description: 'Reads private notes.',
      args: z.object({}),
      effect: () => ({ recovery: 'pure', reach: 'private' }),
      gives: () => ({ trust: 'untrusted', private: true }),
      run: async () => ({ status: 'ok', content: 'dear diary' }),
    })
    const first = isPrivate ? [{ calls: [{ tool: 'diary' }] }] : []
    const commands = [bash(get(`http://127.0.0.1:${port}/`)), bash(get('http://127.0.0.1:9/'))]
    const model = scriptedModel([...first, ...commands, final])
    const yaml = `policy: { allow_hosts: ["127.0.0.1:${port}"] }`
    await runTaskIn(await openApp(t, { model, yaml, tools: [diary] }))
    return JSON.stringify(model.requests.at(-1)?.messages)
  }

  test('Q8: an allowed host is reached, another is not, and the model is told why', async (t) => {
    const messages = await messagesOfRun(t, false)
    assert.match(messages, /200 OK.*from outside/)
    assert.match(
      messages,
      /403 Forbidden.*\[127\.0\.0\.1:9 was not named; to ask your owner, run the command again .* network: /,
    )
  })

  test('Q8: a session with private and untrusted data reaches no host', async (t) => {
    const messages = await messagesOfRun(t, true)
    assert.match(messages, /dear diary.*403 Forbidden.*was not named/)
    assert.doesNotMatch(messages, /from outside/)
  })
})
