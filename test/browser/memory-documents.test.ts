/** The documents of the place Memory in a real browser: read, edited, compared, taken back, accepted. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { openMemoryPage } from '../support/memory-page.ts'
import { assertHarmless, findSerious } from '../support/page-checks.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const STATE = 'kernels/default/STATE.md'

describe('documents on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('E2: the state is read, edited with a preview, compared and taken back', async (t) => {
    const memory = await openMemoryPage(t, browser)
    const page = await memory.show('/memory')
    const text = page.locator('[data-document="STATE.md"]')
    await text.getByText('first').waitFor()
    await page.getByText('What Tireless keeps in it').click()
    await page.getByText('- cycle_id: c1').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const field = page.getByRole('textbox', { name: 'STATE.md: Text' })
    assert.equal(await field.inputValue(), '# Work\n\n## plan\n- first\n', 'the part of the system is not offered')
    await field.fill(`# Work\n\n## plan\n- **second**\n\n${PAYLOAD}\n`)
    await page.locator('[data-preview] strong').getByText('second').waitFor()
    await assertHarmless(page)
    await page.getByLabel('Why').fill(`a better plan ${PAYLOAD}`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('[data-toast=live]').getByText('Saved as version 3.').waitFor()
    await text.locator('strong').getByText('second').waitFor()
    const stored = await memory.documents.read('STATE.md')
    assert.match(stored?.text ?? '', /second[\s\S]*KERNEL_RUNTIME:END/, 'the part of the system is still there')

    const version = page.locator('[data-version="3"]')
    await version.getByText('by you').waitFor()
    await version.getByRole('button', { name: 'What changed' }).click()
    await version.locator('[data-line=removed]').getByText('- first').waitFor()
    assert.equal(await page.locator('[data-version="2"]').count(), 0, 'versions of the system are hidden')
    await page.getByLabel('Also versions by Tireless').check()
    await page.locator('[data-version="2"]').getByText('after a cycle').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])

    const first = page.locator('[data-version="1"]')
    await first.getByRole('button', { name: 'What changed' }).click()
    await first.getByLabel('Compared with').selectOption('now')
    await first.locator('[data-difference=now] [data-line=added]').getByText('**second**').waitFor()
    await first.getByRole('button', { name: 'Go back to this version' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('[data-line=added]').getByText('- first').waitFor()
    assert.equal((await memory.documents.read('STATE.md'))?.version, 3, 'nothing happens before it is confirmed')
    await dialog.getByRole('button', { name: 'Go back to this version' }).click()
    await text.getByText('first').waitFor()
    assert.equal((await memory.app.run('state show', {})).own_text, '# Work\n\n## plan\n- first\n')
    assert.deepEqual(memory.complaints, [])
  })

  test('I7: an edit of a text that changed meanwhile is refused, kept, and saved on request', async (t) => {
    const memory = await openMemoryPage(t, browser)
    const page = await memory.show('/memory/state?edit=1')
    const field = page.getByRole('textbox', { name: 'STATE.md: Text' })
    await field.fill('# Mine\n')
    const by = { author: 'writer', reason: 'edit_state s.1.0' }
    await memory.documents.write('STATE.md', (now) => now.replace('- first', `- by the agent ${PAYLOAD}`), by)
    await page.getByRole('button', { name: 'Save' }).click()
    const conflict = page.locator('[data-conflict]')
    await conflict.locator('[data-line=added]').getByText('- by the agent').waitFor()
    assert.equal(await field.inputValue(), '# Mine\n')
    assert.match((await memory.app.run('state show', {})).own_text, /by the agent/, 'nothing was written')
    await assertHarmless(page)

    await page.reload()
    await page.getByText('This is your text from before').waitFor()
    assert.equal(await field.inputValue(), '# Mine\n', 'a reload does not lose it either')
    await page.getByRole('button', { name: 'Save' }).click()
    await conflict.waitFor()
    await field.fill('# Mine\n- by the agent\n')
    await page.getByRole('button', { name: 'Save mine over it' }).click()
    await page.locator('[data-document="STATE.md"]').getByText('by the agent').waitFor()
    assert.equal((await memory.app.run('state show', {})).own_text, '# Mine\n- by the agent\n')
    assert.deepEqual(
      memory.complaints.filter((complaint) => !complaint.includes('409')),
      [],
    )
  })

  test('E2, I12: an edited file and parts from outside wait until the owner has seen and accepted them', async (t) => {
    const memory = await openMemoryPage(t, browser, { yaml: 'sandbox: off\n' })
    const label = { trust: 'untrusted', private: false } as const
    const by = { author: 'reader', reason: 'edit_state s.1.0', label }
    await memory.documents.write('STATE.md', (now) => now.replace('- first', '- first\n- from the web'), by)
    const { text } = await memory.app.run('state show', {})
    memory.write(STATE, text.replace('# Work', `# Work by whom? ${PAYLOAD.replaceAll('\n', ' ')}`))
    const page = await memory.show('/memory/state')
    const waiting = page.locator('[data-pending="STATE.md"]')
    assert.equal(await waiting.getByRole('button', { name: 'Use the edit' }).isDisabled(), true, 'it is seen first')
    await waiting.getByRole('button', { name: 'See the edit' }).click()
    await waiting.locator('[data-line=added]').getByText('by whom?').waitFor()
    await assertHarmless(page)
    assert.deepEqual(await findSerious(page), [])
    await waiting.getByRole('button', { name: 'Discard the edit' }).click()
    await waiting.waitFor({ state: 'detached' })

    await page.locator('[data-section=plan] [data-label=untrusted]').waitFor()
    await page.getByRole('button', { name: 'Trust these parts' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Trust these parts' }).click()
    await page.locator('[data-section=plan]').first().waitFor({ state: 'detached' })
    assert.equal((await memory.app.run('state show', {})).trust, 'trusted')

    await page.getByRole('link', { name: 'Documents' }).click()
    const copy = page.locator('[data-copy]')
    await copy.getByRole('button', { name: 'Compare with the version in use' }).click()
    await copy.locator('[data-line=added]').getByText('by whom?').waitFor()
    await copy.getByRole('button', { name: 'Take into the editor' }).click()
    assert.match(await page.getByRole('textbox', { name: 'STATE.md: Text' }).inputValue(), /by whom\?/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Throw away' }).click()
    await page.getByRole('link', { name: 'Documents' }).click()
    await copy.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await copy.waitFor({ state: 'detached' })
    assert.deepEqual(await memory.documents.copies('STATE.md'), [])
    assert.deepEqual(memory.complaints, [])
  })

  test('Memory: a goal is written where there is none; Chinese, dark, on a phone nothing moves sideways', async (t) => {
    const memory = await openMemoryPage(t, browser, { ...PHONE, locale: 'zh-CN', colorScheme: 'dark' })
    const page = await memory.show('/memory/goal')
    await page.getByRole('button', { name: '写一份' }).click()
    await page.getByRole('textbox', { name: 'GOAL.md: 内容' }).fill(`# 目标\n\n${PAYLOAD} ${'long'.repeat(80)}\n`)
    assert.deepEqual(await findSerious(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    await page.keyboard.press('ControlOrMeta+s')
    await page.locator('[data-document="GOAL.md"]').getByText('目标').waitFor()
    await page.locator('[data-version="1"]').getByRole('button', { name: '改了什么' }).click()
    await page.locator('[data-version="1"] [data-line=added]').first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    assert.deepEqual(await findSerious(page), [])
    await assertHarmless(page)
    await memory.show('/memory/documents')
    await page.locator('[data-document-row="INIT.md"]').getByText('还没有内容').waitFor()
    assert.deepEqual(await findSerious(page), [])
    await page.locator('[data-document-row="INIT.md"]').click()
    await page.getByText('还没有 INIT.md。').waitFor()
    assert.deepEqual(memory.complaints, [])
  })
})
