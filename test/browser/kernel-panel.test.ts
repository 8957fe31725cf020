/** The kernel's figures on the page Now, from a server with fixed cycles, spend and next beat. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { z } from 'zod'
import { newSecret } from '../../src/adapters/system/ids.ts'
import { type Command, defineCommand } from '../../src/commands/lib/command.ts'
import { loadCommands } from '../../src/commands/lib/registry.ts'
import { type HttpServer, serveHttp } from '../../src/server/http.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { launchChromium, loginAt, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { openApp } from '../support/open-app.ts'

const COMMANDS = await loadCommands()

const AGENT = { dispatch_id: 'd', session_id: 's', summary: 'x', failure_class: null, attempts: 1 }
const CYCLE = {
  ...{ cycle_id: 'c1', status: 'partial_success', dispatched: 3, succeeded: 1, failed: 1, parked: 1 },
  ...{ failed_agents: ['watcher'], idle_reason: null, error: null, duration_ms: 42_310 },
  agents: [
    { agent_id: 'report', status: 'done', ...AGENT },
    { agent_id: 'watcher', status: 'failed', ...AGENT },
  ],
}
const IDLE = { ...CYCLE, cycle_id: 'c0', status: 'success', dispatched: 0, agents: [], idle_reason: 'nothing is new' }
const RECORD = { trigger: 'beat', due: null, started_at: '2026-01-01T10:00:00Z', ended_at: null }
const ENDED = { ...CYCLE, cycle_id: 'c3', status: 'success', dispatched: 1, succeeded: 2, failed: 0, parked: 0 }
const OPEN = { ...ENDED, cycle_id: 'c4', succeeded: 0, agents: CYCLE.agents.slice(0, 1) }
const CYCLES = [
  { ...RECORD, cycle_id: 'c2', result: null },
  { ...RECORD, cycle_id: 'c1', result: CYCLE },
  { ...RECORD, cycle_id: 'c0', result: IDLE },
  { ...RECORD, cycle_id: 'c3', result: ENDED },
  { ...RECORD, cycle_id: 'c4', result: OPEN },
]

const REAL_STATUS = COMMANDS.find(({ name }) => name === 'status') ?? assert.fail('the command status is missing')

/** The kernel's commands with fixed answers; actions are recorded in `kernel.done`. */
function kernelCommands(kernel: { state: string; done: string[] }, beat: string | null): readonly Command[] {
  const status: Command = {
    ...REAL_STATUS,
    output: z.looseObject({}),
    async run(context, _, tell) {
      const { kernel: realKernel, ...rest } = (await REAL_STATUS.run(context, {}, tell)) as { kernel: object }
      const spend = { today_usd: 4.75, cap_usd: 5, calls: 1234 }
      return { ...rest, kernel: { ...realKernel, state: kernel.state, next_beat: beat, last_cycle: CYCLE }, spend }
    },
  }
  const list = defineCommand({
    ...{ name: 'cycles list', summary: 'the cycles', example: 'cycles list', runsIn: 'any_process' },
    needs: [],
    input: z.object({ limit: z.int().default(10) }),
    output: z.object({ items: z.array(z.unknown()) }),
    run: async () => ({ items: CYCLES }),
  })
  const actionCommand = (name: string, state: string) =>
    defineCommand({
      ...{ name, summary: name, example: name, runsIn: 'any_process' as const },
      needs: [],
      input: z.object({}),
      output: z.object({ ok: z.boolean() }),
      async run() {
        kernel.done.push(name)
        kernel.state = state
        return { ok: true }
      },
    })
  const all = [
    status,
    list,
    actionCommand('pause', 'paused'),
    actionCommand('resume', 'running'),
    actionCommand('cycle now', 'running'),
  ]
  return all as unknown as readonly Command[]
}

const TOKEN = newSecret()

async function serve(t: TestContext, commands: readonly Command[]): Promise<HttpServer> {
  const app = await openApp(t, { model: scriptedModel([{ text: 'x' }]) })
  const names = new Set([...commands.map(({ name }) => name), 'pause', 'resume', 'cycle now', 'cycles list'])
  const http = await serveHttp({
    ...{ host: '127.0.0.1', port: 0, token: () => TOKEN, secret: newSecret, context: app.context },
    commands: [...COMMANDS.filter(({ name }) => !names.has(name)), ...commands],
    records: app.service('events').redactedRecords,
    page: `${import.meta.dirname}/../../web/dist`,
    failed: (error) => assert.fail(error),
  })
  t.after(http.close)
  await app.run('enqueue', { prompt: 'tend the folder', at: '1h' })
  return http
}

describe('the kernel on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('Now: shows next beat, last cycles, spend and queue, and the buttons work', async (t) => {
    const kernel = { state: 'running', done: [] as string[] }
    const http = await serve(t, kernelCommands(kernel, new Date(Date.now() + 3_600_000).toISOString()))
    const { page, complaints } = await openTab(browser, http.url)
    await page.goto(loginAt(http.loginUrl(), '/now'))
    await waitUntilLive(page)
    await page.getByText(/^in (1 h 00 min|59 min)$/).waitFor()
    await page.getByText(/^at ([A-Z]\S+ .*)?\d\d:\d\d$/).waitFor()
    await page.getByText('$4.75').waitFor()
    await page.getByText('of $5.00 · 1,234 model calls').waitFor()
    const [first, second] = [page.locator('[data-cycle=c1]'), page.locator('[data-cycle=c0]')]
    await first.getByText('partial · 1 of 3 succeeded · 1 failed · 1 waiting').waitFor()
    assert.match(await first.innerText(), /42\.3 s[\s\S]*report[\s\S]*watcher/)
    assert.match(await second.innerText(), /success · nothing is new/)
    assert.match(await page.locator('[data-cycle=c2]').innerText(), /running/)
    await page.locator('[data-cycle=c3]').getByText('success · 2 of 2 succeeded').waitFor()
    await page.locator('[data-cycle=c4]').getByText('not finished · 0 of 1 succeeded · 1 went on').waitFor()
    await page.getByText('tend the folder').waitFor()
    await page.getByText('default is waiting').waitFor()
    await page.getByRole('button', { name: 'Run a cycle now' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('[data-state=paused]').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    assert.deepEqual(kernel.done, ['cycle now', 'pause', 'resume'])
    assert.deepEqual(complaints, [])
  })

  test('Now: a late answer does not hide a newer status', async (t) => {
    const kernel = { state: 'running', done: [] as string[] }
    const http = await serve(t, kernelCommands(kernel, null))
    const { page } = await openTab(browser, http.url)
    await page.goto(loginAt(http.loginUrl(), '/now'))
    await waitUntilLive(page)
    await page.getByText('default is waiting').waitFor()
    const answered = Promise.withResolvers<() => Promise<void>>()
    await page.route(
      '**/api/v1/status',
      async (route) => {
        const response = await route.fetch()
        answered.resolve(() => route.fulfill({ response }))
      },
      { times: 1 },
    )
    await page.getByRole('button', { name: 'Run a cycle now' }).click()
    const release = await answered.promise
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('[data-state=paused]').waitFor()
    await release()
    await page.getByRole('button', { name: 'Run a cycle now' }).and(page.locator(':not([disabled])')).waitFor()
    assert.equal(await page.locator('[data-state=paused]').count(), 1)
  })
})
