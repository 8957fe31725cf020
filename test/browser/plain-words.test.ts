/** What the page says where it once showed comments, contradictions or words of the server. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { findSerious } from '../support/page-checks.ts'
import { openTalkPage } from '../support/talk-page.ts'

/** Contract: what the command answers is changed before the page gets it. */
async function changeAnswer(page: Page, path: string, change: (answer: Record<string, unknown>) => object) {
  await page.route(`**/api/v1/${path}*`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: change((await response.json()) as Record<string, unknown>) })
  })
}

describe('plain words, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Memory: a document of comments only is empty, and says what to write', async (t) => {
    const served = await openTalkPage(t)
    await served.app.run('state edit', {
      document: 'GOAL.md',
      text: '<!-- What your agents\nshould do. -->\n',
      base: 0,
    })
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/memory/goal'))
    const goal = page.locator('[data-document="GOAL.md"]')
    await goal.getByText('Write in a few lines what the work is for').waitFor()
    assert.doesNotMatch(await page.locator('main').innerText(), /<!--/)
    assert.deepEqual(await findSerious(page), [])
  })

  test('Work: an unknown workspace is said in words, with a link to all', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/workspaces/nope'))
    const missing = page.locator('[data-no-workspace]')
    await missing.getByText('There is no such folder').waitFor()
    assert.doesNotMatch(await page.locator('main').innerText(), /expected|do this/)
    await missing.getByRole('link', { name: 'All workspaces' }).click()
    await page.getByText('No agent has worked in a folder yet.').waitFor()
  })

  test('Settings: Budget forecasts what Costs does, and a channel that fails is not ready', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await changeAnswer(page, 'budget/show', (budget) => ({
      ...budget,
      today: { ...(budget.today as object), usd: 2.68, calls: 4 },
      forecast: { day_usd: 2.68, month_usd: 80, days: 3, this_month_usd: 41.5 },
    }))
    await changeAnswer(page, 'channels/list', (list) => ({
      ...list,
      items: (list.items as object[]).map((item) => ({
        ...{ ...item, configured: true, trouble: null, failed: 9, last_error: 'the address answered with 500' },
      })),
    }))
    await page.goto(loginAt(served.login_url, '/settings/budget'))
    await page.getByText('At this rate the month costs about $41.50 by its end.').waitFor()
    await page.goto(`${served.url}/costs`)
    await page.locator('[data-sum=month]').getByText('about $41.50 by its end').waitFor()
    await page.goto(`${served.url}/settings/channels`)
    const entry = page.locator('[data-entry=webhook]')
    await entry.getByText('9 failed').waitFor()
    assert.doesNotMatch(await entry.innerText(), /\bready\b/)
  })
})
