/** Checks of the page in a browser: nothing of a text is executed, and people with assistive technology can use it. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** Contract: nothing that a model or a stranger wrote has become markup or has run. */
export async function assertHarmless(page: Page): Promise<void> {
  assert.equal(await page.evaluate('window.hacked'), undefined, 'text of a model must not be executed')
  const dangerous = 'main script, main img, main iframe, main svg[onload], main [onerror], main a[href^="javascript"]'
  assert.equal(await page.locator(dangerous).count(), 0)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Contract: the serious findings of axe on the current page. */
export async function findSerious(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n')}`)
}

/** Contract: on a phone, nothing of the page is wider than the screen. */
export async function assertFitsPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('aside').waitFor({ state: 'detached' })
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  assert.equal(await page.evaluate(overflow), 0, `${page.url()} is wider than a phone`)
  await page.setViewportSize({ width: 1280, height: 900 })
}
