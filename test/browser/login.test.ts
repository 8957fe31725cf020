/** Login links in a real browser: used, used elsewhere, expired, garbage; the page says what to do. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { type HttpApp, openHttpApp } from '../support/http-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const LANGUAGES = [
  {
    locale: 'en-GB',
    spent: 'This login link no longer works',
    help: 'A link works once, and for ten minutes. Run this command to get a new one:',
    plain: 'Log in',
    ...{ token: 'Token', wrong: 'Wrong token.', tooMany: 'Too many wrong tokens. Wait a minute' },
    ...{ down: 'The server does not respond.', inside: 'Nothing needs you.' },
  },
  {
    locale: 'zh-CN',
    spent: '这个登录链接已失效',
    help: '链接只能用一次，十分钟内有效。运行下面的命令得到新的链接：',
    plain: '登录',
    ...{ token: '令牌', wrong: '令牌不正确。', tooMany: '错误的令牌太多。请等一分钟' },
    ...{ down: '服务器没有响应。', inside: '没有需要你处理的事项。' },
  },
] as const

type Words = (typeof LANGUAGES)[number]

const newLink = async ({ app }: HttpApp): Promise<string> => (await app.context.serveHttp()).login_url

const isNarrow = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

async function assertExplained(page: Page, { spent, help }: Words): Promise<void> {
  await page.getByRole('heading', { name: spent }).waitFor()
  await page.getByText(help).waitFor()
  await page.getByText('tireless open').waitFor()
  assert.match(await page.title(), new RegExp(`^${spent} · `))
  assert.ok(!page.url().includes('code'), 'the code is no longer in the address')
  await assertHarmless(page)
}

describe('the login link', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  for (const words of LANGUAGES)
    test(`the page (${words.locale}): a login link that is spent, old or garbage says what to do`, async (t) => {
      const clock = new FakeClock()
      const served = await openHttpApp(t, { clock })
      const open = async (link: string): Promise<Page> => {
        const { page } = await openTab(browser, served.url, { locale: words.locale })
        await page.goto(loginAt(link, '/needs-you'))
        return page
      }
      const link = await newLink(served)
      const owner = await open(link)
      await owner.getByText(words.inside).waitFor()
      await owner.goto(loginAt(link, '/needs-you'))
      await owner.getByText(words.inside).waitFor()

      const elsewhere = await open(link)
      await assertExplained(elsewhere, words)
      assert.deepEqual(await findSerious(elsewhere), [])
      await elsewhere.setViewportSize({ width: 390, height: 844 })
      assert.ok(await isNarrow(elsewhere), 'nothing is scrolled sideways on a phone')

      const old = await newLink(served)
      await clock.advance(10 * 60_000 + 1)
      await assertExplained(await open(old), words)
      const good = await newLink(served)
      for (const garbage of ['', 'x', encodeURIComponent(PAYLOAD), good.split('code=')[1]?.slice(0, -1) ?? ''])
        await assertExplained(await open(`${served.url}/#code=${garbage}`), words)
      await (await open(good)).getByText(words.inside).waitFor()
      await waitUntilLive(owner)
    })

  for (const words of LANGUAGES)
    test(`the page (${words.locale}): the token opens it, a wrong one does not`, async (t) => {
      const served = await openHttpApp(t)
      const { page } = await openTab(browser, served.url, { locale: words.locale })
      await page.goto(`${served.url}/needs-you`)
      await page.getByRole('heading', { name: words.plain }).waitFor()
      const enter = async (token: string): Promise<void> => {
        await page.getByLabel(words.token).fill(token)
        await page.keyboard.press('Enter')
      }
      await enter(PAYLOAD)
      await page.getByRole('alert').getByText(words.wrong).waitFor()
      const wrong = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"token":"no"}' }
      for (let n = 0; n < 30; n += 1) await fetch(`${served.url}/api/v1/login`, wrong)
      await enter('no')
      await page.getByRole('alert').getByText(words.tooMany).waitFor()
      await enter(served.token)
      await page.getByText(words.inside).waitFor()
      assert.equal(page.url(), `${served.url}/needs-you`)

      const { page: late } = await openTab(browser, served.url, { locale: words.locale })
      await late.goto(served.url)
      await late.getByRole('heading', { name: words.plain }).waitFor()
      await served.app.close()
      await late.getByLabel(words.token).fill(served.token)
      await late.keyboard.press('Enter')
      await late.getByRole('alert').getByText(words.down).waitFor()
    })
})
