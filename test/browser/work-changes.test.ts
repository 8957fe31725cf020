/** The place Work: what runs changed in their files, in a real browser. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openHttpApp } from '../support/http-app.ts'
import { assertFitsPhone, assertHarmless, findSerious } from '../support/page-checks.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { PAYLOAD } from '../support/talk-page.ts'

describe('the files of agents, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: what a run changed is shown line by line, in one column or side by side', async (t) => {
    const work = scriptedWork()
    const yaml = `server: { port: 0 }\n${WORK_YAML}`
    const served = await openHttpApp(t, { yaml, model: work.model, tools: [work.tool] })
    const put = (text: string) => (root: string) => writeFileSync(join(root, 'report.md'), text)
    await work.run(served.app, [put('# Report\n\nprice: 10\n')])
    await work.run(served.app, [put(`# Report\n\nprice: 12\n${PAYLOAD}\n`)])
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/workspaces'))
    await page.getByRole('link', { name: /^writer/ }).click()
    await page.getByRole('link', { name: 'What runs changed' }).click()
    await page.getByRole('button', { name: 'Show the changes' }).first().click()
    const change = page.locator('[data-changed-file="report.md"]')
    await change.locator('[data-diff=split]').waitFor()
    await page.getByRole('button', { name: 'One column' }).click()
    await change.locator('[data-diff=unified] [data-line=removed]').getByText('price: 10').waitFor()
    await change.locator('[data-line=added]').getByText('price: 12').waitFor()
    await change.locator('[data-line=added]').getByText('‹U+202E›').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await assertFitsPhone(page)
    assert.deepEqual(complaints, [])
  })
})
