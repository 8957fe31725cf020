/** STATE.md: edits by agents with their tools, edits by people with files and commands, and the git mirror. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { stateTools } from '../src/adapters/tools/tools.ts'
import { initDocument } from '../src/app/init-document.ts'
import type { App, AppOptions } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { type Document, MAX_DOCUMENT_BYTES } from '../src/domain/document.ts'
import { renderRuntimeBlock, replaceBlock, textOutsideBlock } from '../src/domain/runtime-block.ts'
import type { Documents } from '../src/ports/documents.ts'
import type { Tool } from '../src/ports/tool.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

const BLOCK = renderRuntimeBlock(
  {
    ...{ updated_at: 'now', cycle_id: 'c1', status: 'success', dispatched: 0, succeeded: 0, failed: 0 },
    ...{ failed_agents: [], agent_summary: '', duration_ms: 1, error: null },
  },
  [],
  5,
)
const OWNER = { author: 'owner', reason: 'test' }
const YAML = 'kernel: { seed_state: "# seed\\n## plan\\n(none)\\n## notes\\n- a\\n" }\n'

const editCall = (args: Record<string, string>): ScriptedStep => ({ calls: [{ tool: 'edit_state', args }] })

async function openWithState(t: TestContext, options: AppOptions & { yaml?: string } = {}) {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: YAML, ...options })
  const file = join(home, 'kernels/default/STATE.md')
  return { home, app, file, documents: app.service('documents'), text: () => fs.readFileSync(file, 'utf8') }
}

/** The results of the tool, one per call. */
async function runAndGetResults(app: App, model: ReturnType<typeof scriptedModel>): Promise<string[]> {
  const { status } = await runTaskIn(app)
  assert.equal(status, 'done')
  return (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role === 'tool').map(({ text }) => text)
}

const modelWithSteps = (...steps: readonly ScriptedStep[]) => scriptedModel([...steps, { text: 'done' }])

test('with `sandbox: off` a pending edit is shown by every command, with the command to accept it', async (t) => {
  const home = freshFolder(t)
  const yaml = 'sandbox: off\nkernel: { channel: console, agents: [{ agent_id: a, prompt: look }] }\n'
  fs.writeFileSync(join(home, 'tireless.yaml'), yaml)
  await tireless(home, 'once')
  fs.appendFileSync(join(home, 'kernels/default/STATE.md'), 'by hand\n')
  const editNotice = /STATE\.md .*edit.* is not in use.*tireless state accept/
  // Each command is a new process that has not read the file before.
  for (const args of [['status', '--json'], ['status'], ['doctor']])
    assert.match((await tireless(home, ...args)).stdout.replaceAll('\n', ' '), editNotice, args.join(' '))
  assert.match((await tireless(home, 'state', 'show')).stdout, /edit is not in use.*tireless state accept/)
  const started = await tireless(home, 'start', '--until-idle')
  assert.match(`${started.stdout}${started.stderr}`.replaceAll('\n', ' '), editNotice, 'start')
  await tireless(home, 'once')
  assert.match((await tireless(home, 'notices', 'list', '--json')).stdout, editNotice, 'a notice')
  await tireless(home, 'state', 'accept')
  for (const args of [['status'], ['doctor']])
    assert.doesNotMatch((await tireless(home, ...args)).stdout, /is not in use/, args.join(' '))
})

