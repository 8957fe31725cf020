/** The place Work: the queue, its filters, and what the owner does with its runs, in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { commitOne } from '../../src/ports/store.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openHttpApp } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertFitsPhone, assertHarmless, findSerious } from '../support/page-checks.ts'
import { openWorkWeek } from '../support/work-week.ts'

describe('the queue, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: the queue says why each run is in it; the owner cancels, retries, pauses and resumes', async (t) => {
    const week = await openWorkWeek(t)
    const { failed, asking, later, paused } = week.runs
    const { page, complaints } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/queue'))
    const row = (id: string) => page.locator(`[data-queue="${id}"]`)
    const shows = (id: string, text: string) => row(id).getByText(text).waitFor()
    await shows(paused, 'Paused until you resume it.')
    await shows(later, 'It starts in 3 hours.')
    await shows(later, 'priority 5')
    await shows(asking, 'It waits for your answer.')
    assert.equal(await row(failed).count(), 0, 'what has ended is left out')
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    const dispatchOf = (id: string) => week.app.run('queue show', { id })

    await row(paused).getByRole('button', { name: 'Resume' }).click()
    await waitUntil(async () => !(await dispatchOf(paused)).paused)
    await shows(paused, 'It starts when the kernel runs.')
    await row(paused).getByRole('button', { name: 'Run first' }).click()
    await shows(paused, 'priority 1')
    assert.equal((await dispatchOf(paused)).priority, 1)
    await row(later).getByRole('button', { name: 'Pause' }).click()
    await waitUntil(async () => (await dispatchOf(later)).paused)
    await row(paused).getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByText('What it did so far stays').waitFor()
    assert.equal((await dispatchOf(paused)).status, 'pending', 'it is confirmed first')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await waitUntil(async () => (await dispatchOf(paused)).status === 'cancelled')
    await row(paused).waitFor({ state: 'detached' })

    await page.getByRole('link', { name: /^Failed/ }).click()
    await page.waitForURL(/status=failed/)
    await shows(failed, 'The model’s provider failed.')
    await assertHarmless(page)
    await row(failed).getByRole('button', { name: 'Try again' }).click()
    await page.getByText('It is tried again.').waitFor()
    assert.equal((await dispatchOf(failed)).status, 'pending')
    await page.getByText('No run fits these filters.').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('Work: the address carries the filters; selected runs are cancelled together; Chinese, phone', async (t) => {
    const week = await openWorkWeek(t)
    const { page, complaints } = await openTab(browser, week.url, { locale: 'zh-CN' })
    await page.goto(loginAt(week.login_url, '/work/queue?status=all&agent=scout'))
    await page.locator('[data-queue]').first().waitFor()
    assert.equal(await page.locator('[data-queue]').count(), 2)
    await page.getByRole('combobox').selectOption('')
    await page.getByRole('searchbox').fill('PAUSED work')
    await page.waitForURL(/search=PAUSED/)
    await page.getByText('1 次运行', { exact: true }).waitFor()
    await page.getByText('已暂停，等你恢复。').waitFor()
    await page.reload()
    await page.getByText('1 次运行', { exact: true }).waitFor()
    await page.goto(`${week.url}/work/queue`)
    await page.getByText('在等你回答。').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await assertFitsPhone(page)
    await page.getByRole('button', { name: '全选' }).click()
    await page.getByText('已选 3 项').waitFor()
    await page.locator('[data-selection]').getByRole('button', { name: '取消', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: '取消', exact: true }).click()
    await page.getByText('队列是空的。').waitFor()
    const { cancelled, pending, waiting } = (await week.app.run('status', {})).queue
    assert.deepEqual({ cancelled, pending, waiting }, { cancelled: 3, pending: 0, waiting: 0 })
    assert.deepEqual(complaints, [])
  })

  test('Work: a queue of 20,000 runs keeps few elements, and shows its end', async (t) => {
    const served = await openHttpApp(t)
    const { app } = served
    const dispatches = Array.from({ length: 20_000 }, (_, n) => ({
      ...{ dispatch_id: `many-${n}`, session_id: `many-${n}`, kernel_id: app.context.kernelId, agent_id: 'default' },
      ...{ prompt: `task number ${n}.`, priority: 0, metadata: {}, source: 'test', workspace: '/nowhere' },
    }))
    await commitOne(app.context.store, [{ op: 'enqueue', dispatches, now: app.context.clock.now() }])
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/queue'))
    await page.getByText('20,000 runs').waitFor()
    await page.getByText('task number 19999.').waitFor()
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByText('task number 0.').waitFor()
    assert.ok((await page.locator('[data-row]').count()) <= 100)
    assert.deepEqual(complaints, [])
  })
})
