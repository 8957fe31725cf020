/** Channels and plugins in the place Settings: added, tested, approved and removed in a browser. */

import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { respondWith, startHookServer } from '../support/hook-server.ts'
import { greeterFiles, manifestOf, pluginHome } from '../support/plugin-homes.ts'
import { assertSound, assertSoundOnPhone, confirmIn, openSettings, unexpected } from '../support/settings-page.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const TOKEN = 'tok-marmalade-7731-for-breakfast'
const YAML = '# mine\nserver: { port: 0 }\nsandbox: off\n'

describe('connections in Settings', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('E12, case 136: a channel is added with its secret, tested, paired and removed', async (t) => {
    const hook = await startHookServer(t)
    const settings = await openSettings(t, browser, 'channels', { yaml: YAML })
    const { page, app, home } = settings
    const yaml = (): string => readFileSync(join(home, 'tireless.yaml'), 'utf8')
    await page.getByText('Notices are sent nowhere yet.').waitFor()
    await page.getByRole('button', { name: 'Add a channel' }).click()
    const form = page.getByRole('form', { name: 'Add a channel' })
    await form.getByLabel('Kind').selectOption('webhook')
    await form.getByRole('button', { name: 'Test and add it' }).click()
    await form.getByText('This is needed.').waitFor()
    await form.getByLabel('Address').fill('ftp://nowhere')
    await form.getByLabel('Shared secret').fill(TOKEN)
    await form.getByRole('button', { name: 'Test and add it' }).click()
    await form.getByText(/begins with http/).waitFor()
    assert.equal(yaml(), YAML)
    await form.getByLabel('Address').fill(hook.url)
    await form.getByRole('button', { name: 'Test and add it' }).click()
    await page.locator('[data-toast=live]').getByText('Webhook was added.').waitFor()
    assert.match(yaml(), /^# mine\n[\s\S]*secret: secret:WEBHOOK_SECRET/)

    const webhook = page.locator('[data-entry=webhook]')
    await webhook.getByRole('button', { name: 'Test' }).click()
    await page.locator('[data-toast=live]').getByText('The test message was delivered').waitFor()
    assert.match(hook.received[0]?.body ?? '', /test message/)
    hook.answer = respondWith(500)
    await webhook.getByRole('button', { name: 'Test' }).click()
    await webhook.getByText(/not delivered: The address answered with status 500/).waitFor()
    await webhook.getByRole('button', { name: 'Pair a chat' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^\/pair \S+$/)
      .waitFor()
    await assertSound(page, 'pairing')
    await confirmIn(page, 'Close')
    await app.run('channels pair', { name: 'webhook', chat: PAYLOAD })
    await page.reload()
    await page.getByRole('list', { name: 'Paired chats' }).waitFor()
    await assertSound(page, 'channels')
    await assertSoundOnPhone(settings, ['channels'])
    await page.getByRole('button', { name: 'Unpair' }).click()
    await confirmIn(page, 'Unpair')
    await page.getByRole('list', { name: 'Paired chats' }).waitFor({ state: 'detached' })

    assert.ok(!(await page.content()).includes(TOKEN))
    await webhook.getByRole('button', { name: 'Remove' }).click()
    await confirmIn(page, 'Remove')
    await page.locator('[data-toast=live]').getByText('Webhook was removed.').waitFor()
    assert.deepEqual((await app.run('secrets list', {})).items, [])
    assert.deepEqual(unexpected(settings.complaints), [])
  })

  test('a plugin is added and approved only as it was reviewed, with its hash', async (t) => {
    const manifest = manifestOf({ version: PAYLOAD.slice(0, 64), needs: { secrets: [] } })
    const home = pluginHome(t, greeterFiles({ 'tireless-plugin.json': manifest }), YAML)
    const settings = await openSettings(t, browser, 'plugins', { home, yaml: YAML })
    const { page, app } = settings
    await page.getByLabel('File, folder or installed npm package').fill('./plugins/greeter')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It runs inside Tireless, with all your rights.').waitFor()
    await assertSound(page, 'the review of a plugin')
    const digest = await dialog.locator('[data-digest]').textContent()
    appendFileSync(join(home, 'plugins/greeter/index.ts'), '// changed meanwhile\n')
    await confirmIn(page, 'Add it and approve these files')
    await dialog.getByText(/the plugin changed since you reviewed it/i).waitFor()
    assert.deepEqual((await app.run('plugins list', {})).items, [])
    await confirmIn(page, 'Cancel')

    await page.getByRole('button', { name: 'Look at it' }).click()
    await dialog.locator('[data-digest]').waitFor()
    assert.notEqual(await dialog.locator('[data-digest]').textContent(), digest)
    await confirmIn(page, 'Add it and approve these files')
    await page.locator('[data-toast=live]').getByText('greeter was added.').waitFor()
    const entry = page.locator('[data-entry=greeter]')
    await entry.getByText('approved; loaded at the next start').waitFor()
    appendFileSync(join(home, 'plugins/greeter/index.ts'), '// changed again\n')
    await page.reload()
    await entry.getByRole('button', { name: 'Review and approve' }).click()
    await confirmIn(page, 'Approve these files')
    await entry.getByText('approved; loaded at the next start').waitFor()
    await assertSound(page, 'plugins')
    await assertSoundOnPhone(settings, ['plugins'])
    await entry.getByRole('button', { name: 'Remove' }).click()
    await confirmIn(page, 'Remove')
    await page.getByText('There are none. To write one').waitFor()
    assert.match(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /^# mine\n/)
    assert.deepEqual(unexpected(settings.complaints), [])
  })
})
