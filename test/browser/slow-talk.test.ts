/** The conversation on the page over a bad connection, in a hidden tab, and with an input method. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { call, LETTER } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

const field = (page: Page) => page.getByRole('textbox')
const ownMessages = (page: Page): Promise<number> =>
  page.evaluate(`fetch('/api/v1/messages/list?chat=page').then((answer) => answer.json())`).then((list) => {
    const { items } = list as { items: { text: string }[] }
    return items.filter(({ text }) => text.includes('figures')).length
  })

/** Contract: `reached` is fulfilled when the first message is on its way; no answer to it ever comes. */
async function cutOffFirst(page: Page, { isAccepted = false } = {}): Promise<{ reached: Promise<void> }> {
  const reached = Promise.withResolvers<void>()
  let isFirst = true
  await page.route('**/api/v1/send', async (route) => {
    if (!isFirst) return route.fallback()
    isFirst = false
    if (isAccepted) await route.fetch()
    reached.resolve()
  })
  return { reached: reached.promise }
}

const askToSend = () => ({ calls: [call('send', LETTER)] })

describe('the conversation on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Talk: a message whose answer was lost is kept until it is seen, and arrives once', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    const seen = Promise.withResolvers<void>()
    await page.route('**/api/v1/messages/list*', async (route) => {
      await seen.promise
      await route.fallback()
    })
    let sent = 0
    await page.route('**/api/v1/send', async (route) => {
      sent += 1
      // Accepted, but the answer does not arrive.
      await route.fetch()
      if (sent === 2) seen.resolve()
      await field(page).fill('written meanwhile')
      await route.abort()
    })
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await waitUntil(async () => (await field(page).inputValue()) === 'Write the figures written meanwhile')
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await page.getByText('I start.').waitFor()
    await waitUntil(async () => (await field(page).inputValue()) === 'written meanwhile')
    assert.deepEqual([sent, await ownMessages(page)], [2, 1])
  })

  for (const isAccepted of [false, true])
    test(`Talk: a message cut off ${isAccepted ? 'after' : 'before'} it was accepted arrives once`, async (t) => {
      const served = await openTalkPage(t)
      const { page } = await openTab(browser, served.url)
      await page.goto(served.login_url)
      await waitUntilLive(page)
      const { reached } = await cutOffFirst(page, { isAccepted })
      await field(page).fill('Write the figures')
      await field(page).press('Enter')
      await reached
      await field(page).fill('written meanwhile')
      const sent = page.waitForResponse('**/api/v1/send', { timeout: isAccepted ? 1 : 30_000 }).catch(() => undefined)
      await page.reload()
      assert.equal((await sent) !== undefined, !isAccepted, 'only what is not in the conversation is sent')
      await waitUntilLive(page)
      await page.getByText('Write the figures').first().waitFor()
      assert.deepEqual([await field(page).inputValue(), await ownMessages(page)], ['written meanwhile', 1])
      await page.reload()
      await waitUntilLive(page)
      assert.equal(await page.evaluate("sessionStorage.getItem('tireless-messages')"), '[]', 'nothing is on its way')
    })

  test('Talk: what a reload cut off goes back into the field if it is refused', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await page.route('**/api/v1/send', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'an internal error' } } }),
    )
    const { reached } = await cutOffFirst(page)
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await reached
    await page.reload()
    await page.locator('[data-toast=fault]').waitFor()
    await waitUntil(async () => (await field(page).inputValue()) === 'Write the figures')
  })

  test('Needs you: an answer that a reload cuts off arrives once', async (t) => {
    const served = await openTalkPage(t, {
      work: ({ messages }) => {
        const isAnswered = JSON.stringify(messages).includes('Paris')
        return isAnswered ? { text: 'done' } : { calls: [call('ask_user', { question: 'Which city?' })] }
      },
    })
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    const { reached } = await cutOffFirst(page, { isAccepted: false })
    await page.locator('[data-need=question] input').fill('Paris')
    await page.keyboard.press('Enter')
    await reached
    await page.reload()
    await page.locator('[data-needs=none]').waitFor()
    const { items } = await served.app.run('messages list', { chat: 'page' })
    assert.equal(items.filter(({ text }) => text === 'Paris').length, 1)
  })

  test('Talk: the same words twice are two messages, also while the first one is on its way', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    const release = Promise.withResolvers<void>()
    await page.route('**/api/v1/send', async (route) => {
      await release.promise
      await route.continue()
    })
    for (const _ of [1, 2]) {
      const requested = page.waitForRequest('**/api/v1/send')
      await field(page).fill('Write the figures')
      await field(page).press('Enter')
      await requested
    }
    release.resolve()
    await waitUntil(async () => (await ownMessages(page)) === 2)
  })

  test('Talk: the owner can go on writing after the first message', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await page.getByText('I start.').waitFor()
    await page.keyboard.type('and the sums')
    assert.equal(await field(page).inputValue(), 'and the sums')
  })

  test('Talk: a message is accepted, even if what is shown cannot be read afterwards', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await page.route('**/api/v1/messages/list*', (route) => route.abort())
    const unread = page.waitForEvent('requestfailed', (request) => request.url().includes('/messages/list'))
    const answered = page.waitForResponse('**/api/v1/send')
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await Promise.all([answered, unread])
    await page.unroute('**/api/v1/messages/list*')
    await page.getByText('Write the figures').first().waitFor()
    assert.deepEqual([await field(page).inputValue(), await ownMessages(page)], ['', 1])
  })

  test('Needs you: an approval is shown on a connection slower than the page asks', async (t) => {
    const served = await openTalkPage(t, { work: askToSend })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    let isFirst = true
    await page.route('**/api/v1/approvals/list*', async (route) => {
      // One request is lost without an error, the others are slow.
      if (isFirst) {
        isFirst = false
        return
      }
      await pause(1200)
      await route.continue()
    })
    await page.getByRole('link', { name: 'Needs you' }).first().click()
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    // Something happens all the time, so the lists are asked for again and again.
    const over = new AbortController()
    t.after(() => over.abort())
    const happening = (async () => {
      for (; !over.signal.aborted; await pause(300))
        await served.app.run('enqueue', { prompt: 'nothing', agent: 'default', priority: 0 })
    })()
    await page.locator('[data-need=approval]').first().waitFor({ timeout: 25_000 })
    over.abort()
    await happening
  })

  test('Talk: the title of a hidden tab says how much waits', async (t) => {
    const served = await openTalkPage(t, { work: askToSend })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    // A hidden tab gets no frames.
    await page.evaluate('window.requestAnimationFrame = () => 0')
    await served.app.run('send', { text: 'Write the figures', chat: 'page' })
    await waitUntil(async () => (await page.title()).startsWith('(1) '))
  })

  test('Talk: a text that is too long for the browser to keep is refused by the server, and stays', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    const long = 'figures '.repeat(800_000)
    await field(page).fill(long)
    await field(page).press('Enter')
    await page.locator('[data-toast=fault]').waitFor()
    assert.equal((await field(page).inputValue()).length, long.trim().length)
    assert.equal(await ownMessages(page), 0)
  })

  test('Talk: a refusal is shown whole; that the server does not answer is said no longer than it is so', async (t) => {
    const home = freshFolder(t)
    const served = await openTalkPage(t, { home })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    const message = `${'what happened and where. '.repeat(40)}Remedy: run this command.`
    const toasts = page.locator('[data-toast=fault]')
    await page.route('**/api/v1/send', (route) =>
      route.fulfill({ status: 400, json: { error: { code: 'usage', message } } }),
    )
    await field(page).fill('Write the figures')
    await field(page).press('Enter')
    await toasts.getByText('Remedy: run this command.').waitFor()
    const hidden = `[...document.querySelectorAll('[data-toast] span')].filter((each) =>
      each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).overflowY !== 'auto').length`
    assert.equal(await page.evaluate(hidden), 0)
    await toasts.getByRole('button').click()
    await served.stop()
    await page.locator('[data-connection=lost]').waitFor()
    await page.unroute('**/api/v1/send')
    await field(page).press('Enter')
    await toasts.getByText('The server does not answer.').waitFor()
    await openTalkPage(t, { home, port: served.port })
    await waitUntilLive(page)
    assert.equal(await toasts.count(), 0)
  })

  test('Talk: Enter that an input method takes sends nothing', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await field(page).fill('写周报')
    // Safari: the word has ended before the key comes.
    await field(page).evaluate((element: { dispatchEvent(event: unknown): boolean }) => {
      const { KeyboardEvent: Key } = globalThis as unknown as {
        KeyboardEvent: new (type: string, init: object) => unknown
      }
      element.dispatchEvent(new Key('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))
    })
    assert.equal(await field(page).inputValue(), '写周报')
    await field(page).press('Enter')
    await page.getByText('I start.').waitFor()
    assert.equal(await field(page).inputValue(), '')
  })
})
