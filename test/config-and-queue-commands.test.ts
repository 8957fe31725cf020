import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { TirelessError } from '../src/domain/error.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { assertNoSecretIn, homeWithSecrets, withKey } from './support/home-with-secrets.ts'
import { freshFolder, openApp, replayIn } from './support/open-app.ts'

interface ExplainedConfig {
  readonly items: readonly { readonly key: string; readonly value: unknown; readonly source: string }[]
}

describe('config', () => {
  test('explain: every value with its source; --key narrows; secrets are shown as (set)', async (t) => {
    const home = freshFolder(t)
    homeWithSecrets(home, 'http://127.0.0.1:9/v1')
    const explained = await withKey(home, 'config', 'explain', '--json')
    assert.equal(explained.exit, 0, explained.stderr)
    assertNoSecretIn(explained.stdout)
    const { items } = JSON.parse(explained.stdout) as ExplainedConfig
    const itemOf = (key: string) => items.find((item) => item.key === key)
    const file = join(home, 'tireless.yaml')
    assert.deepEqual(itemOf('kernel.max_concurrent'), { key: 'kernel.max_concurrent', value: 5, source: `${file}:10` })
    assert.deepEqual(
      { value: itemOf('kernel.id')?.value, source: itemOf('kernel.id')?.source },
      { value: 'house', source: 'env:PLAIN' },
    )
    assert.deepEqual(
      { value: itemOf('budget.per_day_usd')?.value, source: itemOf('budget.per_day_usd')?.source },
      { value: 5, source: 'default' },
    )
    assert.deepEqual(
      {
        value: itemOf('models.providers.three.api_key')?.value,
        source: itemOf('models.providers.three.api_key')?.source,
      },
      { value: '(set)', source: 'env:ONE_KEY' },
    )
    assert.equal(itemOf('models.providers.one.api_key_env')?.value, 'ONE_KEY')
    assert.equal(itemOf('models.providers.two.api_key_file')?.value, join(home, 'key.txt'))
    assert.equal(itemOf('models.providers.three.base_url')?.value, 'http://(set)@127.0.0.1:9/v1')
    for (const key of ['models.providers.one.headers.X-Also', 'mcp_servers.mail.command[3]', 'channels.telegram.bot'])
      assert.equal(itemOf(key)?.value, '(set)', key)
    assert.equal(itemOf('mcp_servers.mail.command[0]')?.value, 'node')

    const narrowed = JSON.parse(
      (await withKey(home, 'config', 'explain', '--key', 'kernel.p', '--json')).stdout,
    ) as ExplainedConfig
    assert.ok(narrowed.items.length > 1)
    assert.ok(narrowed.items.every(({ key }) => key.startsWith('kernel.p')))
    const text = await withKey(home, 'config', 'explain')
    assertNoSecretIn(text.stdout)
    assert.match(text.stdout, /^kernel\.max_concurrent: 5 .*tireless\.yaml:10$/m)
  })

  test('explain and schema work without a home, and create none; an invalid file is refused', async (t) => {
    const home = join(freshFolder(t), 'nowhere')
    assert.equal((await tirelessJson(home, 'config', 'explain')).exit, 0)
    const schema = await tirelessJson<{ properties: Record<string, unknown> }>(home, 'config', 'schema')
    assert.deepEqual(
      Object.keys(schema.properties).filter((key) => ['kernel', 'models', 'budget'].includes(key)).length,
      3,
    )
    assert.equal(
      (await tireless(home, 'config', 'schema')).stdout,
      (await tireless(home, 'config', 'schema', '--json')).stdout,
    )
    assert.equal(existsSync(home), false)
    mkdirSync(home)
    writeFileSync(join(home, 'tireless.yaml'), 'kernle: 1\n')
    assert.equal((await tireless(home, 'config', 'explain')).exit, 1)
  })
})

describe('queue retry, sessions archive', () => {
  test('E6: a failed dispatch is retried and finishes; another is refused with the reason', async (t) => {
    let broken = true
    const model = scriptedModel(() => {
      if (broken) throw new TirelessError('model_refused', 'not today')
      return { text: 'done after all' }
    })
    const app = await openApp(t, { model })
    const { dispatch_id, session_id } = await app.run('run', { task: 'try' })
    const shown = async () => await app.run('queue show', { id: dispatch_id })
    assert.equal((await shown()).status, 'failed')
    broken = false
    const { items } = await app.run('queue retry', { id: dispatch_id })
    assert.deepEqual(items, [{ dispatch_id, was: 'failed', status: 'pending' }])
    await app.run('start', { until_idle: true })
    const after = await shown()
    assert.deepEqual(
      { status: after.status, result: after.result, error: after.error },
      { status: 'done', result: 'done after all', error: null },
    )
    await assert.rejects(app.run('queue retry', { id: dispatch_id }), /is done; only a failed or dead dispatch/)
    await assert.rejects(app.run('queue retry', { id: 'nobody' }), /no such dispatch; got nobody/)
    const replayed = await replayIn(app, dispatch_id)
    assert.equal(replayed.identical, true)
    const archived = await app.run('sessions archive', { id: session_id })
    assert.equal(archived.status, 'archived')
    const countSessions = async (input = {}) => (await app.run('sessions list', input)).items.length
    assert.deepEqual({ open: await countSessions(), all: await countSessions({ all: true }) }, { open: 0, all: 1 })
    await app.run('sessions archive', { id: session_id, undo: true })
    assert.equal(await countSessions(), 1)
  })
})
