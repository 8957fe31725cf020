/** The git mirror of STATE.md: no other repository is touched, and no secret is stored. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { initDocument } from '../src/app/init-document.ts'
import type { App } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { replaceBlock } from '../src/domain/runtime-block.ts'
import { freshFolder, openApp } from './support/open-app.ts'
import {
  BLOCK,
  editCall,
  modelWithSteps,
  OWNER,
  openWithState,
  runAndGetResults,
  YAML,
} from './support/state-fixtures.ts'

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
