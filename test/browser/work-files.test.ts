/** The place Work: the files of workspaces, whatever they are called and contain, in a real browser. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openHttpApp } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertFitsPhone, assertHarmless, findSerious } from '../support/page-checks.ts'
import { HOSTILE_NAMES, openWorkWeek } from '../support/work-week.ts'

describe('the files of agents, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: hostile file names and contents are only shown; links are not followed', async (t) => {
    const week = await openWorkWeek(t)
    const { page, complaints } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/workspaces'))
    await page.locator('[data-workspace=news]').click()
    await page.getByText('11 entries').waitFor()
    await page.getByText('‹U+202E›fdp.exe').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    assert.equal(await page.locator('[data-entry=link]').getByRole('link').count(), 0)
    const content = page.locator('[data-file-content]:not([data-file-content=loading])')
    const open = async (file: string): Promise<string | null> => {
      await page.goto(`${week.url}/work/workspaces/news?${new URLSearchParams({ file })}`)
      await content.waitFor()
      return content.getAttribute('data-file-content')
    }
    for (const name of HOSTILE_NAMES) {
      assert.equal(await open(name), 'text', name)
      await content.getByText('onload="window.hacked = 5"').first().waitFor()
      await assertHarmless(page)
    }
    assert.equal(await open('data.bin'), 'binary')
    assert.equal(await open('pixel.png'), 'image')
    assert.equal(await open('large.txt'), 'large')
    await page.getByRole('link', { name: 'Download' }).waitFor()
    assert.equal(await open('huge.txt'), 'refused')
    assert.equal(await page.getByRole('link', { name: 'Download' }).count(), 0, 'it could not be sent')
    for (const path of ['away/passwd', '../../token']) {
      await page.goto(`${week.url}/work/workspaces/news?${new URLSearchParams({ file: path })}`)
      await page.locator('[data-not-fetched]').waitFor()
      assert.equal(await content.count(), 0, path)
    }
    assert.deepEqual(
      complaints.filter((complaint) => !/400|404/.test(complaint)),
      [],
    )
  })

  test('Work: a folder is called after its task, and empty folders are behind their number', async (t) => {
    const served = await openHttpApp(t, { model: scriptedModel([{ text: 'done' }, { text: 'done' }]) })
    const folderOf = async (task: string): Promise<string> => {
      const { workspace } = await served.app.run('enqueue', { task })
      await served.app.run('start', { until_idle: true })
      return workspace
    }
    const filled = await folderOf('Write the menu')
    writeFileSync(join(filled, 'menu.md'), 'soup')
    const empty = await folderOf('Say hello')
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/workspaces'))
    const row = page.locator(`[data-workspace="${basename(filled)}"]`)
    await row.getByText('Write the menu').waitFor()
    await row.getByText(basename(filled)).waitFor()
    assert.equal(await page.locator('[data-workspace]').count(), 1)
    await page.getByRole('button', { name: '1 empty workspace' }).click()
    await page
      .locator(`[data-workspace="${basename(empty)}"]`)
      .getByText('Say hello')
      .waitFor()
    assert.deepEqual(await findSerious(page), [])
    await assertFitsPhone(page)
  })

  test('Work: folders are walked by address, thousands of files with few elements; files are downloaded', async (t) => {
    const week = await openWorkWeek(t)
    const { page, complaints } = await openTab(browser, week.url)
    await page.goto(loginAt(week.login_url, '/work/workspaces/news'))
    await page.getByRole('link', { name: 'many' }).click()
    await page.waitForURL(/path=many/)
    await page.getByText('3,000 entries').waitFor()
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByText('note-2999.txt').waitFor()
    assert.ok((await page.locator('[data-row]').count()) <= 100)
    await page.getByText('note-2999.txt').click()
    await page.getByText('The file is empty.').waitFor()
    await page.getByRole('link', { name: 'many', exact: true }).click()
    await page.getByText('3,000 entries').waitFor()

    await page.goto(`${week.url}/work/workspaces/reports?file=report.md`)
    await page.getByRole('heading', { name: 'Report', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show the source' }).click()
    await page.getByText('# Report').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    assert.equal((await download).suggestedFilename(), 'report.md')
    await assertFitsPhone(page)
    assert.deepEqual(complaints, [])
  })

  test('Work: the history of a file names its runs; a change is undone after a look at what goes back', async (t) => {
    const week = await openWorkWeek(t)
    const report = join(week.home, 'workspaces/reports/report.md')
    assert.match(readFileSync(report, 'utf8'), /price: 12/)
    const { page, complaints } = await openTab(browser, week.url, { locale: 'zh-CN', colorScheme: 'dark' })
    await page.goto(loginAt(week.login_url, '/work/workspaces/reports?file=report.md'))
    await page.getByRole('link', { name: '这个文件的历史' }).click()
    const writes = page.locator('[data-write]')
    await writes.nth(1).waitFor()
    assert.equal(await writes.count(), 2)
    await page.getByRole('button', { name: '显示改动' }).first().click()
    await page.locator('[data-line=removed]').getByText('price: 10').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('button', { name: '撤销' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('report.md').waitFor()
    assert.match(readFileSync(report, 'utf8'), /price: 12/, 'nothing happens before the owner says so')
    await dialog.getByRole('button', { name: '撤销' }).click()
    await waitUntil(() => readFileSync(report, 'utf8') === '# Report\n\nprice: 10\n')
    await page.getByText('一次撤销').waitFor()
    await page.getByText('已撤销', { exact: true }).waitFor()
    await assertFitsPhone(page)
    assert.deepEqual(complaints, [])
  })
})
