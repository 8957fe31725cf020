/** Answers to questions while the connection, the login or another window is in the way. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { call } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

const ask = (question: string) => ({ calls: [call('ask_user', { question })] })

/** Asks the questions one after the other. */
async function openAsked(t: TestContext, questions: readonly string[]) {
  const left = [...questions]
  const served = await openTalkPage(t, {
    work() {
      const question = left.shift()
      return question === undefined ? { text: 'done' } : ask(question)
    },
  })
  await served.app.run('send', { text: 'Tidy up', chat: 'page' })
  const said = async (): Promise<readonly string[]> =>
    (await served.app.run('messages list', { chat: 'page' })).items.map(({ text }) => text)
  return { ...served, said }
}

const question = (page: Page, text: string) => page.locator('[data-need=question]', { hasText: text })

/** The first message arrives, but its answer is lost. */
async function loseFirstAnswer(page: Page): Promise<void> {
  let isFirst = true
  await page.route('**/api/v1/send', async (route) => {
    if (!isFirst) return route.fallback()
    isFirst = false
    await route.fetch()
    await route.abort()
  })
}

describe('answers in trouble', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser.close())

  test('Needs you: the same words answer the next question, although the first answer looked lost', async (t) => {
    const served = await openAsked(t, ['Delete A?', 'Delete B?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await loseFirstAnswer(page)
    await question(page, 'Delete A?').getByRole('textbox').fill('sure')
    await page.keyboard.press('Enter')
    const field = question(page, 'Delete B?').getByRole('textbox')
    await field.waitFor()
    assert.equal(await field.inputValue(), '')
    await field.fill('sure')
    await page.keyboard.press('Enter')
    await page.locator('[data-needs=none]').waitFor()
    assert.deepEqual(await served.said(), ['Tidy up', 'sure', 'sure'])
  })

  test('Needs you: an answer is still there after a login that had expired', async (t) => {
    const served = await openAsked(t, ['Which city?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await question(page, 'Which city?').waitFor()
    await page.context().clearCookies()
    await page.getByRole('textbox').fill('Paris')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await page.goto(loginAt((await served.app.context.serveHttp()).login_url, '/needs-you'))
    const field = question(page, 'Which city?').getByRole('textbox')
    await field.waitFor()
    assert.equal(await field.inputValue(), 'Paris')
    await field.press('Enter')
    await page.locator('[data-needs=none]').waitFor()
    assert.deepEqual(await served.said(), ['Tidy up', 'Paris'])
  })

  test('Needs you, Work: what could not be sent is still there after a reload, and elsewhere before', async (t) => {
    const served = await openAsked(t, ['Which city?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await question(page, 'Which city?').waitFor()
    const { items } = await served.app.run('queue list', { status: 'waiting' })
    const places = ['/needs-you', `/work/sessions/${items[0]?.session_id ?? assert.fail('no run waits')}`]
    await page.route('**/api/v1/send', (route) => route.abort())
    for (const place of places) {
      await page.goto(`${served.url}${place}`)
      await waitUntilLive(page)
      await page.getByRole('textbox').fill(`Paris from ${place}`)
      await page.getByRole('textbox').press('Enter')
      await page.getByRole('link', { name: 'Now', exact: true }).click()
      await page.locator('[data-toast=fault]').waitFor()
    }
    await page.unroute('**/api/v1/send')
    for (const place of places) {
      await page.goto(`${served.url}${place}`)
      await page.getByRole('textbox').waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), `Paris from ${place}`)
    }
  })

  test('Talk: an answer that looked lost, and was not, leaves no text behind after a reload', async (t) => {
    const served = await openAsked(t, ['Which city?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await waitUntilLive(page)
    let sent = 0
    await page.route('**/api/v1/send', async (route) => {
      sent += 1
      if (sent > 1) return route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'broken' } } })
      await route.fetch()
      await page.reload()
    })
    await question(page, 'Which city?').getByRole('textbox').fill('Paris')
    await page.keyboard.press('Enter')
    await page.locator('[data-needs=none]').waitFor()
    await page.getByRole('link', { name: 'Talk' }).click()
    await page.locator('[data-composer] textarea').waitFor()
    await waitUntil(async () => (await page.evaluate("sessionStorage.getItem('tireless-messages')")) === '[]')
    assert.equal(await page.locator('[data-composer] textarea').inputValue(), '')
    assert.deepEqual([sent, await served.said()], [1, ['Tidy up', 'Paris']])
  })

  test('Needs you: an answer to a question that was answered in another window is refused, and says so', async (t) => {
    const served = await openAsked(t, ['Which city?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await question(page, 'Which city?').waitFor()
    await page.route('**/api/v1/queue/list*', (route) => route.abort())
    const { items } = await served.app.run('queue list', { status: 'waiting' })
    await served.app.run('send', { session: items[0]?.session_id ?? '', text: 'Paris', chat: 'page' })
    await page.getByRole('textbox').fill('Rome')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=fault]').getByText('no longer open, so your answer was not sent: “Rome”').waitFor()
    assert.deepEqual(await served.said(), ['Tidy up', 'Paris'])
  })

  test('Talk: while a question is open, a message can be about something else', async (t) => {
    const served = await openAsked(t, ['Which city?', 'Which shed?'])
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.locator('[data-answers=true]').waitFor()
    await page.getByRole('button', { name: 'It is about something else' }).click()
    await page.locator('[data-composer] textarea').fill('Paint the shed')
    await page.keyboard.press('Enter')
    await page.locator('[data-question]', { hasText: 'Which shed?' }).waitFor()
    await page.locator('[data-question]', { hasText: 'Which city?' }).waitFor()
    await page.locator('[data-answers=true]').waitFor()
  })
})
