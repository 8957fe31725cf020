/** The page Now in a real browser: login, work that appears and finishes live, a server that stops and returns. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Model } from '../../src/ports/model.ts'
import { commitOne } from '../../src/ports/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { askAndWait, sendTool } from '../support/approval-fixtures.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { type HttpApp, openHttpApp } from '../support/http-app.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

let browser: Browser

/** A model that continues only on `next()`, so that a test sees every step. */
function stepwiseModel(): Model & { next(): void } {
  let release: () => void = () => {}
  let permits = 0
  const steps = [
    {
      text: 'I write the <b>note</b> first.',
      calls: [{ id: 'c', tool: 'create_file', args: '{"path":"note.md","content":"x"}' }],
    },
    { text: 'The note is written.', calls: [] },
  ]
  return {
    id: 'stepwise/model',
    // A step may be released before the model is asked for it: the request is recorded first.
    next() {
      permits += 1
      release()
    },
    async call({ messages }, { onText }) {
      const step = steps[messages.filter(({ role }) => role === 'assistant').length] ?? { text: 'done', calls: [] }
      onText?.(`${step.text} `)
      if (permits === 0)
        await new Promise<void>((resolve) => {
          release = resolve
        })
      permits -= 1
      const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
      return { ...step, finish: step.calls.length > 0 ? 'calls' : 'stop', usage }
    },
  }
}

async function serveAndDrain(
  t: TestContext,
  model: Model,
  home = freshFolder(t),
): Promise<HttpApp & { stop(): Promise<void> }> {
  const drain = new AbortController()
  const abort = new AbortController()
  const served = await openHttpApp(t, { home, model, signals: { drain: drain.signal, abort: abort.signal } })
  const draining = served.app.context.drain({ untilIdle: false })
  const stop = async (): Promise<void> => {
    drain.abort()
    abort.abort()
    await draining
    await served.app.close()
  }
  t.after(stop)
  return { ...served, stop }
}

/** A finished run is shown among the running ones for a few seconds, then among the finished ones. */
const isDone = (page: Page, id: string): Promise<void> =>
  page.locator(`[data-run="${id}"][data-state=done], [data-finished="${id}"]`).first().waitFor()

