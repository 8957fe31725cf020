/** The place Costs in a real browser: bars that equal the ledger, limits that are changed in place. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openHttpApp } from '../support/http-app.ts'
import { dollarsOf, openLedgerWeek } from '../support/ledger-week.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

/** The sums of the bars, by day. */
async function readBars(page: Page): Promise<Readonly<Record<string, number>>> {
  const groups = await page.locator('[data-plot] [data-day]').all()
  const sums = groups.map(async (group) => {
    const rects = await group.locator('[data-amount]').all()
    const amounts = await Promise.all(rects.map(async (rect) => Number(await rect.getAttribute('data-amount'))))
    return [await group.getAttribute('data-day'), amounts.reduce((sum, amount) => sum + amount, 0)] as const
  })
  return Object.fromEntries(await Promise.all(sums))
}

interface PageElement {
  readonly tagName: string
  readonly ownerDocument: { readonly activeElement: PageElement }
  click(): void
  closest(selector: string): unknown
}

/** Runs in the page. Contract: where the focus is in the same turn of the event loop; drawing comes later. */
async function focusAfterClick(button: PageElement): Promise<string> {
  button.click()
  for (let n = 0; n < 10; n += 1) await null
  const { activeElement } = button.ownerDocument
  return activeElement.closest('dialog') ? 'in a dialog' : activeElement.tagName
}

const rounded = (amount: number): string => amount.toFixed(6)

describe('the place Costs', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('I8: a week of work is drawn by day, agent and model as in the ledger, idle beats as free', async (t) => {
    const served = await openLedgerWeek(t, `evil ${PAYLOAD}`, `Summarise ${PAYLOAD}`)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/costs?days=7&by=agent'))
    const rows = await served.rows()
    await page.locator('[data-spender=writer]').waitFor()
    for (const by of ['by model', 'in all', 'by agent']) {
      await page.getByRole('button', { name: by }).click()
      const keys = { 'by model': 'p/reader', 'in all': '', 'by agent': 'reader' }
      await page.locator(`[data-spender="${keys[by as keyof typeof keys]}"]`).waitFor()
      const bars = await readBars(page)
      assert.equal(Object.keys(bars).length, 7, 'days without spending have a place, too')
      for (const [day, amount] of Object.entries(bars))
        assert.equal(rounded(amount), rounded(dollarsOf(rows.filter((row) => row.day === day))), `${by} ${day}`)
    }
    await page.getByRole('button', { name: 'Calls' }).click()
    const calls = Object.values(await readBars(page)).reduce((sum, amount) => sum + amount, 0)
    assert.equal(
      calls,
      rows.reduce((sum, row) => sum + row.calls, 0),
    )
    assert.match(page.url(), /days=7&by=agent&as=calls/)

    await page.getByRole('slider').focus()
    await page.keyboard.press('Home')
    const first = rows[0]?.day ?? ''
    await page.locator(`[data-readout="${first}"]`).waitFor()
    const spoken = await page.getByRole('slider').getAttribute('aria-valuetext')
    assert.match(spoken ?? '', /, 2, .* 1, .* 1$/s, 'screen readers hear the sum and its parts')
    await page.getByText('The same as a table').click()
    assert.equal(await page.locator('[data-table-day]').count(), 7)
    await page.locator('[data-idle="1"]').getByText('$0.00. Without anything new').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await assertHarmless(page)

    const expensive = page.locator('[data-run]')
    assert.equal(await expensive.count(), 3)
    await expensive.first().getByText('$0.25').waitFor()
    await expensive.first().getByRole('link').click()
    await waitUntil(() => /\/runs\/.+/.test(page.url()))
    assert.deepEqual(complaints, [])
  })

  test('I11: the limit of a day is changed, set and removed in place, and holds at once', async (t) => {
    const served = await openLedgerWeek(t, 'other', 'Summarise it')
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/costs'))
    const limit = page.locator('[data-limit=per_day_usd]')
    await limit.getByText('$2.00').waitFor()
    await page.locator('[data-sum=today]').getByText('$1.25 left today').waitFor()
    await limit.getByRole('button', { name: 'Change' }).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('-3')
    await limit.getByText('Enter a number above 0.').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('0.75')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=live]').getByText('Everything, per day: $0.75.').waitFor()
    await limit.getByText('reached: work waits until it starts anew').waitFor()
    const refused = await served.app.run('run', { task: 'more', agent: 'writer' })
    assert.equal(refused.failure_class, 'budget', 'the page changed what the program does')

    await limit.getByRole('button', { name: 'Change' }).click()
    await limit.getByRole('button', { name: 'No limit' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the limit' }).click()
    await limit.getByText('no limit').waitFor()
    const month = page.locator('[data-limit=per_month_usd]')
    await month.getByRole('button', { name: 'Set a limit' }).click()
    await page.keyboard.type('90')
    await page.keyboard.press('Enter')
    await month.getByText('$90.00').waitFor()
    const { caps } = await served.app.run('budget show', {})
    assert.deepEqual(
      caps.map(({ name, limit: amount }) => [name, amount]),
      [['per_month_usd', 90]],
    )
    assert.deepEqual(complaints, [])
  })

  test('Costs: a field and a dialog have the focus before they are drawn, so nothing typed is lost', async (t) => {
    const served = await openLedgerWeek(t, 'other', 'Summarise it')
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/costs'))
    const limit = page.locator('[data-limit=per_day_usd]')
    const click = (name: string) => limit.getByRole('button', { name }).evaluate(focusAfterClick)
    assert.equal(await click('Change'), 'INPUT')
    assert.equal(await click('No limit'), 'in a dialog')
  })

  test('Costs: an empty home says what will appear; Chinese, dark, on a phone nothing moves sideways', async (t) => {
    const empty = await openHttpApp(t)
    const fresh = await openTab(browser, empty.url, { ...PHONE, colorScheme: 'dark' })
    await fresh.page.goto(loginAt(empty.login_url, '/costs'))
    await fresh.page.getByText('Nothing was spent in these days.').waitFor()
    assert.deepEqual(await findSerious(fresh.page), [])

    const served = await openLedgerWeek(t, `evil ${PAYLOAD}`, `Summarise ${PAYLOAD}`)
    const { page, complaints } = await openTab(browser, served.url, {
      ...{ ...PHONE, locale: 'zh-CN', colorScheme: 'dark' },
    })
    await page.goto(loginAt(served.login_url, '/costs?days=7'))
    await page.getByRole('heading', { name: '每天的花费' }).waitFor()
    await page.locator('[data-run]').first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    assert.deepEqual(await findSerious(page), [])
    await assertHarmless(page)
    assert.deepEqual([...complaints, ...fresh.complaints], [])
  })
})
