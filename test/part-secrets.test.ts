/** Commands that set up models, servers and channels touch only the secrets that they stored themselves. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { tirelessWith } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const [MINE, NEW, NEWER] = ['key-of-my-own-tool-1', 'key-of-the-provider-2', 'key-of-the-provider-3']
const CLOSED = 'http://127.0.0.1:9/v1'
const PROVIDER = { type: 'openai-compatible', name: 'openai', base_url: CLOSED, model: 'm', untested: true } as const

interface Kept {
  readonly value: string
  readonly to: readonly string[]
}

async function openHome(t: TestContext, yaml = '# mine\n') {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml })
  const secrets = (): Record<string, Kept> => {
    const { secrets: stored } = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as {
      secrets: Record<string, Kept>
    }
    return Object.fromEntries(Object.entries(stored).map(([name, { value, to }]) => [name, { value, to }]))
  }
  return { home, app, secrets, yaml: () => readFileSync(join(home, 'tireless.yaml'), 'utf8') }
}

const OWN = { value: MINE, to: ['api.openai.com'] }

describe('I7: secrets of the owner', () => {
  test('I7: models add takes another name beside one, models remove leaves it', async (t) => {
    const { app, secrets, yaml } = await openHome(t)
    await app.run('secrets set', { name: 'OPENAI_API_KEY', value: MINE, to: 'api.openai.com' })
    const notes: string[] = []
    const added = await app.run('models add', { ...PROVIDER, secret: NEW, keep_default: true }, (progress) => {
      if (progress.kind === 'note') notes.push(`${progress.text} ${progress.zh}`)
    })
    assert.equal(added.secret, 'OPENAI_API_KEY_2')
    assert.match(
      notes.join('\n'),
      /Stored as the secret OPENAI_API_KEY_2: .* stays as it is\. 已存为密钥 OPENAI_API_KEY_2/,
    )
    assert.deepEqual(secrets(), { OPENAI_API_KEY: OWN, OPENAI_API_KEY_2: { value: NEW, to: [] } })
    assert.match(yaml(), /api_key: secret:OPENAI_API_KEY_2\n/)
    await app.run('models add', { ...PROVIDER, secret: NEWER, keep_default: true })
    assert.deepEqual(secrets(), { OPENAI_API_KEY: OWN, OPENAI_API_KEY_2: { value: NEWER, to: [] } })
    const removed = await app.run('models remove', { name: 'openai' })
    assert.equal(removed.secret_removed, true)
    assert.match(readFileSync(removed.kept ?? '', 'utf8'), /api_key: secret:OPENAI_API_KEY_2/)
    assert.deepEqual(secrets(), { OPENAI_API_KEY: OWN })
  })

  test('I7: a key that the owner wrote into the configuration, changed or uses elsewhere stays', async (t) => {
    const own = '# mine\nmodels:\n  providers:\n    openai: { type: openai, api_key: secret:OPENAI_API_KEY }\n'
    const { app, secrets, yaml } = await openHome(t, own)
    await app.run('secrets set', { name: 'OPENAI_API_KEY', value: MINE, to: 'api.openai.com' })
    const left = await app.run('models remove', { name: 'openai' })
    assert.deepEqual([left.secret_removed, left.secrets_left], [false, ['OPENAI_API_KEY']])
    assert.deepEqual(secrets(), { OPENAI_API_KEY: OWN })

    // Stored by models add, then set anew by its owner, with a host.
    await app.run('models add', { ...PROVIDER, name: 'b', secret: NEW, keep_default: true })
    await app.run('secrets set', { name: 'B_API_KEY', value: NEWER, to: 'b.example' })
    assert.equal((await app.run('models remove', { name: 'b' })).secret_removed, false)
    assert.deepEqual(secrets().B_API_KEY, { value: NEWER, to: ['b.example'] })

    // Stored by models add, then used by a server, too.
    await app.run('models add', { ...PROVIDER, name: 'c', secret: NEW, keep_default: true })
    await app.run('mcp add', { ...SERVER, name: 'user', key: NEWER })
    assert.match(yaml(), /secret:MCP_USER\b/)
    assert.equal(secrets().MCP_USER?.value, NEWER)
    const shared = yaml().replace('secret:MCP_USER', 'secret:C_API_KEY')
    writeFileSync(join(app.service('home').root, 'tireless.yaml'), shared)
    app.service('config').refresh()
    const again = await app.run('models add', { ...PROVIDER, name: 'c', secret: NEWER, keep_default: true })
    assert.equal(again.secret, 'C_API_KEY_2', 'the server does not get the new key')
    const removed = await app.run('models remove', { name: 'c' })
    assert.equal(removed.secret_removed, true)
    assert.deepEqual([secrets().C_API_KEY?.value, secrets().C_API_KEY_2], [NEW, undefined])
  })

  test('I7: mcp add and remove, channels add and remove: the same', async (t) => {
    const { home, app, secrets } = await openHome(t)
    await app.run('secrets set', { name: 'MCP_FILES', value: MINE, to: 'api.openai.com' })
    await app.run('secrets set', { name: 'WEBHOOK_SECRET', value: MINE, to: 'api.openai.com' })
    const before = { MCP_FILES: OWN, WEBHOOK_SECRET: OWN }
    assert.equal((await app.run('mcp add', { ...SERVER, untested: false, key: NEW })).added, false)
    assert.deepEqual(secrets(), before, 'a failed test takes back what it stored')
    assert.equal((await app.run('mcp add', { ...SERVER, key: NEW })).secret, 'MCP_FILES_2')
    await app.close()

    const env = { ...process.env, HOOK: NEWER, LANG: 'zh_CN.UTF-8', LC_ALL: '' }
    const hook = await tirelessWith(
      env,
      home,
      'channels',
      'add',
      'webhook',
      '--url',
      CLOSED,
      '--from-env',
      'HOOK',
      '--untested',
    )
    assert.equal(hook.exit, 0, hook.stderr)
    assert.match(hook.stderr, /已存为密钥 WEBHOOK_SECRET_2：WEBHOOK_SECRET 是另一个密钥，保持不变。/)
    assert.deepEqual(secrets(), {
      ...before,
      MCP_FILES_2: { value: NEW, to: [] },
      WEBHOOK_SECRET_2: { value: NEWER, to: [] },
    })
    assert.match(
      (await tirelessWith(env, home, 'channels', 'remove', 'webhook')).stderr,
      /修改前的文件：.*tireless\.yaml\/\d/,
    )
    assert.match(
      (await tirelessWith({ ...env, LANG: 'C' }, home, 'mcp', 'remove', 'files')).stderr,
      /The file as it was before: /,
    )
    assert.deepEqual(secrets(), before)
  })

  test('I7: a change that the configuration refuses leaves every secret as it was', async (t) => {
    const { home, app, secrets } = await openHome(t)
    await app.run('models add', { ...PROVIDER, secret: NEW, keep_default: true })
    const stored = secrets()
    assert.deepEqual(stored, { OPENAI_API_KEY: { value: NEW, to: [] } })
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: [\n')
    const again = { ...PROVIDER, secret: NEWER, keep_default: true }
    await assert.rejects(app.run('models add', again), { code: 'config_invalid' })
    await assert.rejects(app.run('mcp add', { ...SERVER, key: NEWER }), { code: 'config_invalid' })
    await assert.rejects(app.run('channels add', { name: 'webhook', url: CLOSED, secret: NEWER }), {
      code: 'config_invalid',
    })
    assert.deepEqual(secrets(), stored)
  })
})

const SERVER = { name: 'files', command: 'false', sandbox: 'off', key_as: 'TOKEN', untested: true } as const
