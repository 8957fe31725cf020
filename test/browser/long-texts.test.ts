/** Files with texts that are hard to lay out: they are shown at once, and the page goes on answering. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { findLongTasks } from '../support/long-tasks.ts'
import { openWorkWeek } from '../support/work-week.ts'

const TEXTS = {
  'hebrew.txt': 'שלום '.repeat(60_000),
  'control.txt': '\u0001'.repeat(300_000),
  'mixed.txt': 'a\u0001b\u00ad'.repeat(75_000),
  'brackets.txt': '‹'.repeat(240_000),
  'lines.txt': 'a\n'.repeat(150_000),
  'word.txt': 'x'.repeat(300_000),
}

/** Parsers of Markdown may need minutes for these. */
const MARKDOWN = {
  'item.md': `- ${'a\n'.repeat(29_000)}`,
  'stars.md': '***a** b '.repeat(6000),
  'quotes.md': '> - '.repeat(14_000),
}

describe('long texts on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: files of 300,000 characters are shown without a long task, and to their end', async (t) => {
    const week = await openWorkWeek(t)
    for (const [name, text] of Object.entries(TEXTS)) writeFileSync(join(week.home, 'workspaces/news', name), text)
    const { page } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/workspaces/news'))
    await waitUntilLive(page)
    const prepare = async (): Promise<void> => {
      await page.goto(`${week.url}/work/workspaces/news`)
      await waitUntilLive(page)
    }
    const content = page.locator('[data-file-content=text]')
    for (const name of Object.keys(TEXTS)) {
      const work = async (): Promise<void> => {
        await page.evaluate(`history.pushState({}, '', '/work/workspaces/news?file=${name}')`)
        await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        await content.waitFor()
        await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
      }
      assert.deepEqual(await findLongTasks(browser, page, { prepare, work }), [], name)
    }
    const more = content.getByRole('button', { name: /^Show more/ })
    while ((await more.count()) > 0) await more.click()
    const shown = await content.locator('pre').evaluate((element) => (element.textContent ?? '').length)
    assert.equal(shown, TEXTS['word.txt'].length)
  })

  test('Work: Markdown that is hard to parse is shown within seconds', async (t) => {
    const week = await openWorkWeek(t)
    for (const [name, text] of Object.entries(MARKDOWN)) writeFileSync(join(week.home, 'workspaces/news', name), text)
    const { page } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/workspaces/news'))
    await waitUntilLive(page)
    for (const name of Object.keys(MARKDOWN)) {
      await page.goto(`${week.url}/work/workspaces/news?file=${name}`)
      const prose = page.locator('.prose')
      await prose.waitFor({ timeout: 10_000 })
      assert.notEqual((await prose.innerText()).trim(), '', name)
    }
  })
})
