/** Models in the place Settings: a key is pasted, tested, stored and used, and appears nowhere. */

import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { startProviderServer } from '../../src/testing/provider-server.ts'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { readLogs, waitUntil } from '../support/open-app.ts'
import { assertSound, assertSoundOnPhone, openSettings } from '../support/settings-page.ts'

const KEY = 'sk-marmalade-7731-for-breakfast'
const WRONG = 'sk-jam-0042-for-supper-tonight'

/** Every file of the home but the file of secrets. */
const textOf = (home: string): string =>
  readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'secrets.json' && lstatSync(join(home, name)).isFile())
    .map((name) => readFileSync(join(home, name), 'latin1'))
    .join('\n')

describe('models in Settings', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('case 136: a wrong key is explained, the right one is used at once, and neither is ever shown', async (t) => {
    const provider = await startProviderServer({ script: [{ text: 'ready' }], key: KEY })
    t.after(() => provider.close())
    const yaml = '# mine\nserver: { port: 0 }\n'
    const settings = await openSettings(t, browser, 'models', { yaml })
    const { page, app, home } = settings
    const answers: string[] = []
    page.on('response', (response) => {
      if (response.url().includes('/api/v1/') && !response.url().endsWith('/events'))
        void response.text().then(
          (text) => answers.push(`${response.url()} ${text}`),
          () => {},
        )
    })
    await page.getByText('offline/rules').first().waitFor()
    await assertSound(page, 'models')

    await page.getByRole('button', { name: 'Add a model' }).click()
    const form = page.getByRole('form', { name: 'Add a model' })
    await form.getByRole('button', { name: 'Check the key' }).click()
    await form.getByText('Paste the key first.').waitFor()
    await form.getByLabel('Provider').selectOption('openai-compatible')
    assert.equal(await form.getByText('Paste the key first.').count(), 0, 'it was said of another provider')
    await form.getByLabel('Model', { exact: true }).fill('gpt')
    await form.getByRole('button', { name: 'Test and use it' }).click()
    await form.getByText('Enter the address of the server.').waitFor()
    await form.getByLabel('Address').fill(provider.url)
    await form.getByLabel('Name').fill('mine')
    await form.getByLabel(/^API key/).fill(WRONG)
    await form.getByRole('button', { name: 'Check the key' }).click()
    await form.getByText('The provider refuses this key.').waitFor()
    await form.getByRole('button', { name: 'Test and use it' }).click()
    await form.getByText('Nothing was stored.').waitFor()
    await assertSound(page, 'the wizard with an error')
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), yaml)
    assert.deepEqual((await app.run('secrets list', {})).items, [])

    await form.getByLabel(/^API key/).fill(KEY)
    await form.getByRole('button', { name: 'Check the key' }).click()
    await form.getByText('The key works. 1 model is offered').waitFor()
    await form.getByRole('button', { name: 'scripted' }).click()
    assert.equal(await form.getByLabel('Model', { exact: true }).inputValue(), 'scripted')
    await form.getByRole('button', { name: 'Test and use it' }).click()
    await page.locator('[data-toast=live]').getByText('mine/scripted works and is used from now on.').waitFor()
    await page.locator('[data-model-in-use]').getByText('mine/scripted').waitFor()
    await page.getByText('You chose it: it stands in tireless.yaml.').waitFor()
    assert.match(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /^# mine\n/)

    const { dispatch_id } = await app.run('enqueue', { prompt: 'Say the word: ready' })
    await waitUntil(async () => (await app.run('queue show', { id: dispatch_id })).status === 'done')
    assert.equal(provider.requests.at(-1)?.headers.authorization, `Bearer ${KEY}`)
    const trace = JSON.stringify([await app.run('trace show', { run: dispatch_id }), await readLogs(app)])
    for (const key of [KEY, WRONG])
      for (const text of [await page.content(), trace, textOf(home), ...answers]) assert.ok(!text.includes(key))
    assert.ok(answers.length > 5)
    assert.deepEqual(settings.complaints, [])
    await assertSoundOnPhone(settings, ['models'])
  })

  test('roles are checked at their fields; a provider in use stays, another is removed', async (t) => {
    const provider = await startProviderServer({ script: [{ text: 'ready' }] })
    t.after(() => provider.close())
    const providers = { one: { type: 'openai-compatible', base_url: provider.url } }
    const yaml = JSON.stringify({ server: { port: 0 }, models: { default: 'one/scripted', providers } })
    const { page, app } = await openSettings(t, browser, 'models', { yaml })
    const field = (name: string) => page.locator('form').filter({ has: page.getByLabel(name, { exact: true }) })
    await field('Planning').getByLabel('Planning').fill('nobody/m')
    await field('Planning').getByRole('button', { name: 'Save' }).click()
    await field('Planning').getByRole('alert').getByText('Unknown model').waitFor()
    await field('Planning').getByLabel('Planning').fill('one/cheap')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=live]').getByText('Saved. It applies at once.').waitFor()
    assert.equal((await app.run('models list', {})).chosen.planner, 'one/cheap')
    await page.getByRole('button', { name: 'Test', exact: true }).first().click()
    await page.getByText(/It works: it answered in/).waitFor()

    const remove = async (): Promise<void> => {
      await page.locator('[data-entry=one]').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    }
    await remove()
    await page.getByText('The provider is in use for one/scripted, one/cheap').waitFor()
    await app.run('models set', { role: 'default', model: 'none' })
    await app.run('models set', { role: 'planner', model: 'none' })
    await remove()
    await page.locator('[data-toast=live]').getByText('one was removed.').waitFor()
    await page.getByText('None. Keys may also come from variables').waitFor()
  })
})
