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
