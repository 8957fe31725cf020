/** The place Work: sessions, their threads, messages to them and their archive, in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertFitsPhone, assertHarmless, findSerious } from '../support/page-checks.ts'
import { openWorkWeek } from '../support/work-week.ts'

describe('sessions, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: sessions are searched and filtered; a thread is read, answered, archived and brought back', async (t) => {
    const week = await openWorkWeek(t)
    const { session_id: asking } = await week.app.run('queue show', { id: week.runs.asking })
    const { page, complaints } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/sessions'))
    const session = (id: string) => page.locator(`[data-session="${id}"]`)
    await session(week.planned).waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await assertFitsPhone(page)
    await page.getByRole('searchbox').fill('for the CITY')
    await page.getByText('1 sessions', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Waiting', exact: true }).click()
    await page.waitForURL(/status=waiting/)
    await session(asking).click()
    await page.getByRole('heading', { name: 'ask me for the city' }).waitFor()
    await page.locator('[data-question]').getByText('Which city?').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])

    await page.getByLabel('Write to this session').fill('Paris, please')
    await page.keyboard.press('Enter')
    await page.getByText('not read yet').waitFor()
    assert.equal((await week.app.context.store.inbox(asking)).length, 1)
    await week.app.run('start', { until_idle: true })
    await page.locator('[data-status=done] .prose').getByText('Done.').waitFor()
    await page.locator('[data-said]').getByText('Paris, please').waitFor()
    await page.getByText('at rest').waitFor()
    await assertHarmless(page)

    const statusOf = async () => (await week.app.context.store.session(asking))?.status
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByText('A new message brings it back.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await waitUntil(async () => (await statusOf()) === 'archived')
    await page.getByRole('button', { name: 'Bring it back' }).click()
    await waitUntil(async () => (await statusOf()) === 'idle')
    await assertFitsPhone(page)
    assert.deepEqual(complaints, [])
  })

  test('Work: a session shows its todos and what it changed in its files, in Chinese', async (t) => {
    const week = await openWorkWeek(t)
    const { items } = await week.app.run('sessions list', { search: 'script 1.' })
    const [written] = items
    const { page, complaints } = await openTab(browser, week.url, { locale: 'zh-CN' })
    await page.goto(loginAt(week.login_url, `/work/sessions/${written?.session_id}`))
    await page.getByText('这个会话没有待办。').waitFor()
    await page.getByRole('button', { name: '显示它对文件的改动' }).click()
    await page.locator('[data-changed-file="report.md"] [data-line=added]').first().waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.goto(`${week.url}/work/sessions/${week.planned}`)
    await page.locator('[data-column=wrong] [data-todo=T003]').waitFor()
    await page.locator('[data-reason]').getByText('小时后开始').waitFor()
    assert.deepEqual(complaints, [])
    await page.goto(`${week.url}/work/sessions/nobody`)
    await page.getByText('nobody').waitFor()
  })
})
