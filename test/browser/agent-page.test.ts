/** One agent's page: every setting is edited and read back, and a concurrent edit loses nothing. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { isTerminal } from '../../src/domain/dispatch.ts'
import { openAgentsApp, openAgentsTab } from '../support/agents-page.ts'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const YAML = `kernel:
  timezone: Europe/Berlin
  agents:
    # mine
    - agent_id: mail
      prompt: Summarise my mail # every day
      schedule: "0 9 * * *"
residents:
  - { agent_id: watcher, goals: [${JSON.stringify(PAYLOAD)}] }
policy:
  grants: [{ tool: send_message, to: ["*@home.test"] }]
`

/** An agent whose every text does something if it is taken for markup. */
function writeHostileAgent(home: string): void {
  const folder = join(home, 'agents/hostile')
  mkdirSync(folder, { recursive: true })
  const text = JSON.stringify(PAYLOAD)
  const watch = JSON.stringify(PAYLOAD.replaceAll(/\s+/g, ' '))
  writeFileSync(
    join(folder, 'agent.yaml'),
    `prompt: ${text}\ndescription: ${text}\nworkspace: "workspaces/<b onclick=hacked=8>"\n` +
      `enabled: false\nwatch: [${watch}]\n`,
  )
  for (const name of ['role.md', 'self.md']) writeFileSync(join(folder, name), PAYLOAD)
}

async function openForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('[data-form]').waitFor()
}

const field = (page: Page, name: string) => page.locator(`#agent-${name}`)
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()

