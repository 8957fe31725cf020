/** What the page draws of answers in the conversation: wide ones on a phone, long ones, many of them. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { assertFitsPhone } from '../support/page-checks.ts'
import { openTalkPage } from '../support/talk-page.ts'

const COLUMNS = ['region', 'orders', 'returned', 'revenue_in_euros', 'responsible_person', 'remarks_of_the_week']
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const WIDE_TABLE = [
  row(COLUMNS),
  row(['---', '--:', ':-:', '--:', '---', '---']),
  row(['north', '12', '3', '1200', 'Alexandra', 'unremarkable']),
].join('\n')

describe('answers in the conversation', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Talk: a wide table scrolls in its own frame on a phone, and its columns keep their alignment', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: WIDE_TABLE }) })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Write the figures')
    await page.getByRole('textbox').press('Enter')
    const cells = page.locator('[data-result] td')
    await cells.first().waitFor()
    await assertFitsPhone(page)
    const alignment = `[...document.querySelectorAll('[data-result] td')].map((cell) => getComputedStyle(cell).textAlign)`
    assert.deepEqual((await page.evaluate<string[]>(alignment)).slice(0, 4), ['left', 'right', 'center', 'right'])
    const run = await page.locator('[data-run-card]').getAttribute('data-run-card')
    await page.goto(`${served.url}/runs/${run}`)
    await page.locator('.prose td').first().waitFor()
    await assertFitsPhone(page)
  })
})
