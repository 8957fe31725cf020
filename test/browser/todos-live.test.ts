/** The plan of a running session in the conversation: todos are ticked off while the owner watches. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Model } from '../../src/ports/model.ts'
import { launchChromium, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { type HttpApp, openHttpApp } from '../support/http-app.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { behaviourIn } from '../support/pdca-script.ts'
import { makeInbox, TASK, wordCounter, writeAssistant } from '../support/word-counter.ts'

/** Counts words, and stops before each behaviour that works on a todo until it may go on. */
function haltingModel(): Model & { readonly halts: number; goOn(): void } {
  const model = wordCounter()
  let [halts, goOn] = [0, () => {}]
  return {
    ...model,
    get halts() {
      return halts
    },
    goOn: () => goOn(),
    async call(request, options) {
      const isFirstTurn = request.messages.every(({ role }) => role !== 'assistant')
      if (isFirstTurn && ['do', 'check', 'adjust'].includes(behaviourIn(request)))
        await new Promise<void>((resolve) => {
          halts += 1
          goOn = resolve
        })
      return model.call(request, options)
    },
  }
}

async function serveAssistant(t: TestContext, model: Model): Promise<HttpApp> {
  const home = freshFolder(t)
  writeAssistant(home, makeInbox(join(freshFolder(t, 'inbox'), 'inbox')))
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  const served = await openHttpApp(t, { home, model, signals, yaml: 'server: { port: 0 }\nsandbox: off\n' })
  const draining = served.app.context.drain({ untilIdle: false })
  t.after(async () => {
    stopping.abort()
    await draining
  })
  return served
}

const shownStates = (page: Page): Promise<(string | null)[]> =>
  page.locator('[data-todo]').evaluateAll((items) => items.map((item) => item.getAttribute('data-todo')))

describe('a plan on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Talk: the todos of a running session are ticked off one after the other, without a reload', async (t) => {
    const model = haltingModel()
    const served = await serveAssistant(t, model)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await page.evaluate('window.isSamePage = true')
    await page.getByRole('textbox').fill(TASK)
    await page.keyboard.press('Enter')
    const { store } = served.app.context
    const seen: string[] = []
    const isOver = async (): Promise<boolean> => (await store.counts()).done === 2
    for (let halts = 1; ; halts += 1) {
      await waitUntil(async () => model.halts === halts || (await isOver()))
      const [dispatch] = (await served.app.run('queue list', {})).items
      const stored = (await store.todos(dispatch?.session_id ?? '')).map(({ status }) => status)
      await waitUntil(async () => (await shownStates(page)).join() === stored.join())
      seen.push(stored.join(' '))
      if (await isOver()) break
      model.goOn()
    }
    assert.deepEqual(seen, [
      ...['IN_PROGRESS WAIT WAIT', 'CHECK_FAILED WAIT WAIT', 'IN_PROGRESS WAIT WAIT', 'COMPLETE WAIT WAIT'],
      ...['DONE IN_PROGRESS WAIT', 'DONE COMPLETE WAIT', 'DONE DONE IN_PROGRESS', 'DONE DONE COMPLETE'],
      'DONE DONE DONE',
    ])
    const card = page.locator('[data-run-card]')
    await card.locator('[data-result]').getByText('REPORT.md holds the number of words.').waitFor()
    const [first] = await card.locator('[data-todo]').allInnerTexts()
    assert.match(first ?? '', /^✓\s+write count\.sh/)
    assert.equal(await page.evaluate('window.isSamePage'), true)
    assert.deepEqual(complaints, [])
  })
})
