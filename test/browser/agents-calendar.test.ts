/** The calendar of agents: what is due by day in local time, bands, crowded hours, money against the limit. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openAgentsApp, openAgentsTab } from '../support/agents-page.ts'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const daily = (id: string): string =>
  `    - { agent_id: ${id}, prompt: ${JSON.stringify(PAYLOAD)}, schedule: "0 9 * * *" }`

const YAML = `budget: { per_day_usd: 0.01 }
kernel:
  timezone: Asia/Shanghai
  max_concurrent: 2
  agents:
${['one', 'two', 'three'].map(daily).join('\n')}
    - { agent_id: pulse, prompt: look, schedule: { every: 30s } }
    - { agent_id: quiet, prompt: look, only_on_change: true }
residents:
  - { agent_id: watcher, hz: 2 }
`

describe('the calendar of agents', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('E1: seven days in local time, frequent agents as bands, crowded hours, cost against the limit', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const options = { timezoneId: 'Asia/Kolkata' }
    const { page, complaints } = await openAgentsTab(browser, served, '/agents?tab=calendar', options)
    await page.locator('[data-calendar]').waitFor()
    assert.equal(await page.locator('[data-day]').count(), 7)
    const tomorrow = page.locator('[data-day]').nth(1)
    // Nine o'clock in Shanghai is half past six in India.
    assert.deepEqual(await tomorrow.locator('[data-entry] .figures').allTextContents(), ['06:30', '06:30', '06:30'])
    await tomorrow.getByText(/due at once; 2 run at a time/).waitFor()
    assert.equal(await tomorrow.getAttribute('data-crowded'), '1')
    assert.equal(await page.getByText(/over the limit: their later runs would wait/).count(), 1)
    assert.equal(await page.getByText(/later runs would wait/).count(), 1, 'it is said once, not on each day')
    const [time, name] = ['span.figures', 'a'].map((part) => tomorrow.locator('[data-entry]').first().locator(part))
    const [above, below] = [await time?.boundingBox(), await name?.boundingBox()]
    assert.ok(above && below && above.y + above.height <= below.y + 1, 'the name has the whole width')
    await page.locator('[data-band="agent:pulse"]').getByText('2,880 × a day').waitFor()
    await page.locator('[data-band="kernel:default"]').getByText('quiet: only if something has changed').waitFor()
    await page.locator('[data-band=watcher]').getByText('at most 2 × a second').waitFor()
    await page.getByText('The days of the budget are those of Asia/Shanghai').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await assertHarmless(page)
    await served.app.run('agent disable', { id: 'three' })
    await served.app.run('agent new', { sentence: 'water the plants every day at 18:00', id: 'plants', yes: true })
    await page.locator('[data-entry="agent:plants"]').first().waitFor()
    assert.equal(await page.locator('[data-entry="agent:three"]').count(), 0)
    assert.deepEqual(complaints(), [])
  })

  test('the calendar fits a phone, in 中文; an empty week says what to do', async (t) => {
    const served = await openAgentsApp(t, YAML)
    const phone = { locale: 'zh-CN', viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const { page, complaints } = await openAgentsTab(browser, served, '/agents?tab=calendar', phone)
    await page.getByText('今天').waitFor()
    await page.locator('[data-band="agent:pulse"]').getByText('每天 2,880 次').waitFor()
    await page
      .getByText(/一次只能运行 2 个/)
      .first()
      .waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    assert.deepEqual(await findSerious(page), [])
    assert.deepEqual(complaints(), [])
    const idle = await openAgentsApp(t, 'kernel: {}\n')
    const empty = await openAgentsTab(browser, idle, '/agents?tab=calendar')
    await empty.page.getByText('Nothing is planned in the next seven days.').waitFor()
  })
})
