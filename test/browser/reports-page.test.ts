/** The place Reports in a real browser: a day with its evidence, undone from its card, sent and saved. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { TirelessError } from '../../src/domain/error.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { commitOne } from '../../src/ports/store.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { freshFolder } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { openTalkPage, PAYLOAD } from '../support/talk-page.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

describe('the report of a day, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('E12: a new home says what to do; the report appears without a reload once work was done', async (t) => {
    const served = await openTalkPage(t, { work: () => ({ text: `Painted. ${PAYLOAD}` }) })
    const { page, complaints } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/reports'))
    await page.getByText('There is nothing to report yet.').waitFor()
    await served.app.run('enqueue', { prompt: `paint the shed ${PAYLOAD}` })
    const run = page.locator('[data-reported]')
    await run.getByText('paint the shed').waitFor()
    await run.getByText('· you asked for it').waitFor()
    await run.getByText('“Painted.').waitFor()
    await page.getByText('Nothing waits for you.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Undo this day' }).count(), 0, 'no file was written')
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('button', { name: 'Send to my chat' }).click()
    await page.locator('[data-toast=fault]').getByText('there is no chat to send the report to').waitFor()
    assert.deepEqual(
      complaints.filter((text) => !text.endsWith('/api/v1/report')),
      [],
    )
  })

  test('E12: failures are apart from what was done, each once; what was put aside waits no more', async (t) => {
    const work = ({ messages }: ModelRequest): ScriptedStep => {
      if (JSON.stringify(messages).includes('fail')) throw new TirelessError('model_refused', 'no credit is left')
      return { text: 'Painted.' }
    }
    const served = await openTalkPage(t, { work })
    const { app } = served
    await app.run('run', { task: 'paint the shed' })
    const failed = [await app.run('run', { task: 'fail at it' }), await app.run('run', { task: 'fail at it' })]
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/reports'))
    await page.locator('[data-runs=failed] [data-reported]').getByText('failed 2 times').waitFor()
    assert.equal(await page.locator('[data-runs=failed] [data-reported]').count(), 1)
    assert.equal(await page.locator('[data-runs=done] [data-reported]').count(), 1)
    await page.getByRole('link', { name: 'Answer in Needs you' }).waitFor()
    await app.run('queue dismiss', { id: failed[0]?.dispatch_id ?? '', same: true })
    await page.reload()
    await page.getByText('Nothing waits for you.').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Answer in Needs you' }).count(), 0)
  })

  test('E12: evidence, files and cost are shown in both languages and on a phone; the day is undone', async (t) => {
    const write = { tool: 'create_file', args: { path: 'shed.md', content: 'blue' } }
    const served = await openTalkPage(t, {
      work: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'Done.' } : { calls: [write] }),
    })
    const { app } = served
    const { dispatch_id, session_id } = await app.run('run', { task: 'write about the shed' })
    await proveTodo(app, session_id)
    const barn = freshFolder(t)
    await app.run('run', { task: 'write about the barn', workspace: barn })
    const { page, complaints } = await openTab(browser, served.url, {
      ...PHONE,
      locale: 'zh-CN',
      acceptDownloads: true,
    })
    await page.goto(loginAt(served.login_url, '/reports'))
    const run = page.locator(`[data-reported="${dispatch_id}"]`)
    await run.getByText('shed.md', { exact: true }).waitFor()
    await run.getByText('已证实').waitFor()
    await run.getByText('你交代的').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.viewport.width)
    assert.deepEqual(await findSerious(page), [])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: '下载' }).click(),
    ])
    assert.match(readFileSync(await download.path(), 'utf8'), /^# 工作日报：[\s\S]*shed\.md/)
    await page.getByRole('button', { name: '撤销这一天' }).click()
    const dialog = page.getByRole('dialog', { name: '撤销这一天的工作？' })
    await dialog.locator('li').nth(1).waitFor()
    const paths = await dialog.locator('li').allInnerTexts()
    assert.equal(paths.length, 2)
    assert.match(`${paths.find((path) => path.startsWith('default-'))}`, /^default-[^/]+\/shed\.md$/)
    assert.ok(paths.includes(`${basename(barn)}/shed.md`), `${paths}`)
    await dialog.getByRole('button', { name: '撤销' }).click()
    await run.getByText('已撤销').waitFor()
    const { items } = await app.run('queue list', {})
    assert.ok(items.find((item) => item.dispatch_id === dispatch_id)?.undone_by)
    assert.deepEqual(complaints, [])
  })
})

/** A todo whose check failed before the work and passed after it. */
async function proveTodo(app: Awaited<ReturnType<typeof openTalkPage>>['app'], session_id: string): Promise<void> {
  const { store, clock } = app.context
  const check = { kind: 'file', path: 'shed.md' } as const
  const by = { kind: 'system' } as const
  const at = new Date(clock.now()).toISOString()
  const result = (ok: boolean) => ({ check, ok, observed: ok ? 'exists' : 'missing', output: '', at, digest: '' })
  const todo = { title: `Write it ${PAYLOAD}`.slice(0, 400), type: 'Task', deps: [], assignee: null } as const
  const change = { kind: 'change', by, code: 'T001', reason: 'because' } as const
  await commitOne(store, [
    {
      ...{ op: 'todos', op_id: 'plan', session_id, now: clock.now() },
      actions: [
        { kind: 'add', by, todo: { ...todo, parallel: false, skills: [], checks: [check] } },
        { kind: 'baseline', by, code: 'T001', results: [result(false)] },
        { ...change, verb: 'start' },
        { ...change, verb: 'done' },
        { kind: 'evidence', by, code: 'T001', results: [result(true)] },
        { ...change, verb: 'pass' },
      ],
    },
  ])
}