describe('read_state, edit_state', () => {
  test('Q9: have the arguments and effects of the contract', () => {
    assert.deepEqual(
      stateTools({} as Documents, () => '').map(({ name, args, effect }) => {
        const { recovery, reach } = effect({} as never)
        return `${name}(${Object.keys(z.toJSONSchema(args, { io: 'input' }).properties ?? {})}) ${recovery} ${reach}`
      }),
      ['read_state() pure none', 'edit_state(old,new,section,text) reconcilable none'],
    )
  })

  test('E2: an agent reads the state without the runtime block, and edits passages and sections', async (t) => {
    const model = modelWithSteps(
      { calls: [{ tool: 'read_state' }] },
      editCall({ old: '(none)', new: 'ship it' }),
      editCall({ section: 'notes', text: '- b\n- c' }),
      editCall({ section: '## risks', text: 'none known' }),
      { calls: [{ tool: 'read_state' }] },
    )
    const { app, documents, text } = await openWithState(t, { model })
    await documents.seed('STATE.md', '# seed\n## plan\n(none)\n## notes\n- a\n')
    await documents.write('STATE.md', (now) => replaceBlock(now, BLOCK), OWNER)
    const [before, , , , after] = await runAndGetResults(app, model)
    assert.equal(before, '# seed\n## plan\n(none)\n## notes\n- a\n')
    assert.equal(after, '# seed\n## plan\nship it\n## notes\n- b\n- c\n## risks\nnone known\n')
    assert.equal(text(), replaceBlock(after ?? '', BLOCK))
    const [latest] = (await documents.versions('STATE.md', 1)) as Document[]
    assert.equal(latest?.author, 'default')
    assert.match(latest?.reason ?? '', /^edit_state \S+$/)
  })

  test('E2: an edit before the first cycle starts from the seed', async (t) => {
    const model = modelWithSteps(editCall({ old: '- a', new: '- b' }))
    const { app, text } = await openWithState(t, { model })
    assert.deepEqual(await runAndGetResults(app, model), ['edited STATE.md'])
    assert.equal(text(), '# seed\n## plan\n(none)\n## notes\n- b\n')
  })

  test('I7: an invalid edit is refused with the reason, and nothing is changed', async (t) => {
    const refused: [Record<string, string>, RegExp][] = [
      [{ old: '- cycle_id: c1', new: 'x' }, /does not occur in STATE\.md; read it with read_state/],
      [{ old: '#', new: 'x' }, /old occurs 5 times, at lines/],
      [{ old: '- a', new: '- a' }, /the same/],
      [{ old: '- a', new: BLOCK }, /contains a marker of the runtime's block/],
      [{ section: 'x', text: '<!-- KERNEL_RUNTIME:END -->' }, /contains a marker/],
      [{ old: '- a', new: 'a\0b' }, /cannot contain a NUL/],
      [{ section: 'a\nb', text: 'x' }, /one line/],
      [{ section: 'plan' }, /either old and new, or section and text/],
      [{ old: 'a', new: 'b', section: 'plan', text: 'x' }, /either old and new, or section and text/],
    ]
    const model = modelWithSteps(...refused.map(([args]) => editCall(args)))
    const { app, documents, text } = await openWithState(t, { model })
    await documents.seed('STATE.md', '# seed\n## plan\n(none)\n## notes\n- a\n')
    await documents.write('STATE.md', (now) => replaceBlock(now, BLOCK), OWNER)
    const before = text()
    const results = await runAndGetResults(app, model)
    for (const [i, [, why]] of refused.entries()) assert.match(results[i] ?? '', why)
    assert.equal(text(), before)
  })

  test('E2: a section ends at the next heading of its level or the block; headings in code do not count', async (t) => {
    const { documents } = await openWithState(t)
    const [, edit] = stateTools(documents, () => '') as unknown as Tool<Record<string, string>>[]
    const editSection = async (text: string, section: string): Promise<string> => {
      await documents.write('STATE.md', () => text, OWNER)
      const context = { call: 'c', origin: { agent_id: 'a', session_id: 's', turn: 1 } } as never
      const result = await edit?.run({ section, text: 'new' }, context)
      return result?.status === 'ok' ? ((await documents.read('STATE.md'))?.text ?? '') : (result?.content ?? '')
    }
    assert.equal(await editSection('# a\n## b\nold\n### c\nold\n\n## d\n', 'b'), '# a\n## b\nnew\n\n## d\n')
    assert.equal(await editSection('## a\n```\n## b\n```\n## b ##\nold', 'b'), '## a\n```\n## b\n```\n## b ##\nnew\n')
    assert.equal(await editSection(`## b\nold\n${BLOCK}\nbehind\n`, 'b'), `## b\nnew\n${BLOCK}\nbehind\n`)
    assert.equal(await editSection('## b', 'b'), '## b\nnew\n')
    assert.match(await editSection('## b\n## b\n', 'b'), /2 sections have the title "b"/)
    const full = `${'x'.repeat(MAX_DOCUMENT_BYTES - 5)}\n`
    assert.match(await editSection(full, 'b'), /STATE\.md: .*too long; got 1048581 bytes; expected at most 1048576/)
  })

  test('E2: after a crash the versions show whether the call took effect', async (t) => {
    const { documents } = await openWithState(t)
    const [, edit] = stateTools(documents, () => '# seed\n') as unknown as Tool<Record<string, string>>[]
    const contextOf = (call: string) => ({ call, origin: { agent_id: 'owner', session_id: 's', turn: 1 } }) as never
    const args = { section: 'plan', text: 'ship it' }
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.0')), { kind: 'not' })
    const result = await edit?.run(args, contextOf('s.1.0'))
    await documents.write('STATE.md', (text) => `${text}more\n`, OWNER)
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.0')), { kind: 'happened', result })
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.1')), { kind: 'not' })
    assert.equal(
      (await documents.versions('STATE.md', 9)).find(({ reason }) => reason.includes('s.1.0'))?.author,
      'agent owner',
    )
  })
})

describe('secrets', () => {
  test('case 136: a secret from an agent or the configuration is in no document, version or commit', async (t) => {
    const secret = 'correct-horse-battery-staple'
    process.env.HORSE_TOKEN = secret
    t.after(() => delete process.env.HORSE_TOKEN)
    const model = modelWithSteps(editCall({ section: 'plan', text: `use ${secret}` }))
    const provider = `{ type: ollama, headers: { x: h-${secret} } }`
    const yaml = `${YAML}models: { default: local/x, providers: { local: ${provider} } }\n`
    const { app, home, documents, text } = await openWithState(t, { model, yaml })
    await runAndGetResults(app, model)
    await documents.seed('INIT.md', `${secret}\n`)
    await documents.write('GOAL.md', () => `the owner may write ${secret}\n`, OWNER)
    await documents.commit('post-cycle c1')
    assert.match(text(), /use \(secret\)/)
    const versions = await Promise.all([1, 2].map((version) => documents.version('STATE.md', version)))
    assert.equal(JSON.stringify(versions).includes(secret), false)
    const git = ['--git-dir', join(home, 'versions/kernels/default.git'), 'log', '-p', '--format=%s']
    const log = execFileSync('git', git, { encoding: 'utf8' })
    assert.match(log, /post-cycle c1[\s\S]*the owner may write \(secret\)/)
    assert.equal(log.includes(secret), false)
  })

  test('E3: INIT.md lists schedule, routing, agents with their prompts, and the seed', (t) => {
    const file = join(freshFolder(t), 'tireless.yaml')
    fs.writeFileSync(
      file,
      'kernel:\n  schedule: "@hourly"\n  channel: lark\n  chat_id: c-7\n  seed_state: "a ``` b"\n' +
        '  agents:\n    - { agent_id: scout, prompt: "look at {STATE}", priority: 7 }\n',
    )
    const text = initDocument(loadConfig({ file, required: true }))
    for (const line of ['- schedule: "@hourly"', '- channel: lark', '- chat_id: c-7', '### scout', '- priority: 7'])
      assert.ok(text.includes(`${line}\n`), line)
    assert.ok(text.includes('\n    look at {STATE}\n'))
    assert.ok(text.includes('\n## seed_state\n    a ``` b\n'))
  })
})

describe('git around the home', () => {
  test('case 121: git variables and a home inside another repository: only the mirror is changed', async (t) => {
    const outer = freshFolder(t, 'outer')
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', outer, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' })
    git('init', '-q', '-b', 'main')
    fs.writeFileSync(join(outer, 'precious'), 'precious')
    git('add', '-A')
    git('commit', '-qm', 'precious')
    const before = [git('rev-parse', 'HEAD'), git('ls-files', '-s'), fs.readFileSync(join(outer, '.git/index'), 'hex')]
    const poison = {
      ...{ GIT_DIR: join(outer, '.git'), GIT_WORK_TREE: outer, GIT_INDEX_FILE: join(outer, '.git/index') },
      ...{
        GIT_OBJECT_DIRECTORY: join(outer, '.git/objects'),
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.worktree',
      },
      ...{ GIT_CONFIG_VALUE_0: outer, GIT_AUTHOR_NAME: 'Evil', GIT_COMMITTER_NAME: 'Evil' },
    }
    const home = join(outer, 'home')
    fs.mkdirSync(home)
    Object.assign(process.env, poison)
    try {
      const app = await openApp(t, { home })
      const documents = app.service('documents')
      await documents.seed('STATE.md', '# seed\n')
      await documents.commit('pre-cycle c1')
      await documents.write('STATE.md', (text) => replaceBlock(text, BLOCK), OWNER)
      await documents.commit('post-cycle c1')
      assert.equal(documents.degraded(), null)
      await app.close()
    } finally {
      for (const key of Object.keys(poison)) delete process.env[key]
    }
    const after = [git('rev-parse', 'HEAD'), git('ls-files', '-s'), fs.readFileSync(join(outer, '.git/index'), 'hex')]
    assert.deepEqual(after, before)
    const mirror = ['--git-dir', join(home, 'versions/kernels/default.git'), 'log', '--format=%s by %an']
    assert.equal(git(...mirror), 'post-cycle c1 by Tireless\npre-cycle c1 by Tireless\n')
  })

  test('E10, E11: without git or without the folder, work continues and status says so', async (t) => {
    const { PATH } = process.env
    const { app, home, documents } = await openWithState(t)
    await documents.seed('STATE.md', '# seed\n')
    process.env.PATH = '/nowhere'
    const other = await openApp(t, { home: freshFolder(t) }).finally(() => {
      process.env.PATH = PATH
    })
    await other.service('documents').seed('STATE.md', '# seed\n')
    await other.service('documents').commit('pre-cycle c1')
    const degraded = async (opened: App): Promise<string> => (await opened.run('status', {})).degraded.join('\n')
    assert.match(await degraded(other), /the git mirror of the documents failed: .*ENOENT/)
    fs.renameSync(join(home, 'kernels'), join(home, 'kernels.away'))
    fs.writeFileSync(join(home, 'kernels'), '')
    await documents.write('STATE.md', () => '# changed\n', OWNER)
    assert.match(await degraded(app), /STATE\.md cannot be used .*fallback\/kernels\/default\/STATE\.md/)
    fs.rmSync(join(home, 'kernels'))
    fs.renameSync(join(home, 'kernels.away'), join(home, 'kernels'))
    await documents.read('STATE.md')
    assert.doesNotMatch(await degraded(app), /STATE\.md/)
  })
})

