/** The place Runs in a real Chromium: the list, one run with its replay, comparison, fork and export. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { findLongTasks } from '../support/long-tasks.ts'
import { waitUntil } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { finishTask, longTrace, openFollowedPage, openRunsPage } from '../support/runs-page.ts'
import { PAYLOAD } from '../support/talk-page.ts'

/** Contract: nothing is wider than the window. */
const isNarrow = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

const countSteps = (page: Page): Promise<number> => page.locator('[data-step]').count()

describe('the place Runs in a browser', { skip: WITHOUT_CHROMIUM, timeout: 280_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser.close())

  test('Q15: the list is filtered and searched, and the address keeps the filters', async (t) => {
    const served = await openRunsPage(t)
    await finishTask(served, `count the apples ${PAYLOAD}`)
    await finishTask(served, 'count the pears')
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/runs'))
    await waitUntilLive(page)
    await page.locator('[data-run-count="2"]').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('searchbox').fill('PEARS')
    await page.locator('[data-run-count="1"]').waitFor()
    assert.match(page.url(), /\/runs\?q=PEARS$/)
    await page.getByLabel('Status').selectOption('failed')
    await page.getByText('No run matches.').waitFor()
    await page.getByRole('link', { name: 'Show all runs' }).click()
    await page.locator('[data-run-count="2"]').waitFor()
    await page.goto(`${served.url}/runs?agent=default&day=2020-01-01`)
    await page.getByText('No run matches.').waitFor()
    await page.goto(`${served.url}/runs?agent=default`)
    await page.getByRole('link', { name: /count the pears/ }).click()
    await page.getByRole('heading', { name: 'count the pears' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('Q15: a run shows its steps in full, what was sent to the model, and files to save', async (t) => {
    const served = await openRunsPage(t)
    const run = await finishTask(served, `count ${PAYLOAD}`)
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, `/runs/${run}?step=2`))
    const step = page.locator('[data-step-details="2"]')
    await step.locator('[data-step-call=count]').getByText('the 2. time').waitFor()
    await step.locator('[data-ruling=allow]').waitFor()
    await step.getByRole('button', { name: 'Show the exact request' }).click()
    await step.locator('[data-request=exact]').waitFor()
    assert.equal(await step.locator('[data-messages]').getAttribute('data-messages'), '3')
    await step.locator('[data-messages] summary').first().click()
    await step.getByText('window.hacked').first().waitFor()
    await page.getByRole('button', { name: 'Open all' }).click()
    await page.locator('[data-step-details="3"]').getByText('Counted to 2').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    for (const [name, pattern] of [
      ['Save as page', /^<!doctype html>/],
      ['Save as JSON', /"manifest"/],
    ] as const) {
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name }).click()
      assert.match(readFileSync(await (await downloading).path(), 'utf8'), pattern)
    }
    await page.setViewportSize({ width: 390, height: 800 })
    assert.ok(await isNarrow(page))
    await page.getByRole('button', { name: '切换到中文' }).click()
    await page.getByRole('heading', { name: '步骤' }).waitFor()
    await page.getByText('发给模型的内容').first().waitFor()
    await page.goto(`${served.url}/runs/nosuch`)
    await page.getByText('没有这次运行').waitFor()
    // The browser reports the missing run itself.
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes('404')),
      [],
    )
  })

  test('Q15: a replay shows the steps at their recorded times, and can be paused and moved', async (t) => {
    const served = await openRunsPage(t)
    const run = await finishTask(served, 'count slowly')
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    // One second between two events, so that the replay takes as long as the test says.
    await page.route('**/api/v1/trace/show?*', async (route) => {
      const answer = await route.fetch()
      const trace = await answer.json()
      const events = trace.events?.map((event: { seq: number }) => ({ ...event, ts: event.seq * 1000 }))
      await route.fulfill({ response: answer, json: { ...trace, events } })
    })
    await page.clock.install()
    await page.goto(`${served.url}/runs/${run}`)
    await page.locator('[data-steps="3"]').waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByRole('button', { name: 'Play' }).click()
    await page.clock.runFor(3000)
    await waitUntil(async () => (await countSteps(page)) === 1)
    await page.getByLabel('Speed').selectOption('5')
    await page.clock.runFor(3000)
    await waitUntil(async () => (await countSteps(page)) === 2)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.clock.runFor(20_000)
    assert.equal(await countSteps(page), 2)
    const line = await page.locator('[data-step="2"]').innerText()
    assert.doesNotMatch(line, / [hd] /, 'an open step lasts until the time of the replay, not until now')
    await page.getByRole('slider').fill('0')
    await waitUntil(async () => (await countSteps(page)) === 0)
    await page.getByRole('button', { name: 'Play' }).click()
    await page.clock.runFor(60_000)
    await waitUntil(async () => (await countSteps(page)) === 3)
    await page.locator('[data-replay=paused]').waitFor()
  })

  test('Q15: a fork says what it will do, opens as a run, and is compared with the first one', async (t) => {
    const served = await openRunsPage(t)
    const run = await finishTask(served, 'count and fork')
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, `/runs/${run}?step=2`))
    await page.getByRole('button', { name: 'Fork from here' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('A new run keeps steps 1 to 2').waitFor()
    await dialog.getByText('Tools really run again').waitFor()
    await dialog.getByRole('button', { name: 'Start the fork' }).click()
    await page.locator('[data-run-page][data-status=done]').waitFor()
    await waitUntil(() => !page.url().includes(run))
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.locator(`[data-candidate="${run}"]`).click()
    await page.locator('[data-difference=found][data-at="3"]').waitFor()
    await page.locator('[data-compared="3"]').getByText('first difference').waitFor()
    await page.locator('[data-compared="3"]').getByText('answer 2').first().waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.setViewportSize({ width: 390, height: 800 })
    assert.ok(await isNarrow(page))
    assert.deepEqual(complaints, [])
  })

  test('Q15: a run that has not started has no duration, and a fork says where it comes from', async (t) => {
    const served = await openRunsPage(t)
    const { page } = await openTab(browser, served.url)
    const at = new Date(Date.now() + 7_200_000).toISOString()
    const { dispatch_id: later } = await served.app.run('enqueue', { task: 'count later', at })
    await page.goto(loginAt(served.login_url, `/runs/${later}`))
    await page
      .locator('[data-status=waiting]')
      .getByText(/starts at \S*\d\d:\d\d/)
      .waitFor()
    const facts = page.locator('dl')
    await facts.getByText('Starts', { exact: true }).waitFor()
    assert.doesNotMatch(await facts.innerText(), /Started|Duration/)
    const run = await finishTask(served, 'count and fork')
    const forked = await served.app.run('replay', { run, from: 1, detach: true })
    const fork = 'forked_from' in forked ? forked.run_id : assert.fail('it was not forked')
    await page.goto(`${served.url}/runs/${fork}`)
    await facts.getByText('Forked from').waitFor()
    await facts.getByText('at step 1').waitFor()
    await facts.getByRole('link', { name: run }).click()
    await page.getByRole('heading', { name: 'count and fork' }).waitFor()
    await waitUntil(() => page.url().endsWith(run))
  })

  test('Q15: a run is followed live on its page: its steps appear, it is answered and undone there', async (t) => {
    const served = await openFollowedPage(t)
    const { page, complaints } = await openTab(browser, served.url)
    const { dispatch_id: id } = await served.app.run('enqueue', { prompt: 'write a note and send it' })
    await served.isHeld
    await page.goto(loginAt(served.login_url, `/runs/${id}`))
    await page.locator('[data-step="1"] [data-current-step]').getByText('hold').waitFor()
    assert.equal(await countSteps(page), 1)
    assert.equal(await page.locator('[data-replay]').count(), 0, 'a run is replayed when it has stopped')
    served.release()
    await page.locator('[data-step="3"]').waitFor()
    await page.locator('[data-run-page][data-status=waiting]').getByText('waits for your approval').waitFor()
    await page.locator('[data-step="3"] button').first().click()
    const parked = page.locator('[data-step-details="3"]')
    await parked.locator('[data-parked]').getByText('This call needed your approval').waitFor()
    assert.doesNotMatch(await parked.innerText(), /"parked"|"nonce"/, 'fields of records are for programs')
    const approval = page.locator('[data-need=approval]')
    await approval.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('[data-run-page][data-status=done]').waitFor()
    await approval.waitFor({ state: 'detached' })
    await page.locator('[data-answer]').getByText('The letter is sent.').waitFor()
    await page.locator('[data-run-files] [data-file="note.md"]').getByRole('button').click()
    await page.getByRole('dialog').locator('[data-file-content=text]').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('note.md').waitFor()
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('button', { name: 'Bring it back' }).waitFor()
    const failed = await finishTask(served, 'fail at it')
    await page.goto(`${served.url}/runs/${failed}`)
    await page.locator('[data-error]').getByText('no credit is left').waitFor()
    assert.doesNotMatch(await page.locator('[data-error]').innerText(), /model_refused/, 'codes are for programs')
    await page.getByRole('button', { name: '中文' }).click()
    await page.locator('[data-error]').getByText('模型的服务商拒绝了请求').waitFor()
    await assertHarmless(page)
    assert.deepEqual(complaints, [])
  })

  test('Q15: a run of 1,200 steps opens and scrolls with few elements, without a task over 50 ms', async (t) => {
    const served = await openRunsPage(t)
    const id = await finishTask(served, 'count for long')
    const trace = await served.app.run('trace show', { run: id, events: true })
    const events = longTrace(trace.events ?? [], 1200)
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/runs'))
    await waitUntilLive(page)
    await page.route('**/api/v1/trace/show?*', (route) => {
      const { searchParams } = new URL(route.request().url())
      const [after = 0, limit] = ['after', 'limit'].map((key) => Number(searchParams.get(key)))
      return route.fulfill({ json: { ...trace, events: events.slice(after, after + (limit ?? 0)) } })
    })
    const prepare = async (): Promise<void> => {
      await page.goto(`${served.url}/runs`)
      await waitUntilLive(page)
    }
    const work = async (): Promise<void> => {
      await page.locator(`[data-run-row="${id}"]`).click()
      await page.locator('[data-steps="1200"] [data-step="1"]').waitFor()
      await page.evaluate('scrollTo(0, 26_300)')
      await page.locator('[data-step="500"]').waitFor()
    }
    assert.deepEqual(await findLongTasks(browser, page, { prepare, work }), [])
    assert.ok((await page.locator('main *').count()) < 1000)
  })

  test('Q15: 100,000 runs are at most 100 elements, read in windows, without a task over 50 ms', async (t) => {
    const served = await openRunsPage(t)
    const id = await finishTask(served, 'count once')
    const shown = (await served.app.run('queue list', { limit: 1 })).items[0]
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/now'))
    await waitUntilLive(page)
    await page.route('**/api/v1/queue/list?*brief=true*', (route) => {
      const [offset, limit] = ['offset', 'limit'].map((key) =>
        Number(new URL(route.request().url()).searchParams.get(key)),
      )
      const items = Array.from({ length: limit ?? 0 }, (_, at) => ({
        ...shown,
        dispatch_id: `${id}-${(offset ?? 0) + at}`,
      }))
      return route.fulfill({ json: { items, total: 100_000 } })
    })
    const prepare = async (): Promise<void> => {
      await page.goto(`${served.url}/runs`)
      await page.locator('[data-run-row]').first().waitFor()
    }
    const work = async (): Promise<void> => {
      for (const top of [500, 60_000, 3_000_000, 2_999_000, 6_000_000]) {
        await page.evaluate(`scrollTo(0, ${top})`)
        await page.locator(`[data-run-row="${id}-${Math.floor(top / 61)}"]`).waitFor()
        assert.ok((await page.locator('[data-row]').count()) <= 100)
      }
    }
    assert.deepEqual(await findLongTasks(browser, page, { prepare, work }), [])
    const rowAt = (top: number) => page.locator(`[data-run-row="${id}-${Math.floor(top / 61)}"]`)
    await page.evaluate('scrollTo(0, 60_000)')
    await rowAt(60_000).click()
    await page.getByRole('link', { name: 'All runs' }).click()
    await rowAt(60_000).waitFor()
    assert.equal(await page.evaluate('scrollY'), 60_000, 'the list is where it was left')
  })
})
