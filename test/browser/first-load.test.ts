/** What a browser loads before the owner can write: it has to be there at once, on a phone too. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchChromium, openTab, WITHOUT_CHROMIUM, waitUntilLive } from '../support/chromium.ts'
import { sendRequest } from '../support/http-app.ts'
import { openTalkPage } from '../support/talk-page.ts'

const MAX_BYTES = 150_000

/** The page, its scripts, its style, and the answers of commands, as they came over the network. */
const LOADED = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map(({ name, transferSize }) => ({ path: new URL(name).pathname, bytes: transferSize }))`

test('Talk: the first load is at most 150 kB, compressed', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const browser = await launchChromium()
  t.after(() => browser.close())
  const served = await openTalkPage(t)
  const { page } = await openTab(browser, served.url)
  await page.goto(served.login_url)
  await waitUntilLive(page)
  await page.getByRole('textbox').waitFor()
  const loaded = (await page.evaluate(LOADED)) as readonly { readonly path: string; readonly bytes: number }[]
  for (const wanted of [/^\/$/, /\.js$/, /\.css$/])
    assert.ok(
      loaded.some(({ path, bytes }) => wanted.test(path) && bytes > 0),
      `${wanted} in ${JSON.stringify(loaded)}`,
    )
  const bytes = loaded.reduce((sum, each) => sum + each.bytes, 0)
  assert.ok(bytes <= MAX_BYTES, `${bytes} bytes: ${JSON.stringify(loaded)}`)
  t.diagnostic(`${bytes} bytes`)

  const script = loaded.find(({ path }) => path.endsWith('.js'))?.path ?? ''
  const text = await page.evaluate((path) => fetch(path).then((answer) => answer.text()), script)
  const plain = await sendRequest(served, script)
  assert.equal(plain.text === text, true, 'who accepts no gzip gets the same script')
  assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding'])
})
