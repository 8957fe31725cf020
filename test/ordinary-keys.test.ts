/** Keys of the configuration that are ordinary words: they are not redacted, and the owner is told. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tireless } from './support/command-line.ts'
import { type FinishedRun, move, openSecretWork, type SecretWork } from './support/hidden-texts.ts'

const create = (work: SecretWork, path: string, content: string): Promise<FinishedRun> =>
  work.run(move('create_file', { path, content }))

describe('case 60: a key that is an ordinary word', () => {
  const provider = { type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' }

  test('is not redacted, and config check says so', async (t) => {
    const keys = { a: 'ollama', b: 'none', c: 'kubernetes', d: 'x7?k9q', e: 'sk-no-key-required', f: 'xkcdqwrtplmn' }
    const providers = Object.fromEntries(
      Object.entries(keys).map(([name, api_key]) => [name, { ...provider, api_key }]),
    )
    const work = await openSecretWork(t, {}, { settings: { models: { providers } } })
    const words = 'FROM ollama/ollama:latest\n# none kubernetes x7?k9q sk-no-key-required\n'
    await create(work, 'Dockerfile', words)
    assert.equal(work.read('Dockerfile'), words)
    const { results } = await create(work, 'other', 'xkcdqwrtplmn')
    assert.match(results[0]?.content ?? '', /‹secret:models\.providers\.f\.api_key› stands for/)
    const checked = await tireless(work.home, 'config', 'check')
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      assert.match(checked.stdout, new RegExp(`not redacted, .*: models\\.providers\\.${name}\\.api_key`))
    assert.doesNotMatch(checked.stdout, /providers\.f/)
  })

  test('stored with secrets set: a stand-in is refused, any other word is redacted', async (t) => {
    const work = await openSecretWork(t, { PASSWORD: 'kubernetes' })
    for (const value of ['ollama', 'not-needed', 'xxxxxxxx', '<your key>'])
      await assert.rejects(work.app.run('secrets set', { name: 'A', value }), /that is no secret.*leave it out/)
    const { results } = await create(work, 'a', 'kubernetes')
    assert.match(results[0]?.content ?? '', /‹secret:PASSWORD› stands for a text that is hidden/)
  })
})
