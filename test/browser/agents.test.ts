/** The place Agents: the list, and agents that are made from a sentence. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openAgentsApp, openAgentsTab } from '../support/agents-page.ts'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const YAML = `# the owner's own words
kernel:
  timezone: Europe/Berlin
  agents:
    - { agent_id: morning, prompt: "Write the report", schedule: "0 9 * * *", enabled: true }
    - { agent_id: hostile, prompt: ${JSON.stringify(PAYLOAD)}, enabled: false }
residents:
  - { agent_id: watcher, goals: [${JSON.stringify(PAYLOAD)}] }
`

const row = (page: Page, id: string) => page.locator(`[data-agent="${id}"]`)

async function say(page: Page, sentence: string): Promise<void> {
  await page.locator('#agent-sentence').fill(sentence)
  await page.keyboard.press('Enter')
}

describe('the place Agents', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('E1: a sentence is said back with its next five times and its cost, then created exactly so', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const { page, complaints } = await openAgentsTab(browser, served, '/agents', { timezoneId: 'Europe/Berlin' })
    await row(page, 'morning').waitFor()
    await say(page, 'summarise my mail every weekday at 7:30')
    const preview = page.locator('[data-preview]')
    await preview.getByText('Monday to Friday at 07:30').waitFor()
    const times = await preview.locator('[data-next-times] li').allTextContents()
    assert.equal(times.length, 5)
    for (const time of times) assert.match(time, /^\w{3},? \d+ \w{3,4},? 07:30/)
    await preview.getByText(/about \$0\.\d+ a run, \$0\.\d+ a week \(5 runs\)/).waitFor()
    await preview.getByText('view_file').waitFor()
    await preview.getByText('workspaces/summarise-mail').waitFor()
    assert.equal((await served.app.run('agent list', {})).items.length, 2, 'nothing is created yet')
    assert.deepEqual(await findSerious(page), [])
    await preview.getByRole('button', { name: 'Create' }).click()
    await row(page, 'summarise-mail').waitFor()
    await page.locator('[data-toast=live]').getByText('Created summarise-mail.').waitFor()
    const made = await served.app.run('agent show', { id: 'summarise-mail' })
    assert.equal(made.schedule, '30 7 * * 1-5')
    assert.deepEqual(complaints(), [])
  })

  test('E1: the next times name the zone of the schedule if the browser is in another one', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const { page } = await openAgentsTab(browser, served, '/agents', { timezoneId: 'Asia/Tokyo' })
    await say(page, 'summarise my mail every weekday at 7:30')
    const times = page.locator('[data-preview] [data-next-times] li')
    await times
      .first()
      .getByText(/1[45]:30 your time · 07:30 Europe\/Berlin/)
      .waitFor()
    await page.goto(`${served.url}/agents/morning`)
    await page
      .locator('[data-next-times] li')
      .first()
      .getByText(/your time · 09:00 Europe\/Berlin/)
      .waitFor()
  })

  test('E1: a sentence with two readings is refused with the reason; saying when settles it', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const { page, complaints } = await openAgentsTab(browser, served)
    await say(page, 'wake me every day at 3')
    const refused = page.locator('[data-refused]')
    await refused.getByText('the hour 3 can mean 03:00 or 15:00').waitFor()
    await refused.getByText('every weekday at 9:00').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await refused.getByLabel('When should it run?').fill('every day at 15:00')
    await page.keyboard.press('Enter')
    await page.locator('[data-preview]').getByText('every day at 15:00', { exact: true }).waitFor()
    await say(page, 'look at the queue every 10 minutes')
    await page.locator('[data-preview]').getByText('more than once an hour').waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    await row(page, 'look-queue').getByText('every 10 minutes', { exact: true }).waitFor()
    await say(page, `watch ${PAYLOAD.replaceAll('\n', ' ')} every morning`)
    await page.locator('[data-preview], [data-refused]').waitFor()
    await assertHarmless(page)
    assert.deepEqual(complaints(), [])
  })

  test('E1: 中文 works from the sentence to the list, at the width of a phone, in the dark', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const phone = { locale: 'zh-CN', viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const { page, complaints } = await openAgentsTab(browser, served, '/agents', phone)
    await say(page, '每天三点叫我')
    await page.locator('[data-refused]').getByText('3 点可以是 03:00 或 15:00').waitFor()
    await say(page, '每天晚上八点总结我的邮件')
    const preview = page.locator('[data-preview]')
    await preview.getByText('每天 20:00').waitFor()
    await preview.getByText(/每次约 \$0\.\d+，每天约 \$0\.\d+（1 次）/).waitFor()
    await preview.getByRole('button', { name: '创建' }).click()
    await row(page, '总结邮件').waitFor()
    await page.locator('[data-toast=live]').getByText('已创建 总结邮件。').waitFor()
    await row(page, 'hostile').getByText('已停用').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    assert.deepEqual(await findSerious(page), [])
    await assertHarmless(page)
    assert.deepEqual(complaints(), [])
  })

  test('E1: agents are switched and run from the list, which follows what happens elsewhere', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const { page, complaints } = await openAgentsTab(browser, served)
    await row(page, 'watcher').getByText('resident', { exact: true }).waitFor()
    await say(page, 'watch ~/no-such-folder every morning')
    await page.locator('[data-missing]').getByText('There is no folder or file ~/no-such-folder').waitFor()
    assert.equal(await page.locator('[data-refused]').count(), 0, 'the sentence is clear')
    await page.locator('#agent-sentence').fill('')
    await row(page, 'default').getByText('built in').waitFor()
    await row(page, 'morning').getByRole('switch', { name: 'morning runs by itself' }).click()
    await row(page, 'morning').getByText('switched off').waitFor()
    assert.equal((await served.app.run('agent show', { id: 'morning' })).enabled, false)
    assert.match(readFileSync(join(served.home, 'tireless.yaml'), 'utf8'), /^# the owner's own words\n/m)
    await row(page, 'morning').getByRole('switch').click()
    await row(page, 'morning')
      .getByText(/^next /)
      .waitFor()
    await row(page, 'morning').getByRole('button', { name: 'Run now' }).click()
    await page.locator('[data-toast=live]').getByText('morning starts.').waitFor()
    const link = row(page, 'morning').getByRole('link', { name: /done/ })
    await link.waitFor()
    const { last_run_id } = await served.app.run('agent show', { id: 'morning' })
    assert.equal(await link.getAttribute('href'), `/runs/${last_run_id}`)
    await served.app.run('agent new', { sentence: 'tidy up every morning', id: 'elsewhere' })
    await served.app.run('agent run', { id: 'morning', detach: true })
    await row(page, 'elsewhere').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    assert.deepEqual(complaints(), [])
  })

  test('a list of many agents can be searched', async (t) => {
    const many = Array.from({ length: 12 }, (_, at) => `    - { agent_id: worker-${at}, prompt: task ${at} }`).join(
      '\n',
    )
    const served = await openAgentsApp(t, `kernel:\n  agents:\n${many}\n`)
    const { page } = await openAgentsTab(browser, served)
    await row(page, 'worker-3').waitFor()
    await page.getByRole('searchbox', { name: 'Find an agent' }).fill('TASK 11')
    await row(page, 'worker-3').waitFor({ state: 'detached' })
    assert.equal(await page.locator('[data-agent]').count(), 1)
    await page.getByRole('searchbox').fill('nobody')
    await page.getByText('No agent has these words.').waitFor()
  })
})
