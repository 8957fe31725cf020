/** The place Work: todos in columns, ticking over while a run works, in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openHttpApp } from '../support/http-app.ts'
import { assertFitsPhone, assertHarmless, findSerious } from '../support/page-checks.ts'
import { openWorkWeek } from '../support/work-week.ts'

describe('the todos of sessions, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: todos stand in columns by status, with checks, results and notes; they tick over live', async (t) => {
    const week = await openWorkWeek(t)
    const { page, complaints } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work'))
    const todo = (column: string, code: string) => page.locator(`[data-column=${column}] [data-todo=${code}]`)
    for (const [column, code] of [
      ['open', 'T005'],
      ['working', 'T002'],
      ['wrong', 'T003'],
      ['wrong', 'T004'],
      ['done', 'T001'],
    ] as const)
      await todo(column, code).waitFor()
    await todo('open', 'T005').getByText('waits for T002, T003').waitFor()
    await todo('open', 'T006').getByText('final test').waitFor()
    const title = (await week.app.run('sessions list', {})).items.find(
      (each) => each.session_id === week.planned,
    )?.title
    assert.ok(title)
    assert.match(await todo('open', 'T005').locator('[data-todo-session]').innerText(), new RegExp(title.slice(0, 5)))
    await todo('wrong', 'T003').getByText('0 of 1 checks passed').waitFor()
    await todo('wrong', 'T004').getByText('failed once').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])

    await week.workOn('T002', 'done')
    await todo('checking', 'T002').waitFor()
    assert.equal(await todo('working', 'T002').count(), 0)

    await todo('wrong', 'T003').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'T003: Check the sums' }).waitFor()
    assert.match(page.url(), /todo=T003/)
    assert.equal(await dialog.locator('[data-check-result=failed]').count(), 2)
    await dialog.getByText('After the work:').waitFor()
    await dialog.getByText(/· rejected$/).waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.doesNotMatch(page.url(), /todo=/)
    await assertFitsPhone(page)
    assert.deepEqual(complaints, [])
  })

  test('Work: a todo that moves while the columns are read is only where it came last', async (t) => {
    const week = await openWorkWeek(t)
    const { page } = await openTab(browser, week.url)
    let isMoved = false
    await page.route(/\/todo\/list\?.*status=COMPLETE/, async (route) => {
      // What is read afterwards would put it right.
      if (isMoved) return
      isMoved = true
      await working
      await week.workOn('T002', 'done')
      await route.continue()
    })
    const working = page.waitForResponse(/\/todo\/list\?.*status=IN_PROGRESS/)
    await page.goto(loginAt(week.login_url, '/work'))
    await page.locator('[data-column=checking] [data-todo=T002]').waitFor()
    assert.equal(await page.locator('[data-todo=T002]').count(), 1)
    assert.equal(await page.locator('[data-column=working] h3 .figures').innerText(), '0')
  })

  test('Work: todos of one session, in Chinese, dark; without todos it says where they come from', async (t) => {
    const week = await openWorkWeek(t)
    const { page, complaints } = await openTab(browser, week.url, { locale: 'zh-CN', colorScheme: 'dark' })
    await page.goto(loginAt(week.login_url, `/work?session=${encodeURIComponent(week.planned)}`))
    await page.getByText('只显示一个会话的待办。').waitFor()
    await page.locator('[data-column=wrong]').getByText('检查未通过').waitFor()
    assert.equal(await page.locator('[data-todo-session]').count(), 0, 'all are of this session')
    await page.locator('[data-todo=T003]').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('做完之后').first().waitFor()
    const happened = await dialog.locator('section').filter({ hasText: '变化记录' }).innerText()
    assert.match(happened, /列入计划/)
    assert.doesNotMatch(happened, /[a-z]{3}/, 'words for people only')
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('button', { name: '关闭' }).click()
    await page.getByRole('link', { name: '显示所有会话' }).click()
    await page.waitForURL(`${week.url}/work`)
    assert.deepEqual(complaints, [])

    const served = await openHttpApp(t)
    const empty = await openTab(browser, served.url)
    await empty.page.goto(loginAt(served.login_url, '/work'))
    await empty.page.getByText('There are no todos.').waitFor()
    assert.deepEqual(await findSerious(empty.page), [])
  })
})
