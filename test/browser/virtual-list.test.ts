/** The page's list of any length, in a real Chromium: few elements, no long tasks, usable with the keyboard. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { launchChromium, openTab, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { findLongTasks } from '../support/long-tasks.ts'

const WEB = join(import.meta.dirname, '../../web')
const ORIGIN = 'http://list.test'

const HTML = `<style>.relative { position: relative } .absolute { position: absolute }</style>
  <body><script type=module src=/list.js></script>`

/** Every tenth row is higher than expected, and row 5 is higher once it is opened. */
const PROGRAM = `
import { h, render } from 'preact'
import { VirtualList } from '${WEB}/src/virtual-list.tsx'
const heightOf = (index) => (index % 10 ? 40 : 75) + (window.opened === index ? 60 : 0)
const row = (index) => h('div', { style: { height: heightOf(index) + 'px' } },
  h('a', { href: '#' + index }, 'row ' + index))
const onRange = (first, last) => { window.shown = [first, last] }
const draw = (count) => render(h('main', null, h('h1', null, 'Rows'), h(VirtualList,
  { count, rowHeight: 40, label: 'Rows', row, onRange })), document.body)
window.draw = draw
draw(100_000)
`

async function bundleProgram(): Promise<string> {
  const result = await build({
    configFile: join(WEB, 'vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    plugins: [
      { name: 'program', resolveId: (id) => (id === 'program' ? join(WEB, 'program.js') : null), load: loadProgram },
    ],
    build: { write: false, rollupOptions: { input: 'program' } },
  })
  const [output] = [result].flat()
  const chunk = output && 'output' in output ? output.output.find(({ type }) => type === 'chunk') : undefined
  assert.ok(chunk?.type === 'chunk')
  return chunk.code
}

const loadProgram = (id: string): string | null => (id.endsWith('/program.js') ? PROGRAM : null)

const countRows = (page: Page): Promise<number> => page.locator('[data-row]').count()
const evaluate = <T>(page: Page, script: string): Promise<T> => page.evaluate(script)

/** Two frames later everything is drawn. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))'

/** Contract: the row at the top of the window. */
const topRow = (page: Page): Promise<string> =>
  evaluate(
    page,
    `[...document.querySelectorAll('[data-row]')]
    .find((row) => row.getBoundingClientRect().bottom > 1).querySelector('a').textContent`,
  )

describe('the list of any length in a browser', { skip: WITHOUT_CHROMIUM, timeout: 120_000 }, () => {
  let browser: Browser
  let code = ''
  before(async () => {
    browser = await launchChromium()
    code = await bundleProgram()
  })
  after(() => browser.close())

  async function load(page: Page): Promise<void> {
    await page.goto(`${ORIGIN}/`)
    await page.getByText('row 0', { exact: true }).waitFor()
  }

  async function openList(): Promise<Page> {
    const { page } = await openTab(browser, ORIGIN)
    await page.route(`${ORIGIN}/**`, (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: code })
        : route.fulfill({ contentType: 'text/html', body: HTML }),
    )
    await load(page)
    return page
  }

  test('the page: 100,000 rows are at most 100 elements, and scrolling them has no task over 50 ms', async () => {
    const page = await openList()
    const work = async (): Promise<void> => {
      for (const distance of [300, 2000, 50_000, -700, 900_000, 40, -3000, 2_000_000]) {
        await evaluate(page, `scrollBy(0, ${distance}); ${DRAWN}`)
        const rows = await countRows(page)
        assert.ok(rows > 20 && rows <= 100, `${rows} rows`)
        assert.match(await topRow(page), /^row \d+$/)
      }
    }
    assert.deepEqual(await findLongTasks(browser, page, { prepare: () => load(page), work }), [])
    const [first, last] = await evaluate<[number, number]>(page, 'window.shown')
    assert.ok(first > 60_000 && last - first < 100, `${first} to ${last}`)
  })

  test('the page: a row that grows above the window moves nothing that is read', async () => {
    const page = await openList()
    await evaluate(page, `scrollTo(0, 420); ${DRAWN}`)
    await page.locator('[data-row="12"]').waitFor()
    const placeOf12 = `document.querySelector('[data-row="12"]').getBoundingClientRect().top`
    const before = await evaluate<number>(page, placeOf12)
    await evaluate(page, `window.opened = 5; draw(100_000); ${DRAWN}`)
    assert.equal(await evaluate(page, 'document.querySelector(\'[data-row="5"]\').offsetHeight'), 100)
    assert.ok(Math.abs((await evaluate<number>(page, placeOf12)) - before) < 1)
  })

  test('the page: keys move from row to row, to the end and back; the focused row stays an element', async () => {
    const page = await openList()
    const focused = (): Promise<string> => evaluate(page, 'document.activeElement.textContent')
    await page.getByText('row 0', { exact: true }).focus()
    for (let key = 0; key < 30; key += 1) await page.keyboard.press('ArrowDown')
    assert.equal(await focused(), 'row 30')
    await page.keyboard.press('End')
    await page.getByText('row 99999').waitFor()
    assert.equal(await focused(), 'row 99999')
    await page.keyboard.press('ArrowUp')
    assert.equal(await focused(), 'row 99998')
    assert.equal(await page.locator('[data-row="99998"]').getAttribute('aria-setsize'), '100000')
    await evaluate(page, 'scrollTo(0, 0)')
    await page.getByText('row 0', { exact: true }).waitFor()
    assert.equal(await focused(), 'row 99998')
    await page.keyboard.press('Home')
    assert.equal(await focused(), 'row 0')
    await evaluate(page, 'draw(3)')
    assert.equal(await countRows(page), 3)
  })
})
