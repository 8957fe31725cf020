/** What the page draws of answers in the conversation: wide ones on a phone, long ones, many of them. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { ModelRequest } from '../../src/ports/model.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { call, LETTER } from '../support/approval-fixtures.ts'
import { launchChromium, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertFitsPhone, findSerious } from '../support/page-checks.ts'
import { openTalkPage } from '../support/talk-page.ts'

const COLUMNS = ['region', 'orders', 'returned', 'revenue_in_euros', 'responsible_person', 'remarks_of_the_week']
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const WIDE_TABLE = [
  row(COLUMNS),
  row(['---', '--:', ':-:', '--:', '---', '---']),
  row(['north', '12', '3', '1200', 'Alexandra', 'unremarkable']),
].join('\n')

/** Notes the largest number of list items that one task has added to the page. */
const COUNT_DRAWN_ITEMS = `
  window.mostDrawn = 0
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(({ nodeType }) => nodeType === 1)
    const items = added.map((each) => (each.tagName === 'LI') + each.querySelectorAll('li').length)
    window.mostDrawn = Math.max(window.mostDrawn, items.reduce((sum, each) => sum + each, 0))
  }).observe(document, { childList: true, subtree: true })
`

/** A message as if it had been sent and worked on once more. */
const copyOf = <Item extends { id: string; runs: object[] }>(item: Item, at: number): Item => ({
  ...item,
  id: `${item.id}.${at}`,
  runs: item.runs.map((run) => ({ ...run, dispatch_id: `${(run as { dispatch_id: string }).dispatch_id}.${at}` })),
})

describe('answers in the conversation', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Talk: a wide table scrolls in its own frame on a phone, and its columns keep their alignment', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: WIDE_TABLE }) })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Write the figures')
    await page.getByRole('textbox').press('Enter')
    const cells = page.locator('[data-result] td')
    await cells.first().waitFor()
    await assertFitsPhone(page)
    const alignment = `[...document.querySelectorAll('[data-result] td')]
      .map((cell) => getComputedStyle(cell).textAlign)`
    assert.deepEqual((await page.evaluate<string[]>(alignment)).slice(0, 4), ['left', 'right', 'center', 'right'])
    const run = await page.locator('[data-run-card]').getAttribute('data-run-card')
    await page.goto(`${served.url}/runs/${run}`)
    await page.locator('.prose td').first().waitFor()
    await assertFitsPhone(page)
  })

  test('Talk: what was asked and decided stays in the conversation; nothing is offered to undo', async (t) => {
    const work = ({ messages }: ModelRequest): ScriptedStep => {
      const said = JSON.stringify(messages)
      if (said.includes('blue please')) return { text: 'Painted it blue.' }
      if (said.includes('too early')) return { calls: [call('ask_user', { question: 'Which **colour**?' })] }
      return { calls: [call('send', LETTER)] }
    }
    const served = await openTalkPage(t, { work })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Weekly figures')
    await page.getByRole('textbox').press('Enter')
    const approval = page.locator('[data-need=approval]')
    await approval.waitFor()
    assert.equal(await page.getByText('Weekly figures').count(), 1, 'the title would only repeat the message')
    assert.match((await page.locator('textarea').getAttribute('placeholder')) ?? '', /Give a task/)
    await approval.getByRole('button', { name: 'More answers' }).click()
    await assertFitsPhone(page)
    await approval.getByLabel('Why not: the agent reads it').fill('it is too early')
    await approval.getByRole('button', { name: 'Deny, with this reason' }).click()
    await page.locator('[data-decision=denied]').getByText('You denied: send · it is too early').waitFor()
    await page.locator('[data-question]').waitFor()
    assert.equal(await page.locator('textarea').getAttribute('placeholder'), 'Your answer')
    await page.locator('textarea').fill('blue please')
    await page.locator('textarea').press('Enter')
    await page.locator('[data-result]').getByText('Painted it blue.').waitFor()
    const answer = page.locator('[data-message]', { hasText: 'blue please' })
    await answer.locator('[data-asked]').getByText('Which colour?').waitFor()
    await answer.locator('[data-decision=denied]').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
    assert.deepEqual(await findSerious(page), [])
  })

  test('Talk: on a phone no text shows between the field and the bar below it; the field has one frame', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: 'line\n\n'.repeat(60) }) })
    const { page } = await openTab(browser, served.url, { viewport: { width: 390, height: 844 } })
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Write the figures')
    await page.getByRole('textbox').press('Enter')
    await page.locator('[data-result]').waitFor()
    const outline = `getComputedStyle(document.querySelector('textarea')).outlineStyle`
    await page.locator('textarea').focus()
    assert.equal(await page.evaluate(outline), 'none')
    for (const y of [0, 400]) {
      await page.evaluate(`scrollTo(0, ${y})`)
      const composer = await page.locator('form:has(textarea)').locator('..').boundingBox()
      const bar = await page.getByRole('navigation').boundingBox()
      assert.ok(composer && bar && composer.y + composer.height >= bar.y, 'text of the conversation shows in the gap')
    }
  })

  test('Talk: a long result is drawn in parts: its beginning, then on demand the rest, step by step', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: '- a\n'.repeat(12_000) }) })
    const { page } = await openTab(browser, served.url)
    await page.addInitScript(COUNT_DRAWN_ITEMS)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Write the figures')
    await page.getByRole('textbox').press('Enter')
    const items = page.locator('.prose li')
    const button = page.getByRole('button', { name: 'Show the whole answer (48 kB)' })
    await button.waitFor()
    await waitUntil(async () => (await items.count()) > 1500)
    assert.ok((await items.count()) < 3000, 'only the beginning is drawn')
    await button.click()
    await waitUntil(async () => (await items.count()) === 12_000)
    assert.ok((await page.evaluate<number>('window.mostDrawn')) < 2500)
    const run = await page.locator('[data-run-card]').getAttribute('data-run-card')
    await page.goto(`${served.url}/runs/${run}`)
    await waitUntil(async () => (await items.count()) >= 12_000)
    assert.ok((await page.evaluate<number>('window.mostDrawn')) < 2500)
  })

  test('Talk: of many long results only the newest are drawn further than their first lines', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: 'word\n\n'.repeat(3000) }) })
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('Write the figures')
    await page.getByRole('textbox').press('Enter')
    await page.locator('[data-result]').waitFor()
    await page.route('**/api/v1/messages/list*', async (route) => {
      const { items } = (await (await route.fetch()).json()) as { items: { id: string; runs: object[] }[] }
      const many = items.flatMap((item) => Array.from({ length: 20 }, (_, at) => copyOf(item, at)))
      await route.fulfill({ json: { items: many, more: false } })
    })
    await page.reload()
    const results = page.locator('[data-result]')
    await waitUntil(async () => (await results.count()) === 20)
    await waitUntil(async () => (await results.last().locator('p').count()) > 1000)
    assert.ok((await results.first().locator('p').count()) < 300)
    await results.first().getByRole('button', { name: 'Show the whole answer' }).click()
    await waitUntil(async () => (await results.first().locator('p').count()) === 3000)
  })
})
