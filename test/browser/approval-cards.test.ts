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

  test('Needs you: each card names the task that asks', async (t) => {
    const model = scriptedModel(({ messages }) =>
      JSON.stringify(messages).includes('the hotel')
        ? { calls: [call('ask_user', { question: 'Which city?' })] }
        : { calls: [call('send', { to: 'bob' })] },
    )
    const served = await openTalkPage(t, { model })
    const page = await openNeeds(served, ['invite Ann', 'cancel the meeting', 'book the hotel'])
    const tasks = await page.locator('[data-task]').allInnerTexts()
    assert.deepEqual(tasks.toSorted(), ['Task: book the hotel', 'Task: cancel the meeting', 'Task: invite Ann'])
    await page.locator('[data-need=question]').getByText('stops waiting in ').waitFor()
  })

  test('Needs you: where a call goes is stated, not guessed from arguments of a tool that does not say', async (t) => {
    const args = { account: 'DE02', currency: 'EUR', priority: 3, memo_to: 'a\nb' }
    const declaring = { ...sendTool(), destinations: () => ['bob@example.org', 'ann@example.org'] }
    const named = await openTalkPage(t, { model: sending(args), tools: [declaring] })
    const stated = await openNeeds(named, ['pay it'])
    await stated.getByText('bob@example.org').waitFor()
    assert.equal(await stated.locator('[data-assumed-sinks]').count(), 0)

    const silent = await openTalkPage(t, { model: sending(args) })
    const page = await openNeeds(silent, ['pay it'])
    await page.getByText('This tool does not say where its calls go.').waitFor()
    const sinks = page.locator('[data-assumed-sinks]')
    assert.equal(await sinks.getByText('EUR').isVisible(), false)
    await sinks.locator('summary').click()
    await sinks.getByText('EUR').waitFor()
  })

  test('Needs you: how many more there are is said, if not all are shown', async (t) => {
    const served = await openTalkPage(t, { model: sending({ to: 'bob' }) })
    const page = await openNeeds(served, ['invite Ann'])
    await page.route('**/api/v1/approvals/list*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { items: { id: string }[] }
      const items = answer.items.flatMap((item) =>
        Array.from({ length: 57 }, (_, at) => ({ ...item, id: `${item.id}.${at}` })),
      )
      await route.fulfill({ json: { items } })
    })
    await page.reload()
    await page.getByText('7 more appear when these are answered.').waitFor()
    assert.equal(await page.locator('[data-need]').count(), 50)
  })
})
