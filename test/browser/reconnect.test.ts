/** A page that stays open while the program restarts: it shows what happened meanwhile, without a reload. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

/** Asks if the task says so, else answers. */
const work = ({ messages }: ModelRequest): ScriptedStep =>
  JSON.stringify(messages).includes('ask me') && messages.every(({ role }) => role !== 'tool')
    ? { calls: [call('ask_user', { question: 'Which city?' })] }
    : { text: 'The figures are ready.' }

describe('a page that stays open', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('the page: after a restart on the same port, every place shows what happened meanwhile', async (t) => {
    const home = freshFolder(t)
    const served = await openTalkPage(t, { home, work })
    const { page: talk } = await openTab(browser, served.url)
    await talk.goto(served.login_url)
    await waitUntilLive(talk)
    const open = async (place: string): Promise<Page> => {
      const page = await talk.context().newPage()
      await page.goto(loginAt(`${served.url}/#`, place))
      await waitUntilLive(page)
      return page
    }
    const [needs, now] = [await open('/needs-you'), await open('/now')]
    await talk.getByRole('textbox').fill('Count the figures')
    await talk.keyboard.press('Enter')
    await talk.locator('[data-result]').getByText('The figures are ready.').waitFor()
    await needs.getByText('Nothing needs you.').waitFor()
    const pages = [talk, needs, now]
    for (const page of pages) await page.evaluate('window.isSamePage = true')

    await served.stop()
    for (const page of pages) await page.locator('[data-connection=lost]').waitFor()
    const offline = await openApp(t, { home, yaml: 'server: { port: 0 }\n', model: scriptedModel(work) })
    await offline.run('run', { task: 'Write it down while the page is away' })
    await offline.run('enqueue', { prompt: 'ask me', behaviour: 'solo' })
    await offline.run('start', { until_idle: true })
    await offline.run('send', { text: 'Said elsewhere', chat: 'page' })
    await offline.close()

    await openTalkPage(t, { home, port: served.port, work })
    for (const page of pages) await waitUntilLive(page)
    await needs.locator('[data-need=question]').getByText('Which city?').waitFor()
    await now
      .locator('[data-finished]')
      .getByText('Write it down while the page is away')
      .waitFor({ state: 'attached' })
    await talk.getByText('Said elsewhere').waitFor()
    await needs.getByRole('textbox').fill('Paris')
    await needs.keyboard.press('Enter')
    await needs.getByText('Nothing needs you.').waitFor()
    for (const page of pages) assert.equal(await page.evaluate('window.isSamePage'), true)
  })

  test('the page: a place that is opened while the server is down is loaded when it is back', async (t) => {
    const home = freshFolder(t)
    const served = await openTalkPage(t, { home })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await served.stop()
    await page.locator('[data-connection=lost]').waitFor()
    await page.getByRole('link', { name: 'Costs' }).first().click()
    await page.locator('[data-not-loaded]').getByText('The server does not answer.').waitFor()
    assert.equal(await page.getByText('It may have been updated').count(), 0)
    await openTalkPage(t, { home, port: served.port })
    await page.getByRole('heading', { name: 'Costs', level: 1 }).waitFor()
  })
})