describe('the page in a browser', { skip: WITHOUT_CHROMIUM }, () => {
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Now: an enqueued run appears, is shown step by step and finishes without a reload', async (t) => {
    const model = stepwiseModel()
    const served = await serveAndDrain(t, model)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    assert.equal(page.url(), `${served.url}/now`, 'the login code must be gone from the address')
    assert.match(await page.locator('main').innerText(), /Nothing is running/)
    // The kernel has a schedule, but no agent that it would wake.
    await page.getByText('Nothing is scheduled.').waitFor()
    const { dispatch_id } = await served.app.run('enqueue', { prompt: 'Write a note' })
    const run = page.locator(`[data-run="${dispatch_id}"]`)
    await run.getByText('Write a note').waitFor()
    await run.getByText('I write the <b>note</b> first.').waitFor()
    assert.equal(await run.locator('b').count(), 0, 'model output must stay text')
    assert.equal(await run.getAttribute('data-state'), 'running')
    model.next()
    await run.locator('[data-step="1"]').getByText('create_file').waitFor()
    await run.locator('[data-step="2"]').waitFor()
    await run.getByText('The note is written.').waitFor()
    model.next()
    await isDone(page, dispatch_id)
    const finished = page.locator(`[data-finished="${dispatch_id}"]`)
    await finished.locator('summary').getByText('The note is written.').click()
    await finished.locator('p').getByText('The note is written.').waitFor()
    await page.locator('[data-queue=done]').getByText('1', { exact: true }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('Now: a cycle started on the page is shown running and finished', async (t) => {
    const agent = '{ agent_id: tender, prompt: "{STATE} Tend the folder", priority: 1, enabled: true }'
    const yaml = `server: { port: 0 }\nkernel: { agents: [${agent}] }\n`
    const call = { tool: 'create_file', args: { path: 'report.md', content: 'x' } }
    const model = scriptedModel([{ calls: [call] }, { text: '## Execution Summary\nreport.md is written.' }])
    const served = await openHttpApp(t, { yaml, model })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await page.getByText('No cycle has run yet.').waitFor()
    await page.getByRole('button', { name: 'Run a cycle now' }).click()
    const cycle = page.locator('[data-cycle]')
    await cycle.getByText('success · 1 of 1 succeeded').waitFor()
    assert.match(await cycle.innerText(), /tender/)
    await page.locator('[data-finished]').getByText('tender').waitFor()
    const finished = await page.locator('[data-finished]').innerText()
    assert.match(finished, /report\.md is written\./, 'what came of it is shown, not the prompt')
    assert.doesNotMatch(finished, /<data/, 'inserted data must not be in the title')
    assert.deepEqual(complaints, [])
  })

  test('Now: opened during a run, the page shows it from its start', async (t) => {
    const model = stepwiseModel()
    const served = await serveAndDrain(t, model)
    const { dispatch_id } = await served.app.run('enqueue', { prompt: 'Write a note' })
    const { store } = served.app.context
    const requestCount = async (): Promise<number> => {
      const dispatch = await store.dispatch(dispatch_id)
      const journal = dispatch ? await store.journal(dispatch.session_id) : []
      return journal.filter(({ kind }) => kind === 'model_requested').length
    }
    await waitUntil(async () => (await requestCount()) === 1)
    model.next()
    await waitUntil(async () => (await requestCount()) === 2)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    const run = page.locator(`[data-run="${dispatch_id}"]`)
    await run.locator('[data-step="1"]').getByText('create_file').waitFor()
    await run.locator('[data-step="2"]').waitFor()
    model.next()
    await isDone(page, dispatch_id)
    assert.deepEqual(complaints, [])
  })

  test('Now: a run whose process died too often is over, although no event says so', async (t) => {
    const home = freshFolder(t)
    const first = await serveAndDrain(t, stepwiseModel(), home)
    const { dispatch_id } = await first.app.run('enqueue', { prompt: 'Write a note' })
    const { store: firstStore } = first.app.context
    await waitUntil(async () => (await firstStore.dispatch(dispatch_id))?.status === 'running')
    await first.stop()
    const served = await openHttpApp(t, { home })
    const { store, clock } = served.app.context
    const claim = async (): Promise<number> => {
      const now = clock.now()
      const [{ epoch }] = await commitOne(store, [{ op: 'join', name: 'test', now, lease_until: now, alone: true }])
      await commitOne(store, [{ op: 'claim', epoch, limit: 1, now, only: [dispatch_id] }])
      return epoch
    }
    const crash = async (): Promise<void> => {
      const now = clock.now()
      await commitOne(store, [
        { op: 'join', name: 'next', now, lease_until: now, alone: true },
        { op: 'recover', now },
      ])
    }
    await claim()
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    const run = page.locator(`[data-run="${dispatch_id}"]`)
    await page.locator(`[data-run="${dispatch_id}"][data-state=running]`).waitFor()
    for (let crashes = 1; crashes <= 3; crashes += 1) {
      await crash()
      if (crashes < 3) await claim()
    }
    assert.equal((await store.dispatch(dispatch_id))?.status, 'dead')
    await page.locator(`[data-run="${dispatch_id}"][data-state=failed]`).waitFor()
    await run.waitFor({ state: 'detached' })
  })

  test('Now: beside an open approval the page says what waits, not that all is well', async (t) => {
    const served = await openHttpApp(t, { model: askAndWait(), tools: [sendTool()] })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await page.locator('[data-health=ok]').getByText('All is well.').waitFor()
    await served.app.run('run', { task: 'Look for a lamp' })
    await page.locator('[data-health=waiting]').getByText('One thing waits for you.').waitFor()
    assert.equal(await page.getByText('All is well.').count(), 0)
    await page.getByText('needs approval').first().waitFor()
    assert.equal(await page.getByText('needs approval').count(), 1, 'a call that waits is one thing, not two')
    await page.getByRole('link', { name: 'One thing waits for you.' }).click()
    await page.waitForURL(`${served.url}/needs-you`)
    assert.deepEqual(complaints, [])
  })

  test('Now: a wrong token is refused, the right one logs in and lasts over a reload', async (t) => {
    const served = await openHttpApp(t)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(served.url)
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('Wrong token.').waitFor()
    assert.equal(complaints.length, 1, 'browsers report the refused request')
    await page.getByLabel('Token').fill(served.token)
    await page.keyboard.press('Enter')
    await waitUntilLive(page)
    await page.reload()
    await waitUntilLive(page)
    assert.equal(complaints.length, 1)
    assert.equal(await page.evaluate('document.cookie'), '', 'scripts must not read the cookie')
  })

  test('Now: shows a lost connection, and reconnects without a reload', async (t) => {
    const home = freshFolder(t)
    const first = await openHttpApp(t, { home, yaml: 'server: { port: 0 }\n' })
    const yaml = `server: { port: ${first.port} }\n`
    const { page } = await openTab(browser, first.url)
    await page.goto(loginAt(first.login_url, '/now'))
    await waitUntilLive(page)
    await first.app.close()
    await page.locator('[data-connection=lost]').waitFor()
    const second = await openHttpApp(t, { home, yaml })
    await waitUntilLive(page)
    await second.app.run('enqueue', { prompt: 'later', at: '1h' })
    await page.locator('[data-queue=waiting]').getByText('1', { exact: true }).waitFor()
  })

  test('Now: after the machine slept, a dead connection is replaced and continues after the last event', async (t) => {
    const served = await openHttpApp(t)
    const { page } = await openTab(browser, served.url)
    const continued: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/events')) continued.push(request.headers()['last-event-id'])
    })
    await page.clock.install()
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    await page.locator('[data-health=ok]').waitFor()
    await page.clock.fastForward(60_000)
    await waitUntil(() => continued.length === 2)
    await waitUntilLive(page)
    assert.equal(continued[0], undefined)
    assert.match(continued[1] ?? '', /^\S+\.\d+$/)
    await served.app.run('enqueue', { prompt: 'later', at: '1h' })
    await page.locator('[data-queue=waiting]').getByText('1', { exact: true }).waitFor()
  })

  test('Now: fits a phone, follows light and dark, has both languages, and works with the keyboard', async (t) => {
    const served = await openHttpApp(t)
    const colours: unknown[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const options = { colorScheme, locale: 'zh-CN', viewport: { width: 390, height: 844 } }
      const { page, complaints } = await openTab(browser, served.url, options)
      await page.goto(loginAt((await served.app.context.serveHttp()).login_url, '/now'))
      await waitUntilLive(page)
      await page.getByText('目前没有任务在运行。').waitFor()
      assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing may overflow the width')
      colours.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
      await page.getByRole('button', { name: '立即运行一轮' }).waitFor()
      const reached = []
      while (reached.at(-1) !== '暂停' && reached.length < 9) {
        await page.keyboard.press('Tab')
        reached.push(await page.evaluate('document.activeElement.textContent'))
      }
      assert.deepEqual(reached, ['跳过导航', 'Tireless', '', 'English', '立即运行一轮', '暂停'])
      await page.getByText('English').focus()
      await page.keyboard.press('Enter')
      await page.getByText('Nothing is running.').waitFor()
      await page.reload()
      await page.getByText('Nothing is running.').waitFor()
      assert.deepEqual(complaints, [])
    }
    assert.notEqual(colours[0], colours[1])
  })
})
