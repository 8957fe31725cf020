/** Visits every place of the page in a home full of harmful text, and looks for what it must not do. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { loginAt, openTab, waitUntilLive } from './chromium.ts'
import { type HostileHome, openHostileHome } from './hostile-home.ts'
import { waitUntil } from './open-app.ts'
import { assertHarmless } from './page-checks.ts'

interface ShownPlace {
  path(home: HostileHome): string
  /** Which harmful texts it must show: a place that shows none proves nothing. */
  readonly marks: readonly string[]
}

interface Expected extends Pick<ShownPlace, 'marks'> {
  readonly home: HostileHome
}

const at = (path: string, ...marks: readonly string[]): ShownPlace => ({ path: () => path, marks })

const PLACES: readonly ShownPlace[] = [
  at('/', 'message', 'reply', 'session', 'todo', 'file', 'argument', 'result'),
  at('/needs-you', 'payee', 'reason', 'publish', 'half', 'question', 'fail', 'error'),
  at('/now', 'look', 'said', 'known', 'schedule', 'live', 'stay', 'fail', 'error', 'payee', 'reason', 'question'),
  at('/runs', 'message', 'fail', 'ask', 'pay', 'publish'),
  { path: ({ written }) => `/runs/${written.dispatch_id}`, marks: [] },
  at('/agents', 'agent', 'goal'),
  at('/costs'),
  at('/reports', 'message', 'fail', 'error', 'said', 'file'),
  ...[at('/work', 'todo'), at('/work/sessions'), at('/work/queue', 'pay'), at('/work/workspaces')],
  { path: ({ written }) => `/work/sessions/${encodeURIComponent(written.session_id)}`, marks: ['message', 'todo'] },
  { path: ({ written }) => `/work/workspaces/${encodeURIComponent(written.session_id)}`, marks: ['file'] },
  {
    path: ({ written }) => `/work/workspaces/${encodeURIComponent(written.session_id)}?view=history`,
    marks: ['message'],
  },
  ...[at('/memory'), at('/memory/facts'), at('/memory/skills'), at('/memory/documents')],
  ...[at('/settings'), at('/settings/doctor'), at('/settings/logs')],
]

/** Texts that hide or reorder what people read, in the page or in a tooltip or name of it. */
const FIND_DISGUISED = `[
  document.body.innerText,
  ...['title', 'aria-label', 'placeholder', 'alt'].flatMap((name) =>
    [...document.querySelectorAll('[' + name + ']')].map((element) => element.getAttribute(name))),
].filter((text) => /(?![\\n\\t\\u200d])[\\p{Cc}\\p{Cf}]/u.test(text)).map((text) => text.slice(0, 300))`

const FIND_FOREIGN = `[...document.querySelectorAll('[href], [src], [action], [srcdoc]')]
  .flatMap((element) => ['href', 'src', 'action', 'srcdoc'].map((name) => element.getAttribute(name)))
  .filter((value) => value !== null && !/^(\\/(?!\\/)|#|https?:\\/\\/)/.test(value))`

async function assertSafe(page: Page, where: string, { marks, home }: Expected): Promise<void> {
  const missing = async (): Promise<readonly string[]> => {
    home.speak()
    await page.evaluate(`for (const closed of document.querySelectorAll('details:not([open])')) closed.open = true`)
    const text = String(await page.evaluate('document.body.innerText')).toLowerCase()
    return marks.filter((mark) => !text.includes(`${mark}-mark`))
  }
  const deadline = performance.now() + 20_000
  await waitUntil(async () => (await missing()).length === 0 || performance.now() > deadline)
  assert.deepEqual(await missing(), [], `${where} must show these`)
  await assertHarmless(page)
  assert.deepEqual(await page.evaluate(FIND_DISGUISED), [], where)
  assert.deepEqual(await page.evaluate(FIND_FOREIGN), [], where)
  assert.equal(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    true,
    `${where} is wider than the window`,
  )
}

interface Window {
  readonly locale: string
  readonly width: number
}

/** Contract: harmful text does nothing in any place, and is shown as it is. */
export async function assertHarmlessPlaces(t: TestContext, browser: Browser, { locale, width }: Window): Promise<void> {
  const home = await openHostileHome(t)
  const { page, complaints } = await openTab(browser, home.url, { locale, viewport: { width, height: 900 } })
  await page.goto(home.login_url)
  await waitUntilLive(page)
  const faults: string[] = []
  for (const { path, marks } of PLACES) {
    const where = path(home)
    await page.goto(loginAt(`${home.url}/#`, where))
    await waitUntilLive(page)
      .then(() => assertSafe(page, where, { marks, home }))
      .catch((error) => faults.push(`${where}: ${error}`))
  }
  assert.deepEqual(faults, [])
  assert.deepEqual(complaints, [])
}