describe('state show, log, diff, revert, accept', () => {
  test('E2: show, log, diff and revert versions', async (t) => {
    const { home, app, documents, file } = await openWithState(t)
    await assert.rejects(app.run('state show', {}), {
      code: 'not_found',
      message: /STATE\.md does not exist yet.*tireless start/,
    })
    await documents.seed('STATE.md', '# seed\n')
    await documents.write('STATE.md', (text) => replaceBlock(text, BLOCK), {
      author: 'system',
      reason: 'cycle',
      cycle_id: 'c1',
    })
    fs.appendFileSync(file, 'by the owner\n')
    const shown = await app.run('state show', {})
    assert.deepEqual([shown.version, shown.author, shown.pending], [3, 'owner', false])
    assert.equal(textOutsideBlock(shown.text), '# seed\n\nby the owner\n')
    assert.equal((await app.run('state show', { version: '1' })).text, '# seed\n')
    await assert.rejects(app.run('state show', { version: 9 }), { code: 'not_found', message: /state log/ })
    const { items } = await app.run('state log', {})
    assert.deepEqual(
      items.map(({ version, author, cycle_id }) => [version, author, cycle_id]),
      [
        [3, 'owner', null],
        [2, 'system', 'c1'],
        [1, 'system', null],
      ],
    )
    const { diff } = await app.run('state diff', { from: 1, to: 2 })
    assert.match(diff, /\+## kernel_runtime\n/)
    const reverted = await app.run('state revert', { version: 1 })
    assert.deepEqual([reverted.version, reverted.reason], [4, 'back to version 1'])
    await app.close()
    assert.equal(textOutsideBlock((await tireless(home, 'state', 'show')).stdout), '# seed\n')
    assert.equal(textOutsideBlock(fs.readFileSync(file, 'utf8')), '# seed\n')
    const diffed = await tireless(home, 'state', 'diff')
    assert.match(diffed.stdout, /^--- STATE\.md \(version 3\)\n[\s\S]*\n-by the owner\n$/)
    const wrong = await tireless(home, 'state', 'show', 'x')
    assert.deepEqual([wrong.exit, /version/.test(wrong.stderr)], [2, true])
  })

  test('E2: without a sandbox an edit needs `state accept`, also of the goal; `state revert` drops it', async (t) => {
    const { home, app, documents, file } = await openWithState(t, { yaml: 'sandbox: off\n' })
    await documents.seed('STATE.md', '# seed\n')
    fs.appendFileSync(file, 'by whom?\n')
    fs.writeFileSync(join(home, 'kernels/default/GOAL.md'), 'the goal\n')
    const shown = await app.run('state show', {})
    assert.deepEqual([shown.text, shown.pending], ['# seed\n', true])
    assert.match((await app.run('state diff', {})).diff, /\(the file\)\n.*\n # seed\n\+by whom\?\n$/)
    assert.equal(await documents.read('GOAL.md'), undefined)
    const { degraded } = await app.run('status', {})
    assert.match(degraded.join('\n'), /STATE\.md was edited.*GOAL\.md was edited/)
    assert.deepEqual(await app.run('state accept', {}), {
      items: [
        { name: 'STATE.md', outcome: 'taken' },
        { name: 'GOAL.md', outcome: 'taken' },
      ],
    })
    assert.equal((await documents.read('STATE.md'))?.text, '# seed\nby whom?\n')
    assert.equal((await documents.read('GOAL.md'))?.text, 'the goal\n')
    fs.appendFileSync(file, 'again\n')
    await app.run('state revert', {})
    assert.equal(fs.readFileSync(file, 'utf8'), '# seed\nby whom?\n')
    assert.deepEqual(await app.run('state accept', {}), { items: [] })
  })
})
