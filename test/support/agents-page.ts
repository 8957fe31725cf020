/** An app for tests of the place Agents: it serves the page, works on its queue, and has a model with a price. */

import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { loginAt, openTab } from './chromium.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { freshFolder } from './open-app.ts'

const CALLS = [{ tool: 'create_file', args: { path: 'log.md', content: 'done' } }]

export async function openAgentsApp(t: TestContext, yaml: string, home = freshFolder(t)): Promise<HttpApp> {
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  const model = {
    ...scriptedModel(({ messages }) => (messages.length > 1 ? { text: '## Summary\ndone' } : { calls: CALLS })),
    price: { input: 3, output: 15, max_output: 1000 },
  }
  let draining: Promise<void> | undefined
  // Before the app is closed, which is registered next.
  t.after(async () => {
    stopping.abort()
    await draining
  })
  const served = await openHttpApp(t, { home, yaml: `server: { port: 0 }\n${yaml}`, model, signals })
  draining = served.app.context.drain({ untilIdle: false })
  return served
}

interface AgentsTab {
  readonly page: Page
  /** Contract: what the browser complained about, without refusals that the test asked for. */
  complaints(): readonly string[]
}

export async function openAgentsTab(
  browser: Browser,
  served: HttpApp,
  place = '/agents',
  options: BrowserContextOptions = {},
): Promise<AgentsTab> {
  const { page, complaints } = await openTab(browser, served.url, options)
  await page.goto(loginAt(served.login_url, place))
  // A browser reports every answer with an error status; refused sentences and edits have one.
  return {
    page,
    complaints: () => complaints.filter((text) => !/status of (400|404|409) .*\/api\/v1\/agent\//.test(text)),
  }
}
