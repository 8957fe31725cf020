/** Answers that are not what the page expects, as from a broken proxy: one place fails, never the page. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { call, LETTER } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { findSerious } from '../support/page-checks.ts'
import { openTalkPage } from '../support/talk-page.ts'

const INTERNAL = { error: { code: 'internal', message: 'an internal error' } }
const GARBAGE = ['null', '{}', '{"items":null}', '{"items":[null]}', '{"items":']

describe('the page, when answers are garbage', { skip: WITHOUT_CHROMIUM, timeout: 120_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('a place that cannot be drawn says so; the others work, and it comes back', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url, { locale: 'zh-CN' })
    await page.goto(loginAt(served.login_url, '/settings/channels'))
    await waitUntilLive(page)
    await page.route('**/api/v1/channels/list*', (route) => route.fulfill({ json: { items: [null] } }))
    await page.reload()
    const failed = page.locator('[data-place-failed]')
    await failed.getByText('无法显示这一页').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('link', { name: '此刻' }).first().click()
    await page.locator('[data-state]').first().waitFor()
    await page.goBack()
    await failed.waitFor()
    await page.unroute('**/api/v1/channels/list*')
    await failed.getByRole('button', { name: '重试' }).click()
    await page.locator('[data-channel], [data-channels]').or(page.getByText('飞书').first()).first().waitFor()
    assert.equal(await failed.count(), 0)
  })

  for (const path of ['messages/list', 'status', 'approvals/list', 'unknowns/list', 'queue/list', 'cycles/list'])
    test(`whatever ${path} answers, the owner can go to another place and back`, async (t) => {
      const served = await openTalkPage(t)
      const { page } = await openTab(browser, served.url)
      await page.goto(served.login_url)
      await waitUntilLive(page)
      for (const body of GARBAGE) {
        await page.route(`**/api/v1/${path}*`, (route) => route.fulfill({ body, contentType: 'application/json' }))
        const answered = page.waitForResponse(`**/api/v1/${path}*`)
        await page.reload()
        await answered
        for (const place of ['Needs you', 'Now', 'Talk']) {
          await page.getByRole('link', { name: place }).first().click()
          await page.locator('main h1').first().waitFor({ state: 'attached' })
          await waitUntil(async () => (await page.title()).includes(`${place} · `))
        }
        await page.unroute(`**/api/v1/${path}*`)
      }
      await page.reload()
      await waitUntilLive(page)
      await page.getByRole('textbox').waitFor()
    })

  test('one failed request hides nothing that waits for the owner: it is read again', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ calls: [call('send', LETTER)] }) })
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    await waitUntil(async () => (await served.app.run('approvals list', { status: 'open' })).items.length === 1)
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await waitUntilLive(page)
    for (const path of ['status', 'queue/list', 'approvals/list', 'unknowns/list', 'needs/list', 'cycles/list']) {
      let failed = 0
      await page.route(`**/api/v1/${path}*`, (route) => {
        failed += 1
        return failed === 1 ? route.fulfill({ status: 500, json: INTERNAL }) : route.continue()
      })
      await page.reload()
      await page.locator('[data-need=approval]').waitFor()
      await waitUntil(async () => (await page.title()).startsWith('(1) '))
      // Read again; the status may also come with the events.
      await waitUntil(() => failed > 1 || path === 'status')
      await waitUntilLive(page)
      await page.unroute(`**/api/v1/${path}*`)
    }
    // Other viewers have all the connections for events.
    await page.route('**/api/v1/events', (route) => route.fulfill({ status: 503, json: INTERNAL }))
    await page.reload()
    await page.locator('[data-connection=lost]').waitFor()
    await page.locator('[data-need=approval]').waitFor()
  })

  test('what cannot be read is not said to be empty, and the owner can write all the same', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    const refuse = (path: string) => page.route(path, (route) => route.fulfill({ status: 500, json: INTERNAL }))
    for (const path of ['messages/list', 'approvals/list', 'status']) await refuse(`**/api/v1/${path}*`)
    await page.goto(served.login_url)
    await page.locator('[data-connection=incomplete]').waitFor()
    await page.locator('[data-not-read]').waitFor()
    await page.getByRole('textbox').fill('Write the figures')
    await page.keyboard.press('Enter')
    await waitUntil(async () => (await served.app.run('messages list', { chat: 'page' })).items.length === 1)
    await page.getByRole('link', { name: 'Needs you' }).first().click()
    await page.locator('[data-not-read]').waitFor()
    assert.equal(await page.locator('[data-needs=none]').count(), 0)
    await page.unrouteAll()
    await page.locator('[data-needs=none]').waitFor()
    await waitUntilLive(page)
  })
})
