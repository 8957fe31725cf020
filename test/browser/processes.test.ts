/** The list of processes on the page Now of one of several processes. */

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { tirelessJson } from '../support/command-line.ts'
import { openHttpApp, postJson } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { findSerious } from '../support/page-checks.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { addressOf, createSharedHome, startRole } from '../support/shared-homes.ts'

/** Long enough to see on the page that it is not renewed. */
const LEASE_MS = 12_000

describe('the processes on the page', { skip: WITHOUT_CHROMIUM || WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  /** Pictures for people who want to look: PICTURES=FOLDER. */
  const pictures = process.env.PICTURES
  if (pictures) mkdirSync(pictures, { recursive: true })

  const loginUrl = async (home: string): Promise<string> =>
    (await tirelessJson<{ login_url: string }>(home, 'open')).login_url

  async function startThree(t: TestContext) {
    const database = await server.newDatabase()
    const [scheduler, worker, page] = ['scheduler', 'worker', 'page'].map((name) =>
      createSharedHome(t, database, name, '', LEASE_MS),
    )
    assert.ok(scheduler && worker && page)
    await startRole(t, scheduler, 'scheduler')
    const killed = await startRole(t, worker, 'worker')
    await startRole(t, page, 'server')
    return { killed, page }
  }

  test('E15: Now lists the processes with role, load and leader, marks a silent one, and fits a phone', async (t) => {
    const { killed, page: home } = await startThree(t)
    const to = await addressOf(home)
    const { page, complaints } = await openTab(browser, `http://127.0.0.1:${to.port}`)
    await page.goto(loginAt(await loginUrl(home), '/now'))
    await waitUntilLive(page)
    const processes = page.locator('[data-process]')
    await page.locator('[data-process-role=scheduler]').getByText('leader').waitFor()
    assert.equal(await processes.count(), 3)
    await page.locator('[data-process-role=server]').getByText('shows you this page').waitFor()
    await page.locator('[data-process-role=worker]').getByText('0 of 2 slots busy').waitFor()
    await postJson(to, '/api/v1/enqueue', { prompt: 'Run `sleep 600`.' })
    await page.locator('[data-process-role=worker]').getByText('1 of 2 slots busy').waitFor()
    await page.getByText('sleep 600').first().waitFor()
    assert.deepEqual(await findSerious(page), [])
    if (pictures) await page.screenshot({ path: join(pictures, 'now-en.png'), fullPage: true })
    const phone = { colorScheme: 'dark', locale: 'zh-CN', viewport: { width: 390, height: 844 } } as const
    const other = await openTab(browser, `http://127.0.0.1:${to.port}`, phone)
    await other.page.goto(loginAt(await loginUrl(home), '/now'))
    await waitUntilLive(other.page)
    await other.page.getByText('2 个位置，占用 1 个').waitFor()
    assert.equal(await other.page.evaluate('document.documentElement.scrollWidth'), 390)
    // It is listed until its lease has ended; then its work is taken over.
    killed.process.kill('SIGSTOP')
    await page.locator('[data-process-late=true]').getByText('No sign of life').waitFor()
    if (pictures) await page.screenshot({ path: join(pictures, 'now-late-en.png'), fullPage: true })
    if (pictures) await other.page.screenshot({ path: join(pictures, 'now-zh-phone-dark.png'), fullPage: true })
    await waitUntil(async () => (await processes.count()) === 2)
    assert.deepEqual([...complaints, ...other.complaints], [])
  })

  test('E15: without a shared store there is no list of processes', async (t) => {
    const alone = await openHttpApp(t)
    const { page } = await openTab(browser, alone.url)
    await page.goto(loginAt(alone.login_url, '/now'))
    await waitUntilLive(page)
    await page.locator('[data-health=ok]').waitFor()
    assert.equal(await page.getByText('Processes').count(), 0)
  })
})
