/** Lists and files of any length have few elements, in a real browser. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openAgentsApp, openAgentsTab } from '../support/agents-page.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { fakeTool, PURE } from '../support/fake-tools.ts'
import { openHttpApp } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { finishTask } from '../support/runs-page.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { openTalkPage } from '../support/talk-page.ts'

const MANY = 2000

describe('long lists, on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('thousands of agents and skills are at most 100 rows', async (t) => {
    const served = await openAgentsApp(t, 'kernel:\n  agents:\n    - { agent_id: worker, prompt: work }\n')
    const { page } = await openAgentsTab(browser, served, '/now')
    await waitUntilLive(page)
    await page.route('**/api/v1/agent/list*', async (route) => {
      const response = await route.fetch()
      const list = (await response.json()) as { items: object[] }
      const items = Array.from({ length: MANY }, (_, at) => ({ ...list.items[0], agent_id: `worker-${at}` }))
      await route.fulfill({ response, json: { ...list, items } })
    })
    await page.route('**/api/v1/skills/list*', (route) => {
      const skill = { agent: null, workspace: null, status: 'approved', problem: null, description: 'cooks' }
      const items = Array.from({ length: MANY }, (_, at) => ({ ...skill, name: `skill-${at}`, path: `/s/${at}` }))
      return route.fulfill({ json: { items, total: MANY } })
    })
    await page.goto(`${served.url}/agents`)
    await page.locator('[data-agent="worker-3"]').waitFor()
    assert.ok((await page.locator('[data-agent]').count()) <= 100)
    await page.getByRole('searchbox').fill('worker-1999')
    await page.locator('[data-agent="worker-1999"]').waitFor()
    await page.goto(`${served.url}/memory/skills`)
    await page.locator('[data-skill="skill-3"]').waitFor()
    assert.ok((await page.locator('[data-skill]').count()) <= 100)
  })

  test('Q15: of a step with hundreds of calls the first are drawn, and more on request', async (t) => {
    const calls = Array.from({ length: 300 }, (_, n) => ({ tool: 'count', args: { n } }))
    const served = await openTalkPage(t, {
      tools: [fakeTool({ name: 'count', effect: PURE })],
      work: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'counted' } : { calls }),
    })
    const run = await finishTask(served, 'count all')
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, `/runs/${run}?step=1`))
    const step = page.locator('[data-step-details="1"]')
    const drawn = step.locator('[data-step-call=count]')
    await step.getByRole('button', { name: 'Show 20 more (280 left)' }).click()
    await step.getByRole('button', { name: 'Show 20 more (260 left)' }).waitFor()
    assert.equal(await drawn.count(), 40)
    await page.goto(`${served.url}/runs/${run}?step=2`)
    const request = page.locator('[data-step-details="2"]')
    await request.getByRole('button', { name: 'Show the exact request' }).click()
    await request.getByRole('button', { name: 'Show 40 earlier' }).click()
    await waitUntil(async () => (await request.locator('[data-messages] summary').count()) === 80)
  })

  test('Settings: of a thousand models the first are drawn, and more on request', async (t) => {
    const served = await openTalkPage(t)
    const { page } = await openTab(browser, served.url)
    await page.goto(served.login_url)
    await waitUntilLive(page)
    await page.route('**/api/v1/models/list*', async (route) => {
      const response = await route.fetch()
      const list = (await response.json()) as { items: object[] }
      const items = Array.from({ length: 1000 }, (_, at) => ({ ...list.items[0], id: `many/model-${at}` }))
      await route.fulfill({ response, json: { ...list, items } })
    })
    await page.goto(`${served.url}/settings/models`)
    const models = page.getByText('many/model-', { exact: false })
    await page.getByRole('button', { name: 'Show 50 more (950 left)' }).click()
    await page.getByRole('button', { name: 'Show 50 more (900 left)' }).waitFor()
    assert.ok((await models.count()) <= 110)
  })

  test('of many changed files the first are open, the others open on demand', async (t) => {
    const work = scriptedWork()
    const served = await openHttpApp(t, {
      ...{ yaml: `server: { port: 0 }\n${WORK_YAML}`, model: work.model, tools: [work.tool] },
    })
    const lines = Array.from({ length: 300 }, (_, at) => `line ${at}\n`).join('')
    const names = Array.from({ length: 30 }, (_, at) => `file-${String(at).padStart(2, '0')}.md`)
    await work.run(served.app, [(root) => void names.map((name) => writeFileSync(join(root, name), lines))])
    const { page } = await openTab(browser, served.url)
    await page.goto(loginAt(served.login_url, '/work/workspaces'))
    await page.getByRole('link', { name: /^writer/ }).click()
    await page.getByRole('link', { name: 'What runs changed' }).click()
    await page.getByRole('button', { name: 'Show the changes' }).first().click()
    await page.locator('[data-changed-file="file-00.md"] [data-diff]').waitFor()
    assert.equal(await page.locator('[data-changed-file]').count(), 30)
    assert.equal(await page.locator('[data-diff]').count(), 1)
    const last = page.locator('[data-changed-file="file-29.md"]')
    await last.getByRole('button', { name: 'file-29.md' }).click()
    await last.locator('[data-diff]').waitFor()
    await last.getByRole('button', { name: 'file-29.md' }).click()
    await last.locator('[data-diff]').waitFor({ state: 'detached' })
  })
})
