/** Tabs in the background: they leave the connections of the browser to others, and still say what waits. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { call, LETTER } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

/** A browser has so many connections to one server, for all tabs together. */
const CONNECTIONS = 6

/** Playwright shows all tabs of a browser at the same time. */
const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`{
    const value = ${isHidden} ? 'hidden' : 'visible'
    Object.defineProperty(document, 'visibilityState', { configurable: true, value })
    document.dispatchEvent(new Event('visibilitychange'))
  }`)

const askToSend = () => ({ calls: [call('send', LETTER)] })

describe('tabs of the page in the background', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('the page: a seventh tab works while six are open in the background', async (t) => {
    const served = await openTalkPage(t)
    const { page: first } = await openTab(browser, served.url)
    await first.goto(served.login_url)
    await waitUntilLive(first)
    const open = async (): Promise<Page> => {
      const page = await first.context().newPage()
      await page.clock.install()
      await page.goto(`${served.url}/now`)
      await waitUntilLive(page)
      return page
    }
    const hidden: Page[] = []
    for (let n = 0; n < CONNECTIONS; n += 1) {
      const page = await open()
      await setHidden(page, true)
      await page.clock.fastForward(20_000)
      hidden.push(page)
    }
    await first.getByRole('textbox').fill('Write the figures')
    await first.keyboard.press('Enter')
    await first.getByText('I start.').waitFor()
    const [shown] = hidden
    assert.ok(shown)
    await setHidden(shown, false)
    await waitUntilLive(shown)
    await shown.locator('[data-finished]').getByText('worked').first().waitFor()
  })

  test('the page: a tab that was opened in the background shows what waits in its title', async (t) => {
    const served = await openTalkPage(t, { work: askToSend })
    const { page } = await openTab(browser, served.url)
    await page.addInitScript(
      "Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' })",
    )
    let streams = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/events')) streams += 1
    })
    await page.clock.install()
    await page.goto(loginAt(served.login_url, '/now'))
    await page.getByRole('heading', { name: 'Now' }).first().waitFor()
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    await waitUntil(async () => {
      await page.clock.fastForward(16_000)
      return (await page.title()).startsWith('(1) ')
    })
    assert.equal(streams, 0)
    await setHidden(page, false)
    await waitUntilLive(page)
    assert.equal(streams, 1)
  })
})
