/** The page Now in a real browser: let in, work that appears and finishes by itself, a server that goes and comes back. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Model } from '../../src/ports/model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { launchChromium, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { type HttpApp, openHttpApp } from '../support/http-app.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

let browser: Browser

/** A model that goes on only when it is let, so that a test sees every step of it. */
function heldModel(): Model & { next(): void } {
  let release: () => void = () => {}
  const steps = [
    {
      text: 'I write the <b>note</b> first.',
      calls: [{ id: 'c', tool: 'create_file', args: '{"path":"note.md","content":"x"}' }],
    },
    { text: 'The note is written.', calls: [] },
  ]
  return {
    id: 'held/model',
    next: () => release(),
    async call({ messages }, { onText }) {
      const step = steps[messages.filter(({ role }) => role === 'assistant').length] ?? { text: 'done', calls: [] }
      onText?.(`${step.text} `)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
      return { ...step, finish: step.calls.length > 0 ? 'calls' : 'stop', usage }
    },
  }
}

async function working(
  t: TestContext,
  model: Model,
  home = freshFolder(t),
): Promise<HttpApp & { stop(): Promise<void> }> {
  const drain = new AbortController()
  const abort = new AbortController()
  const to = await openHttpApp(t, { home, model, signals: { drain: drain.signal, abort: abort.signal } })
  const draining = to.app.context.drain({ untilIdle: false })
  const stop = async (): Promise<void> => {
    drain.abort()
    abort.abort()
    await draining
    await to.app.close()
  }
  t.after(stop)
  return { ...to, stop }
}

/** Among what runs it is seen to end for a few seconds, then among what has finished. */
const isDone = (page: Page, id: string): Promise<void> =>
  page.locator(`[data-run="${id}"][data-state=done], [data-finished="${id}"]`).first().waitFor()

