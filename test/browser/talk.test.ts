/** The conversation on the page, in a real browser: a task from its start to its undo, without a terminal. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, LETTER, sendTool, waitStep } from '../support/approval-fixtures.ts'
import { launchChromium, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { openTalkPage, PAYLOAD } from '../support/talk-page.ts'

const RESULT = `## Figures\n\n| region | orders |\n|---|---|\n| north | **12** |\n\n${PAYLOAD}`

/** Writes two files, asks for approval, answers. */
function workSteps({ messages }: ModelRequest): ScriptedStep {
  const results = messages.filter(({ role }) => role === 'tool').length
  const write = call('create_file', { path: 'REPORT.md', content: `# Report\n\n${PAYLOAD}` })
  const page = call('create_file', { path: 'evil.html', content: '<script>window.hacked = 8</script>' })
  if (results === 0) return { text: 'I write the report.', calls: [write, page] }
  if (results === 2) return { calls: [call('send', { ...LETTER, note: PAYLOAD })] }
  return JSON.stringify(messages).includes('sent') ? { text: RESULT } : waitStep
}

async function undoAndBringBack(page: Page): Promise<void> {
  const [card, dialog] = [page.locator('[data-run-card]'), page.getByRole('dialog')]
  const [folder] = await page
    .evaluate(`fetch('/api/v1/workspace/list').then((answer) => answer.json())`)
    .then((list) => (list as { items: { workspace: string; files: number }[] }).items.filter(({ files }) => files > 0))
  const file = join(folder?.workspace ?? '', 'REPORT.md')
  assert.equal(existsSync(file), true)
  await card.getByRole('button', { name: 'Undo' }).click()
  await dialog.getByText('REPORT.md').waitFor()
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await card.getByText('This run was undone.').waitFor()
  assert.equal(existsSync(file), false, 'the file must be gone')
  await card.getByRole('button', { name: 'Bring it back' }).click()
  await card.getByRole('button', { name: 'Undo' }).waitFor()
  assert.equal(existsSync(file), true)
}

describe('the conversation on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Talk: a task is given, watched, approved, read and undone on the page, also after a restart', async (t) => {
    const home = freshFolder(t)
    const tool = sendTool()
    const served = await openTalkPage(t, { home, work: workSteps, tools: [tool] })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await page.getByRole('heading', { name: 'What should I do?' }).waitFor()
    await page.getByRole('textbox').fill(`Write the report ${PAYLOAD}`)
    await page.getByRole('textbox').press('Enter')
    await page.getByText('I start.').waitFor()
    const card = page.locator('[data-run-card]')
    await card.getByText('Weekly figures').waitFor()
    const approval = card.locator('[data-need=approval]')
    await approval.getByText('bob', { exact: true }).first().waitFor()
    await approval.getByText('‹U+202E›').waitFor()
    await approval.getByText('Someone else receives it.').waitFor()
    await page.locator('[data-call=create_file]').first().waitFor()
    await waitUntil(async () => (await page.title()).startsWith('(1) '))
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /icon-1\.svg$/)
    assert.equal(tool.receivedArgs.length, 0)
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    assert.deepEqual(complaints, [])

    await served.stop()
    await page.locator('[data-connection=lost]').waitFor()
    await openTalkPage(t, { home, port: served.port, work: workSteps, tools: [tool] })
    await waitUntilLive(page)
    await approval.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('[data-toast=live]').getByText('Allowed: send.').waitFor()
    const [toast, send] = [page.locator('[data-toast=live]').last(), page.getByRole('button', { name: 'Send' })]
    const bottom = await toast.boundingBox().then((box) => (box ? box.y + box.height : 0))
    assert.ok(bottom < ((await send.boundingBox())?.y ?? 0), 'a toast must not cover the button')
    await card.locator('[data-result]').getByRole('cell', { name: 'north' }).waitFor()
    assert.equal(tool.receivedArgs.length, 1)
    await page.reload()
    const report = card.locator('[data-file="REPORT.md"]')
    await report.getByRole('button').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Report', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await card.locator('[data-file="evil.html"]').getByRole('button').click()
    await dialog.getByText('<script>window.hacked = 8</script>').waitFor()
    await page.keyboard.press('Escape')
    const downloading = page.waitForEvent('download')
    await report.getByText('Download').click()
    assert.equal((await downloading).suggestedFilename(), 'REPORT.md')
    await undoAndBringBack(page)
    await assertHarmless(page)
  })

  test('Talk: at the limit of money a message says so, and is answered after the limit was raised there', async (t) => {
    const usage = { input_tokens: 0, output_tokens: 10, cached_tokens: 0 }
    const model = {
      ...scriptedModel(() => ({ text: 'It is sunny.', usage })),
      price: { input: 0, output: 25_000, max_output: 10 },
    }
    const served = await openTalkPage(t, { model })
    await served.app.run('budget set', { key: 'per_day_usd', value: '0.1' })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await page.getByRole('textbox').fill('How is the weather')
    await page.getByRole('textbox').press('Enter')
    const sentence = 'The limit of $0.10 a day is reached: $0.00 is spent, and the next answer may cost $0.25.'
    await page.locator('[data-reply]').getByText(sentence).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.goto(`${served.url}/now`)
    await page.getByRole('link', { name: 'One thing waits for you.' }).click()
    const failure = page.locator('[data-need=failure]')
    await failure.getByText('How is the weather').waitFor()
    await failure.getByText(sentence).waitFor()
    await failure.getByRole('link', { name: 'Change the limit' }).click()
    await page.getByLabel('A day, in US dollars', { exact: true }).fill('5')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=live]').waitFor()
    await page.getByRole('link', { name: 'Talk' }).click()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('[data-reply]').getByText('It is sunny.').waitFor()
    assert.deepEqual(await findSerious(page), [])
    assert.deepEqual(complaints, [])
  })

  test('Talk: without a model a simple task is done by rules, on a phone, in Chinese and in the dark', async (t) => {
    const home = freshFolder(t)
    const served = await openTalkPage(t, {
      home,
      model: (await import('../../src/adapters/models/offline/offline.ts')).offlineModel,
    })
    const options = { colorScheme: 'dark', locale: 'zh-CN', viewport: { width: 360, height: 740 } } as const
    const { page, complaints } = await openTab(browser, served.url, options)
    await page.goto(served.login_url)
    await page.locator('[data-model=offline]').waitFor()
    await page.getByRole('button', { name: '创建 hello.md' }).click()
    await page.getByRole('button', { name: '发送' }).click()
    await page.locator('[data-run-card][data-status=done]').waitFor()
    await page.locator('[data-file="hello.md"]').waitFor()
    await page.getByRole('textbox').fill('你今天做了什么？')
    await page.getByRole('textbox').press('Enter')
    const reply = page.locator('[data-reply]')
    await reply.getByText('hello.md').first().waitFor()
    // One line for the run, one for its files, one for its result; what follows the list is no part of it.
    assert.equal(await reply.locator('li').first().locator('br').count(), 2)
    assert.doesNotMatch((await reply.locator('li').last().innerText()) ?? '', /周期/)
    await page.reload()
    await page.locator('[data-reply]').getByText('hello.md').first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'nothing may overflow the width')
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('link', { name: '此刻' }).click()
    await page.getByRole('heading', { name: '接下来的节拍' }).waitFor()
    assert.equal(page.url(), `${served.url}/now`)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    assert.deepEqual(await findSerious(page), [])
    assert.deepEqual(complaints, [])
  })
})
