/** The place Needs you, the login link and the addresses of the page, in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, sendTool } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { fakeTool } from '../support/fake-tools.ts'
import { openHttpApp } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { openTalkPage, PAYLOAD } from '../support/talk-page.ts'

/** The task says which of the four needs the run has; then it answers. */
const model = scriptedModel(({ messages }) => {
  const text = messages.map((message) => message.text).join('\n')
  const results = messages.filter(({ role }) => role === 'tool').length
  if (text.includes('fail')) throw new TirelessError('model_refused', `refused ${PAYLOAD}`)
  if (results > 0) return { text: 'done' }
  if (text.includes('publish')) return { calls: [call('publish', { text: PAYLOAD })] }
  if (text.includes('pay')) return { calls: [call('pay', { amount: 5 })] }
  return { calls: [call('ask_user', { question: `Which city? ${PAYLOAD}` })] }
})

const publish = () =>
  fakeTool({
    ...{ name: 'publish', effect: { recovery: 'once', reach: 'third_party' } },
    run: () => ({ status: 'unknown', content: 'half of it was sent' }),
  })
const pay = () =>
  sendTool({
    name: 'pay',
    effect: { recovery: 'once', reach: 'destructive' },
    run: () => 'paid',
    asks: () => 'it pays',
  })

describe('what needs the owner, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Needs you: approval, unknown outcome, question and failure are answered in place', async (t) => {
    const [publishTool, payTool] = [publish(), pay()]
    const served = await openTalkPage(t, { model, tools: [publishTool, payTool] })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/needs-you'))
    await page.getByText('Nothing needs you.').waitFor()
    for (const prompt of ['publish it', 'pay it', 'ask me', `fail ${PAYLOAD}`])
      await served.app.run('enqueue', { prompt })
    const need = (kind: string) => page.locator(`[data-need=${kind}]`)
    for (const kind of ['approval', 'unknown', 'question', 'failure']) await need(kind).waitFor({ timeout: 20_000 })
    await waitUntil(async () => (await page.title()).startsWith('(4) '))
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])

    await page.keyboard.press('j')
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This cannot be undone').waitFor()
    assert.equal(payTool.receivedArgs.length, 0, 'a call that cannot be undone is confirmed first')
    await dialog.getByRole('button', { name: 'Allow it anyway' }).click()
    await page.locator('[data-toast=live]').getByText('Allowed: pay.').waitFor()
    await need('approval').waitFor({ state: 'detached' })

    await need('unknown').getByRole('button', { name: 'It happened' }).click()
    await need('unknown').waitFor({ state: 'detached' })
    assert.equal(publishTool.receivedArgs.length, 1, 'it is not repeated')
    const { items } = await served.app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ status, resolution }) => [status, resolution]),
      [['resolved', 'happened']],
    )
    assert.deepEqual(await served.app.run('unknowns list', { status: 'open' }), { items: [] })

    await need('question').getByText('Which city?').waitFor()
    await need('question').getByRole('textbox').fill('Paris')
    await page.keyboard.press('Enter')
    await need('question').waitFor({ state: 'detached' })

    await need('failure').getByRole('button', { name: 'Put aside' }).click()
    await page.getByText('Nothing needs you.').waitFor()
    await waitUntil(async () => (await page.title()).startsWith('Needs you'))
    const other = await openTab(browser, served.url)
    await other.page.goto(`${served.url}/needs-you`)
    await other.page.getByLabel('Token').fill(served.token)
    await other.page.keyboard.press('Enter')
    await other.page.getByText('Nothing needs you.').waitFor()
    assert.deepEqual([...complaints, ...other.complaints], [])
  })

  test('E10: what has no card of its own shows its text and its choices, in the language of the page', async (t) => {
    const served = await openTalkPage(t, { model })
    const id = await served.app.service('needs').open({
      kind: 'space',
      same_as: 'the disk',
      title: { text: `Little space ${PAYLOAD}`, zh: '空间不多了' },
      body: { text: 'Two folders are large.', zh: '有两个文件夹很大。' },
      choices: [
        {
          id: 'pause',
          text: { text: 'Pause', zh: '暂停' },
          does: { text: 'Pauses the kernel.', zh: '暂停内核。' },
          command: { name: 'pause', input: {} },
        },
      ],
    })
    const { page, complaints } = await openTab(browser, served.url, { locale: 'zh-CN' })
    await page.goto(loginAt(served.login_url, '/needs-you'))
    const card = page.locator(`[data-need-id=${id}]`)
    await card.getByText('有两个文件夹很大。').waitFor()
    await waitUntil(async () => (await page.title()).startsWith('(1) '))
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await card.getByText('暂停内核。').waitFor()
    await card.getByRole('button', { name: '暂停' }).click()
    await card.waitFor({ state: 'detached' })
    assert.equal((await served.app.run('status', {})).kernel.state, 'paused')
    assert.deepEqual(complaints, [])
  })

  test('the page: a spent login link says what to do; addresses work after login; unknown ones help', async (t) => {
    const served = await openHttpApp(t)
    const { page } = await openTab(browser, served.url, { locale: 'zh-CN' })
    await page.goto(loginAt(served.login_url, '/runs/some-run'))
    await waitUntilLive(page)
    assert.equal(page.url(), `${served.url}/runs/some-run`)
    await page.goto(`${served.url}/nowhere`)
    await page.getByRole('heading', { name: '这个地址没有内容' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: '对话' }).click()
    await page.getByRole('textbox').waitFor()

    const stranger = await openTab(browser, served.url)
    await stranger.page.goto(loginAt(served.login_url, '/needs-you'))
    await stranger.page.getByRole('heading', { name: 'This login link no longer works' }).waitFor()
    await stranger.page.getByText('tireless open').waitFor()
    await stranger.page.getByLabel('Token').fill(served.token)
    await stranger.page.keyboard.press('Enter')
    await stranger.page.getByText('Nothing needs you.').waitFor()
    assert.equal(stranger.page.url(), `${served.url}/needs-you`)
    await stranger.page.keyboard.press('3')
    await stranger.page.getByRole('heading', { name: 'Now' }).waitFor()
  })
})
