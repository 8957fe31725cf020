/** Policy, limits and the kernel's switches in the place Settings. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { commitOne } from '../../src/ports/store.ts'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertSound, confirmIn, openPart, openSettings, unexpected } from '../support/settings-page.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const YAML = '# mine\nserver: { port: 0 }\nsandbox: off\n'

const GRANT = {
  ...{ id: 'grant-1', tool: 'send', agent_id: 'default', session_id: null, args: null },
  ...{ to: [PAYLOAD], granted_at: '2026-01-01T00:00:00.000Z', expires_at: null },
}

describe('care in Settings', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('policy and limits: refused at the field, kept with comments; a grant is revoked', async (t) => {
    const settings = await openSettings(t, browser, 'policy', { yaml: YAML })
    const { page, app, home } = settings
    await commitOne(app.context.store, [{ op: 'grant', grant: GRANT }])
    await page.reload()
    await page.locator('[data-rule=send_other]').getByText('asks you first').first().waitFor()
    await page.getByLabel('Add a host').fill('https://x.example/')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/without scheme or path/)
      .waitFor()
    await page.getByLabel('Add a host').fill('api.example.com')
    await page.keyboard.press('Enter')
    await page.locator('[data-entry="api.example.com"]').waitFor()
    await page.getByLabel('Quiet hours').fill('at night')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/22:00-07:00/)
      .waitFor()
    await page.getByLabel('Quiet hours').fill('22:00-07:00')
    await page.keyboard.press('Enter')
    await waitUntil(async () => (await app.run('policy show', {})).quiet_hours === '22:00-07:00')
    await page.getByLabel('When it has to ask and you do not answer').selectOption('deny')
    await page.locator('[data-rule=send_other]').getByText('refused').first().waitFor()
    await assertSound(page, 'policy')
    await page.locator('[data-entry="grant-1"]').getByRole('button', { name: 'Revoke' }).click()
    await confirmIn(page, 'Revoke')
    await page.locator('[data-toast=live]').getByText('Revoked. The agent asks again.').waitFor()
    assert.deepEqual((await app.run('grants list', {})).items, [])

    await openPart(page, 'Budget')
    await page.getByLabel('A day, in US dollars', { exact: true }).fill('-3')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Enter a number above 0').waitFor()
    await page.getByLabel('A day, in US dollars', { exact: true }).fill('2.5')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=live]').getByText('Saved.').first().waitFor()
    await page.getByLabel('A task, in minutes').fill('')
    await page.keyboard.press('Enter')
    const written = (): string => readFileSync(join(home, 'tireless.yaml'), 'utf8')
    await waitUntil(() => /per_day_usd: 2\.5\n\s+per_dispatch_minutes: null/.test(written()))
    assert.match(written(), /^# mine\n/)
    await assertSound(page, 'budget')
    assert.deepEqual(unexpected(settings.complaints), [])
  })

  test('General pauses, resumes and stops the kernel, and says what is installed where', async (t) => {
    const settings = await openSettings(t, browser, '', { yaml: YAML })
    const { page, app, home } = settings
    await page.getByText(home, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('[data-kernel=paused]').waitFor()
    assert.equal((await app.run('status', {})).kernel.state, 'paused')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('[data-kernel=running]').waitFor()
    await page.getByRole('button', { name: 'Is there a newer version?' }).click()
    await page.getByText(/The newest version is not known: .*checkout/).waitFor()
    await page.getByRole('button', { name: 'Stop …' }).click()
    await page.getByRole('dialog').getByText('tireless start').waitFor()
    await assertSound(page, 'the question before a stop')
    await confirmIn(page, 'Cancel')
    await page.goto(`${settings.url}/settings/nothing`)
    await page.getByText('There is no such part of Settings.').waitFor()
    assert.deepEqual(settings.complaints, [])
  })
})
