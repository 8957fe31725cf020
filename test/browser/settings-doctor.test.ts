/** Findings, log and backups in the place Settings. */

import assert from 'node:assert/strict'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertSound, confirmIn, openPart, openSettings, unexpected } from '../support/settings-page.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const YAML = '# mine\nserver: { port: 0 }\nsandbox: off\n'

describe('doctor, log and backups in Settings', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('doctor repairs a finding with one click; the log is searched and followed', async (t) => {
    const settings = await openSettings(t, browser, 'doctor', { yaml: YAML })
    const { page, app, home } = settings
    chmodSync(home, 0o755)
    await page.getByRole('button', { name: 'Check again' }).click()
    const finding = page.locator('[data-finding=privacy]')
    await finding.getByText('Others on this machine could read keys and results.').waitFor()
    await assertSound(page, 'doctor')
    await finding.getByRole('button', { name: 'Fix it' }).click()
    await page.locator('[data-toast=live]').getByText('Fixed.').waitFor()
    await finding.waitFor({ state: 'detached' })

    const log = app.service('log')
    for (let n = 1; n <= 400; n++) log.write('info', `line ${n}`, { message: `${n} ${PAYLOAD}` })
    log.write('error', PAYLOAD, { needle: 'in the haystack', run_id: PAYLOAD })
    await openPart(page, 'Log')
    const rows = page.locator('[data-log]')
    await page.locator('[data-log=error]').waitFor()
    await page.locator('[data-log=error] button').click()
    await assertSound(page, 'log')
    assert.ok((await rows.count()) < 100, 'only the rows near the window are elements')
    await page.getByLabel('Search').fill('no such words')
    await page.getByText('No entry matches.').waitFor()
    await page.getByLabel('Search').fill('HAYSTACK')
    await page.locator('[data-log=error]').waitFor()
    assert.equal(await rows.count(), 1)
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Show').selectOption('error')
    await page.locator('[data-log=info]').first().waitFor({ state: 'detached' })
    log.write('error', 'just now', {})
    await rows.first().getByText('just now').waitFor()
    await page.getByLabel('Show').selectOption('info')
    await page.getByText('line 400', { exact: true }).waitFor()
    const countEntries = async () =>
      Number(await rows.first().locator('xpath=ancestor::li').getAttribute('aria-setsize'))
    const before = await countEntries()
    for (let n = 1; n <= 350; n++) log.write('info', `burst ${n}`, {})
    await page.getByText('burst 350', { exact: true }).waitFor()
    assert.ok((await countEntries()) >= before + 350, 'no entry is left out')
    await waitUntil(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      return page.getByText('line 1', { exact: true }).isVisible()
    })
    assert.deepEqual(unexpected(settings.complaints), [])
  })

  test('a backup is made into a folder, listed, and its restore explained', async (t) => {
    const settings = await openSettings(t, browser, 'backup', { yaml: YAML })
    const { page, home } = settings
    const folder = `${home}-backups`
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await page.getByLabel('New folder').fill(join(home, 'inside'))
    await page.getByRole('button', { name: 'Make it now' }).click()
    await page
      .getByRole('alert')
      .getByText(/cannot be inside the home/)
      .waitFor()
    const dir = join(folder, '<img src=x onerror="window.hacked=8">')
    await page.getByLabel('New folder').fill(dir)
    await page.getByRole('button', { name: 'Make it now' }).click()
    await page.locator('[data-toast=live]').getByText('The backup is complete').waitFor()
    assert.ok(existsSync(join(dir, 'manifest.json')))
    await page.getByRole('button', { name: 'How to restore it' }).click()
    await page
      .getByRole('dialog')
      .getByText(/tireless stop\s+tireless restore '/)
      .waitFor()
    await assertSound(page, 'backup')
    await confirmIn(page, 'Close')
    assert.deepEqual(unexpected(settings.complaints), [])
  })
})
