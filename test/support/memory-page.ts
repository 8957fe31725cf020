/** A home with documents, facts and skills for tests of the place Memory. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { replaceBlock } from '../../src/domain/runtime-block.ts'
import type { Documents } from '../../src/ports/documents.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { loginAt, openTab, type Tab } from './chromium.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { freshFolder, runTaskIn } from './open-app.ts'
import { BLOCK } from './state-fixtures.ts'

export interface MemoryPage extends HttpApp, Tab {
  readonly documents: Documents
  /** Contract: writes a file of the home. */
  write(path: string, text: string): void
  /** Contract: shows a place of the page, without logging in again. */
  show(place: string): Promise<Page>
}

interface MemoryOptions extends BrowserContextOptions {
  readonly steps?: readonly ScriptedStep[]
  readonly task?: string
  /** Files of the home. */
  readonly files?: Readonly<Record<string, string>>
  readonly yaml?: string
}

export async function openMemoryPage(
  t: TestContext,
  browser: Browser,
  { steps = [], task = 'the task', files = {}, yaml = '', ...options }: MemoryOptions = {},
): Promise<MemoryPage> {
  const home = freshFolder(t)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const model = scriptedModel([...steps, { text: 'done' }])
  const served = await openHttpApp(t, { home, yaml: `server: { port: 0 }\n${yaml}`, model })
  const { documents } = served.app.context
  await documents.seed('STATE.md', '# Work\n\n## plan\n- first\n')
  if (steps.length > 0) await runTaskIn(served.app, task)
  await documents.write('STATE.md', (text) => replaceBlock(text, BLOCK), { author: 'system', reason: 'cycle' })
  const tab = await openTab(browser, served.url, options)
  let isLoggedIn = false
  const show = async (place: string): Promise<Page> => {
    await tab.page.goto(isLoggedIn ? `${served.url}${place}` : loginAt(served.login_url, place))
    isLoggedIn = true
    return tab.page
  }
  return { ...served, ...tab, documents, write, show }
}
