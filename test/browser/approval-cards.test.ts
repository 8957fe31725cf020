/** What cards of approvals and questions show: the whole call, where it goes, which task asks, what was decided. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Json } from '../../src/domain/json.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, sendTool } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { findSerious } from '../support/page-checks.ts'
import { openTalkPage } from '../support/talk-page.ts'

/** A model that makes one call of the tool `send`, then is done. */
const sending = (args: Json) =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [call('send', args)] },
  )

describe('cards of what needs the owner', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  /** Contract: the place Needs you, after these tasks were given. */
  async function openNeeds(
    served: Awaited<ReturnType<typeof openTalkPage>>,
    prompts: readonly string[],
  ): Promise<Page> {
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    for (const prompt of prompts) await served.app.run('enqueue', { prompt })
    await page
      .locator('[data-need]')
      .nth(prompts.length - 1)
      .waitFor()
    return page
  }

  test('Needs you: long arguments say that they go on, and are shown whole before the call is allowed', async (t) => {
    const script = [...Array.from({ length: 80 }, (_, line) => `echo ${line}`), 'rm -rf /everything'].join('\n')
    const served = await openTalkPage(t, { model: sending({ script, text: 'word '.repeat(20_000) }) })
    const page = await openNeeds(served, ['tidy up'])
    const shown = page.locator('[data-arguments]')
    assert.doesNotMatch(await shown.innerText(), /everything/)
    assert.ok((await shown.innerText()).length < 4000, 'the first view is bounded')
    await shown.getByRole('button', { name: 'Show all (100,000 characters)' }).waitFor()
    const button = shown.getByRole('button', { name: 'Show all (81 lines)' })
    await button.focus()
    await page.keyboard.press('Enter')
    assert.match(await shown.innerText(), /rm -rf \/everything/)
    const clipped = `[...document.querySelectorAll('[data-arguments] dd *')]
      .filter((each) => each.scrollHeight > each.clientHeight + 1).length`
    assert.equal(await page.evaluate(clipped), 0, 'nothing of it is hidden')
    assert.deepEqual(await findSerious(page), [])
    await shown.getByRole('button', { name: 'Show less' }).click()
    await button.waitFor()
  })

  test('Needs you: thousands of arguments do not block the page, and all of them can be read', async (t) => {
    const args = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`field_${at}`, `value ${at}`]))
    const served = await openTalkPage(t, { model: sending(args) })
    const page = await openNeeds(served, ['tidy up'])
    const names = page.locator('[data-arguments] dt')
    assert.ok((await names.count()) <= 50)
    await page.getByRole('button', { name: 'Show all (3,000 arguments)' }).click()
    await page.locator('[data-arguments]').getByText('value 2999', { exact: true }).waitFor()
    assert.equal(await names.count(), 3000)
  })
})
