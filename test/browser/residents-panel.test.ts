/** The panel of the residents on the page Now. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { type HttpApp, openHttpApp } from '../support/http-app.ts'

const RESIDENTS = [
  { agent_id: 'guide', hz: 5, slots: ['city', 'day'] },
  { agent_id: 'watcher', hz: 5 },
]
const answer = (type: string, payload: string, known: object = {}) => ({
  text: JSON.stringify({ thought: 'x', action: { type, payload }, known }),
})

/** The guide asks for what it lacks; the watcher fails at sounds, and does nothing else. */
const model = scriptedModel(({ messages }) => {
  const text = messages.at(-1)?.text ?? ''
  if (text.includes('sound')) throw new TirelessError('model_refused', 'the provider refuses to hear of sounds')
  if (text.includes('Paris')) return answer('query', 'And on <b>which</b> day?', { city: 'Paris' })
  return answer('noop', 'all is quiet')
})

async function serveResidents(t: TestContext): Promise<HttpApp> {
  const yaml = JSON.stringify({ server: { port: 0 }, residents: RESIDENTS })
  const served = await openHttpApp(t, { yaml, model })
  const stopping = new AbortController()
  const { context } = served.app
  const working = [context.drain({ untilIdle: false, until: stopping.signal }), context.residents.run(stopping.signal)]
  t.after(async () => {
    stopping.abort()
    await Promise.all(working)
  })
  return served
}

describe('the residents on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('K8, K6: Now shows what residents know, lack and do, live; a message is answered', async (t) => {
    const served = await serveResidents(t)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    const guide = page.locator('[data-resident=guide]')
    await guide.getByText('5 Hz · has not looked yet').waitFor()
    await guide.getByText('nothing has happened yet').waitFor()
    assert.deepEqual(await guide.locator('ul li').allInnerTexts(), ['city ?', 'day ?'])
    await guide.getByLabel('Write to guide').fill('to Paris')
    await page.keyboard.press('Enter')
    await guide.locator('[data-said=query]').getByText('And on <b>which</b> day?').waitFor()
    await guide.getByText(/^5 Hz · looked \d+ s ago$/).waitFor()
    await guide.getByText('it has asked, and waits for the answer').waitFor()
    assert.deepEqual(await guide.locator('ul li').allInnerTexts(), ['city Paris', 'day ?'])
    assert.equal(await guide.getByLabel('Write to guide').inputValue(), '')
    await page.locator('[data-finished]').getByText('And on <b>which</b> day?').first().waitFor()
    await page.getByText('Nothing is running.').waitFor({ timeout: 3000 })
    const watcher = page.locator('[data-resident=watcher]')
    await served.app.run('observe', { agent: 'watcher', type: 'light' })
    await watcher.getByText('all is quiet').waitFor()
    await served.app.run('observe', { agent: 'watcher', type: 'sound' })
    await page.locator('[data-resident=watcher][data-resident-state=backing_off]').waitFor()
    await watcher.getByText(/the last look failed: .*refuses to hear of sounds/).waitFor()
    await watcher.getByText(/1 unread · looks in \d\d:\d\d/).waitFor()
    await watcher.getByLabel('Write to watcher').fill(' ')
    await watcher.getByRole('button', { name: 'Send' }).click()
    assert.equal(await watcher.locator('[data-unread]').getAttribute('data-unread'), '1', 'nothing is sent')
    await page.goto(`${served.url}/agents/guide`)
    const own = page.locator('[data-agent-page=guide]')
    await own.locator('[data-said=query]').getByText('And on <b>which</b> day?').waitFor()
    await own.getByLabel('Write to guide').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('Now: residents fit a phone, in Chinese and in the dark; without residents there is no panel', async (t) => {
    const served = await serveResidents(t)
    const options = { colorScheme: 'dark', locale: 'zh-CN', viewport: { width: 390, height: 844 } } as const
    const { page, complaints } = await openTab(browser, served.url, options)
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    await served.app.run('observe', { agent: 'guide', type: 'user_message', payload: 'to Paris' })
    await page.locator('[data-resident=guide]').getByText('它提了问题，在等回答').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing may overflow the width')
    const empty = await openHttpApp(t)
    const other = await openTab(browser, empty.url)
    await other.page.goto(loginAt(empty.login_url, '/now'))
    await waitUntilLive(other.page)
    await other.page.locator('[data-health=ok]').waitFor()
    assert.equal(await other.page.getByText('Residents').count(), 0)
    assert.deepEqual([...complaints, ...other.complaints], [])
  })
})