describe('the page of one agent', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  const open = async (t: TestContext, id: string, options = {}) => {
    const home = freshFolder(t)
    writeHostileAgent(home)
    const served = await openAgentsApp(t, YAML, home)
    return { served, ...(await openAgentsTab(browser, served, `/agents/${id}`, options)) }
  }

  test('E1: every setting is changed in the form, and is what the file says afterwards', async (t) => {
    const { served, page, complaints } = await open(t, 'mail')
    await openForm(page)
    await field(page, 'prompt').fill('Summarise my mail into half a page')
    await field(page, 'schedule').fill('every weekday at 7:30')
    await page.locator('[data-said-back]').getByText('Monday to Friday at 07:30').waitFor()
    assert.equal(await page.locator('[data-said-back] li').count(), 5)
    await page.getByText('Only these').click()
    await page.getByRole('checkbox', { name: /^bash runs commands in the sandbox/ }).uncheck()
    await page.getByRole('checkbox', { name: /^browser / }).check()
    for (const [name, value] of Object.entries({ workspace: 'workspaces/post', priority: '7', timeout: '45m' }))
      await field(page, name).fill(value)
    await field(page, 'cooldown').fill('10m')
    await field(page, 'description').fill('Reads mail')
    await field(page, 'role').fill('You are brief.')
    await field(page, 'self').fill('I like lists.')
    await field(page, 'model').selectOption({ index: 1 })
    await page.getByRole('switch', { name: 'Runs by itself' }).click()
    assert.deepEqual(await findSerious(page), [])
    await save(page)
    await page.locator('[data-toast=live]').getByText('Saved mail.').waitFor()
    const saved = await served.app.run('agent show', { id: 'mail' })
    const { prompt, schedule_option, workspace, priority, timeout, cooldown, description, role, self, enabled } = saved
    assert.deepEqual(
      { prompt, schedule_option, workspace, priority, timeout, cooldown, description, role, self, enabled },
      {
        ...{ prompt: 'Summarise my mail into half a page', schedule_option: '30 7 * * 1-5', priority: 7 },
        ...{ workspace: 'workspaces/post', timeout: '45m', cooldown: '10m', description: 'Reads mail' },
        ...{ role: 'You are brief.', self: 'I like lists.', enabled: false },
      },
    )
    assert.ok(saved.tools?.includes('browser') && !saved.tools.includes('bash'), saved.tools?.join())
    assert.notEqual(saved.model, null)
    const yaml = readFileSync(join(served.home, 'tireless.yaml'), 'utf8')
    assert.match(yaml, /# mine\n {4}- agent_id: mail\n {6}prompt: Summarise my mail into half a page # every day\n/)
    await page.getByText('workspaces/post').waitFor()
    assert.deepEqual(complaints(), [])
  })

  test('what is wrong is said at its field, nothing is saved, and the rest of the form stays', async (t) => {
    const { served, page, complaints } = await open(t, 'mail')
    await openForm(page)
    for (const [name, value] of Object.entries({ schedule: 'at 3', priority: 'high', timeout: 'soon', cooldown: 'x' }))
      await field(page, name).fill(value)
    await field(page, 'prompt').fill('Something else')
    await save(page)
    for (const name of ['schedule', 'priority', 'timeout', 'cooldown'])
      await page.locator(`[data-field-error=${name}]`).waitFor()
    assert.equal(await page.locator('[data-field-error]').count(), 4)
    await page.locator('[data-field-error=schedule]').getByText('03:00 or 15:00').waitFor()
    assert.deepEqual(await findSerious(page), [])
    assert.equal((await served.app.run('agent show', { id: 'mail' })).prompt, 'Summarise my mail')
    await field(page, 'schedule').fill('every 10 minutes')
    for (const [name, value] of Object.entries({ priority: '1', timeout: 'none', cooldown: '0s' }))
      await field(page, name).fill(value)
    await save(page)
    const dialog = page.getByRole('dialog')
    await dialog.getByText('each run costs money').waitFor()
    await dialog.getByRole('button', { name: 'Yes, save it' }).click()
    await page.locator('[data-toast=live]').getByText('Saved mail.').waitFor()
    const saved = await served.app.run('agent show', { id: 'mail' })
    assert.deepEqual([saved.schedule_option, saved.timeout, saved.prompt], ['10m', 'none', 'Something else'])
    assert.deepEqual(complaints(), [])
  })

  test('I7: a concurrent edit is shown beside the form, and neither edit is lost', async (t) => {
    const { served, page, complaints } = await open(t, 'mail')
    await openForm(page)
    await field(page, 'prompt').fill('My words')
    await served.app.run('agent edit', { id: 'mail', prompt: `Their words ${PAYLOAD}`, priority: 9 })
    await save(page)
    const conflict = page.locator('[data-conflict]')
    await conflict.getByText('The agent has changed since you opened this form').waitFor()
    await conflict.getByText('Their words').waitFor()
    await conflict.getByText('you changed this, too').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    assert.match((await served.app.run('agent show', { id: 'mail' })).prompt, /^Their words/)
    await conflict.getByRole('button', { name: 'Keep my changes, and take the others' }).click()
    await waitUntil(async () => (await field(page, 'priority').inputValue()) === '9')
    await save(page)
    await page.locator('[data-toast=live]').getByText('Saved mail.').waitFor()
    const { prompt, priority } = await served.app.run('agent show', { id: 'mail' })
    assert.deepEqual([prompt, priority], ['My words', 9])
    assert.deepEqual(complaints(), [])
  })

  test('deleting says what stays; hostile texts stay texts; a resident and an unknown agent have a page', async (t) => {
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'zh-CN' }
    const { served, page, complaints } = await open(t, 'hostile', phone)
    await page.locator('[data-agent-page=hostile]').waitFor()
    await page.getByText('window.hacked').first().waitFor()
    for (const summary of await page.locator('main summary').all()) await summary.click()
    await assertHarmless(page)
    await page.getByText('send_message').waitFor()
    assert.deepEqual(await findSerious(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.getByRole('button', { name: '编辑' }).click()
    await page.locator('[data-said-back]').waitFor()
    await assertHarmless(page)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    assert.deepEqual(await findSerious(page), [])
    await page.getByRole('button', { name: '取消' }).click()
    await page.getByRole('button', { name: '删除' }).click()
    const dialog = page.getByRole('dialog')
    for (const text of ['它的所有运行记录和花费', '它记住的内容', 'agents/.deleted'])
      await dialog.getByText(text).waitFor()
    await dialog.getByRole('button', { name: '删除' }).click()
    await page.locator('[data-toast=live]').getByText('已删除 hostile。恢复：mv').waitFor()
    await page.locator('[data-agent=hostile]').waitFor({ state: 'detached' })
    assert.ok(existsSync(join(served.home, 'agents/.deleted/hostile/agent.yaml')))
    await page.goto(`${served.url}/agents/watcher`)
    await page.getByText('常驻智能体在文件 tireless.yaml').waitFor()
    await assertHarmless(page)
    await page.goto(`${served.url}/agents/nobody`)
    await page.getByText('没有名为 nobody 的智能体').waitFor()
    assert.deepEqual(complaints(), [])
  })

  test('an agent that waits for tasks is given one on its page', async (t) => {
    const { served, page } = await open(t, 'hostile')
    await page.getByRole('textbox', { name: 'Give it a task' }).fill('count to three')
    await page.keyboard.press('Enter')
    await page.locator('[data-toast=live]').getByText('The task is in the queue.').waitFor()
    const { items } = await served.app.run('queue list', { agent: 'hostile' })
    assert.equal(items[0]?.prompt, 'count to three')
    await page.locator(`a[href="/runs/${items[0]?.dispatch_id}"]`).waitFor()
    await waitUntil(async () =>
      isTerminal((await served.app.run('queue show', { id: items[0]?.dispatch_id ?? '' })).status),
    )
  })
})