describe('the page in a browser', { skip: WITHOUT_CHROMIUM }, () => {
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Now: a run that is enqueued appears, is seen step by step, and finishes, with nobody touching the page', async (t) => {
    const model = heldModel()
    const to = await working(t, model)
    const { page, complaints } = await openTab(browser, to.url)
    await page.goto(to.login_url)
    await waitUntilLive(page)
    assert.equal(page.url(), `${to.url}/`, 'the code is gone from the address')
    assert.match(await page.locator('main').innerText(), /Nothing is running/)
    const { dispatch_id } = (await to.app.run('enqueue', { prompt: 'Write a note' })) as { dispatch_id: string }
    const run = page.locator(`[data-run="${dispatch_id}"]`)
    await run.getByText('Write a note').waitFor()
    await run.getByText('I write the <b>note</b> first.').waitFor()
    assert.equal(await run.locator('b').count(), 0, 'what a model writes stays text')
    assert.equal(await run.getAttribute('data-state'), 'running')
    model.next()
    await run.locator('[data-step="1"]').getByText('create_file').waitFor()
    await run.locator('[data-step="2"]').waitFor()
    await run.getByText('The note is written.').waitFor()
    model.next()
    await isDone(page, dispatch_id)
    const finished = page.locator(`[data-finished="${dispatch_id}"]`)
    await finished.locator('summary').click()
    await finished.getByText('The note is written.').waitFor()
    await page.locator('[data-queue=done]').getByText('1', { exact: true }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('Now: a cycle that is asked for on the page is seen to run and to finish', async (t) => {
    const yaml =
      'server: { port: 0 }\nkernel: { agents: [{ agent_id: tender, prompt: "{STATE} Tend the folder", priority: 1, enabled: true }] }\n'
    const call = { tool: 'create_file', args: { path: 'report.md', content: 'x' } }
    const model = scriptedModel([{ calls: [call] }, { text: '## Execution Summary\nreport.md is written.' }])
    const to = await openHttpApp(t, { yaml, model })
    const { page, complaints } = await openTab(browser, to.url)
    await page.goto(to.login_url)
    await page.getByText('No cycle has run yet.').waitFor()
    await page.getByRole('button', { name: 'Run a cycle now' }).click()
    const cycle = page.locator('[data-cycle]')
    await cycle.getByText('success · 1 of 1').waitFor()
    assert.match(await cycle.innerText(), /tender/)
    await page.locator('[data-finished]').getByText('tender').waitFor()
    const finished = await page.locator('[data-finished]').innerText()
    assert.match(finished, /Tend the folder/)
    assert.doesNotMatch(finished, /<data/, 'what was filled in is no title')
    assert.deepEqual(complaints, [])
  })

  test('Now: who opens the page in the middle of a run sees it from its beginning', async (t) => {
    const model = heldModel()
    const to = await working(t, model)
    const { dispatch_id } = (await to.app.run('enqueue', { prompt: 'Write a note' })) as { dispatch_id: string }
    const { store } = to.app.context
    const asked = async (): Promise<number> => {
      const dispatch = await store.dispatch(dispatch_id)
      const journal = dispatch ? await store.journal(dispatch.session_id) : []
      return journal.filter(({ kind }) => kind === 'model_requested').length
    }
    await waitUntil(async () => (await asked()) === 1)
    model.next()
    await waitUntil(async () => (await asked()) === 2)
    const { page, complaints } = await openTab(browser, to.url)
    await page.goto(to.login_url)
    const run = page.locator(`[data-run="${dispatch_id}"]`)
    await run.locator('[data-step="1"]').getByText('create_file').waitFor()
    await run.locator('[data-step="2"]').waitFor()
    model.next()
    await isDone(page, dispatch_id)
    assert.deepEqual(complaints, [])
  })

  test('Now: the token lets a browser in that has none, a wrong one does not, and it stays in', async (t) => {
    const to = await openHttpApp(t)
    const { page, complaints } = await openTab(browser, to.url)
    await page.goto(to.url)
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('Wrong token.').waitFor()
    assert.equal(complaints.length, 1, 'the refusal, which every browser reports')
    await page.getByLabel('Token').fill(to.token)
    await page.keyboard.press('Enter')
    await waitUntilLive(page)
    await page.reload()
    await waitUntilLive(page)
    assert.equal(complaints.length, 1)
    assert.equal(await page.evaluate('document.cookie'), '', 'no script can read it')
  })

  test('Now: a server that goes away is said so, and one that comes back is followed without a reload', async (t) => {
    const home = freshFolder(t)
    const first = await openHttpApp(t, { home, yaml: 'server: { port: 0 }\n' })
    const yaml = `server: { port: ${first.port} }\n`
    const { page } = await openTab(browser, first.url)
    await page.goto(first.login_url)
    await waitUntilLive(page)
    await first.app.close()
    await page.locator('[data-connection=lost]').waitFor()
    const second = await openHttpApp(t, { home, yaml })
    await waitUntilLive(page)
    await second.app.run('enqueue', { prompt: 'later', at: '1h' })
    await page.locator('[data-queue=waiting]').getByText('1', { exact: true }).waitFor()
  })

  test('Now: it fits a phone, follows light and dark, speaks both languages, and is reached with the keyboard', async (t) => {
    const to = await openHttpApp(t)
    const colours: unknown[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const options = { colorScheme, locale: 'zh-CN', viewport: { width: 390, height: 844 } }
      const { page, complaints } = await openTab(browser, to.url, options)
      await page.goto((await to.app.context.serveHttp()).login_url)
      await waitUntilLive(page)
      await page.getByText('目前没有任务在运行。').waitFor()
      assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing sticks out')
      colours.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
      await page.getByRole('button', { name: '立即运行一轮' }).waitFor()
      const reached = []
      while (reached.at(-1) !== 'English' && reached.length < 9) {
        await page.keyboard.press('Tab')
        reached.push(await page.evaluate('document.activeElement.textContent'))
      }
      assert.deepEqual(reached, ['立即运行一轮', '暂停', 'English'])
      await page.keyboard.press('Enter')
      await page.getByText('Nothing is running.').waitFor()
      await page.reload()
      await page.getByText('Nothing is running.').waitFor()
      assert.deepEqual(complaints, [])
    }
    assert.notEqual(colours[0], colours[1])
  })
})
