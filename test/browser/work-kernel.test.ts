/** The place Work beside a running kernel: runs at work are paused, resumed and cancelled, in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { fakeTool } from '../support/fake-tools.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

describe('the queue of a running kernel, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Work: a run is paused after its step, resumed and cancelled; a second one waits for its folder', async (t) => {
    const steps: (() => void)[] = []
    const step = fakeTool({
      name: 'step',
      effect: { recovery: 'idempotent', reach: 'none' },
      run: (_, { signal }) =>
        new Promise<string>((resolve) => {
          steps.push(() => resolve('stepped'))
          signal.addEventListener('abort', () => resolve('stopped'))
        }),
    })
    const model = scriptedModel(() => ({ calls: [call('step', {})] }))
    const served = await openTalkPage(t, { model, tools: [step] })
    const workspace = freshFolder(t, 'shared')
    const first = await served.app.run('enqueue', { prompt: 'work and work', workspace })
    await waitUntil(() => steps.length === 1)
    const second = await served.app.run('enqueue', { prompt: 'the next', workspace })
    const statusOf = async (id: string) => (await served.app.run('queue show', { id })).status
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/queue'))
    const row = (id: string) => page.locator(`[data-queue="${id}"]`)
    await row(second.dispatch_id).getByText('Another run works in its folder.').waitFor()
    await row(first.dispatch_id).getByRole('button', { name: 'Pause' }).click()
    await waitUntil(async () => (await served.app.run('queue show', { id: first.dispatch_id })).paused)
    steps[0]?.()
    await row(first.dispatch_id).getByText('Paused until you resume it.').waitFor()
    await waitUntil(async () => (await statusOf(second.dispatch_id)) === 'running')
    await row(first.dispatch_id).getByRole('button', { name: 'Resume' }).click()
    await row(first.dispatch_id).getByText('Another run works in its folder.').waitFor()
    await row(second.dispatch_id).getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await waitUntil(async () => (await statusOf(second.dispatch_id)) === 'cancelled')
    await row(second.dispatch_id).waitFor({ state: 'detached' })
    await waitUntil(async () => (await statusOf(first.dispatch_id)) === 'running')
    await served.app.run('queue cancel', { id: first.dispatch_id })
    await row(first.dispatch_id).waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
  })
})
