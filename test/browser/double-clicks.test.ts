/** Clicks and keys that come twice, and what is written while a message is on its way. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openAgentsApp, openAgentsTab } from '../support/agents-page.ts'
import { call } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

/** As in page-state.ts. */
const DOUBLE_CLICK_MS = 500
const AGENT = 'kernel:\n  agents:\n    - { agent_id: morning, prompt: "Write the report" }\n'

describe('what comes twice', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('a double click on a button does its work once', async (t) => {
    const served = await openAgentsApp(t, AGENT)
    const { page } = await openAgentsTab(browser, served)
    const row = page.locator('[data-agent=morning]')
    const button = row.getByRole('button', { name: 'Run now' })
    // Not with the mouse, whose clicks may be far apart on a busy machine.
    await button.evaluate((element: { click(): void }) => {
      element.click()
      element.click()
    })
    await page.locator('[data-toast=live]').getByText('morning starts.').waitFor()
    await row.getByRole('link', { name: /done/ }).waitFor()
    const listStatuses = async () =>
      (await served.app.run('queue list', { agent: 'morning' })).items.map(({ status }) => status)
    assert.deepEqual(await listStatuses(), ['done'])
    // Timers of a page come in order, so this one ends after that of the first click.
    await page.evaluate(`new Promise((over) => setTimeout(over, ${DOUBLE_CLICK_MS}))`)
    await button.click()
    await waitUntil(async () => (await listStatuses()).join() === 'done,done')
  })

  test('Needs you: Enter twice sends an answer once; what is written meanwhile stays', async (t) => {
    let asked = 0
    const served = await openTalkPage(t, {
      work: () => {
        asked += 1
        return asked === 1 ? { calls: [call('ask_user', { question: 'Which city?' })] } : { text: 'done' }
      },
    })
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    const field = page.locator('[data-need=question] input')
    await field.fill('Paris')
    const sent: string[] = []
    const release = Promise.withResolvers<void>()
    await page.route('**/api/v1/send', async (route) => {
      sent.push((route.request().postDataJSON() as { text: string }).text)
      await release.promise
      await route.abort()
    })
    const requested = page.waitForRequest('**/api/v1/send')
    await field.press('Enter')
    await field.press('Enter')
    await requested
    await field.fill('or Rome')
    release.resolve()
    await waitUntil(async () => (await field.inputValue()) === 'Paris or Rome')
    assert.deepEqual(sent, ['Paris'])
  })
})
