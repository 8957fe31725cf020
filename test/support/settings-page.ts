/** The place Settings in tests: opens its parts, and checks what every part has to hold. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { loginAt, openTab, type Tab, waitUntilLive } from './chromium.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { assertHarmless, findSerious } from './page-checks.ts'

export const PARTS = ['models', 'channels', 'mcp', 'plugins', 'policy', 'budget', 'doctor', 'logs', 'backup'] as const

export interface SettingsPage extends HttpApp, Tab {
  /** Contract: another browser tab of the same owner. */
  openOther(options: BrowserContextOptions): Promise<Tab>
}

type AppOptions = Parameters<typeof openHttpApp>[1]

/** Contract: logged in at this part, while the queue is worked. */
export async function openSettings(
  t: TestContext,
  browser: Browser,
  part: string,
  options: AppOptions = {},
): Promise<SettingsPage> {
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  const served = await openHttpApp(t, { ...options, signals })
  const draining = served.app.context.drain({ untilIdle: false })
  t.after(async () => {
    stopping.abort()
    await draining
  })
  const tab = await openTab(browser, served.url)
  await tab.page.goto(loginAt(served.login_url, `/settings/${part}`))
  await waitUntilLive(tab.page)
  return {
    ...served,
    ...tab,
    async openOther(tabOptions) {
      const other = await openTab(browser, served.url, tabOptions)
      await other.page.goto(served.url)
      await other.page.locator('input').fill(served.token)
      await other.page.keyboard.press('Enter')
      await waitUntilLive(other.page)
      return other
    },
  }
}

/** Contract: goes to the part by its tab. */
export async function openPart(page: Page, name: string): Promise<void> {
  await page.getByRole('main').getByRole('navigation').getByRole('link', { name, exact: true }).click()
}

/** Contract: the part as it is now executes nothing, has no serious findings, and is not wider than the screen. */
export async function assertSound(page: Page, where: string): Promise<void> {
  await assertHarmless(page)
  assert.deepEqual(await findSerious(page), [], where)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${where} is too wide`)
}

const PHONE: BrowserContextOptions = { locale: 'zh-CN', viewport: { width: 390, height: 844 }, colorScheme: 'dark' }

/** Contract: the same parts on a phone, in Chinese, in dark colours. */
export async function assertSoundOnPhone(settings: SettingsPage, parts: readonly string[]): Promise<void> {
  const { page, complaints } = await settings.openOther(PHONE)
  for (const part of parts) {
    await page.goto(`${settings.url}/settings/${part}`)
    await page.getByRole('heading', { name: '设置' }).waitFor()
    await page.locator('main section, main article, main search, main [role=status]').first().waitFor()
    await assertSound(page, `${part} on a phone`)
  }
  assert.deepEqual(complaints, [])
  await page.context().close()
}

/** A refused value is an error of the browser's console by itself; nothing else may be there. */
export const unexpected = (complaints: readonly string[]): readonly string[] =>
  complaints.filter((text) => !/status of 40[049] /.test(text))

export const confirmIn = (page: Page, button: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
