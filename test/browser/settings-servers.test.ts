/** MCP servers in the place Settings: started only after a question, their tools explained and approved. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ControlledServer } from '../support/mcp-homes.ts'
import { assertSound, assertSoundOnPhone, confirmIn, openSettings, unexpected } from '../support/settings-page.ts'
import { PAYLOAD } from '../support/talk-page.ts'

const TOKEN = 'tok-marmalade-7731-for-breakfast'
const YAML = '# mine\nserver: { port: 0 }\nsandbox: off\n'

describe('MCP servers in Settings', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('an MCP server runs only after the owner was asked; its tools are explained and approved', async (t) => {
    const server = new ControlledServer(t)
    server.setTools({ description: PAYLOAD })
    const settings = await openSettings(t, browser, 'mcp', { yaml: YAML })
    const { page, app, home } = settings
    const command = server.command.map((word) => `"${word}"`).join(' ')
    await page.getByText('There are none yet.').waitFor()
    await page.getByRole('button', { name: 'Add a server' }).click()
    const form = page.getByRole('form', { name: 'Add a server' })
    const submit = async (program: string): Promise<void> => {
      await form.getByLabel('Program with its arguments').fill(program)
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('dialog').getByText('This starts a program on the machine of Tireless').waitFor()
      await confirmIn(page, 'Go on')
    }
    await form.getByLabel('Name').fill('mine')
    await form.getByLabel('Token, if it needs one').fill(TOKEN)
    await form.getByLabel('Variable that has the token').fill('MY_TOKEN')
    await submit(
      `"${process.execPath}" -e "console.error('${PAYLOAD.split('\n')[0]?.replaceAll('"', '')}'); process.exit(3)"`,
    )
    await form.getByText('It was not added, because it does not start.').waitFor()
    await form.getByText('Its last error output').click()
    await assertSound(page, 'a server that does not start')
    assert.match(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /^# mine\n[\s\S]*mcp_servers: \{\}\n$/)
    assert.deepEqual(server.logLines('started'), [], 'nothing ran before')

    await submit(command)
    await page.locator('[data-toast=live]').getByText('mine was added.').waitFor()
    assert.equal(server.logLines('started').length, 1)
    const entry = page.locator('[data-entry=mine]')
    await entry.getByText('2 tools').click()
    const act = entry.locator('[data-tool=act]')
    await act.getByText('You have not said yet what it does, so every call asks you first.').waitFor()
    await assertSound(page, 'tools')
    await act.getByRole('button', { name: 'Say what it does' }).click()
    await page.getByRole('dialog').getByLabel('How far a call goes').selectOption('private')
    await page.getByRole('dialog').getByLabel('If a crash interrupts it').selectOption('pure')
    await confirmIn(page, 'Save')
    await act.getByText('reads private data · repeated after a crash, as it only reads').waitFor()

    server.setTools({ description: `${PAYLOAD} changed` })
    await entry.getByRole('button', { name: 'Test' }).click()
    await act.getByText('changed: waits for you').waitFor()
    await assertSound(page, 'a changed tool')
    await assertSoundOnPhone(settings, ['mcp'])
    await act.getByRole('button', { name: 'Approve it as it is now' }).click()
    await act.getByText('approved', { exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(TOKEN))
    await entry.getByRole('button', { name: 'Remove' }).click()
    await confirmIn(page, 'Remove')
    await page.getByText('There are none yet.').waitFor()
    assert.deepEqual((await app.run('secrets list', {})).items, [])
    assert.deepEqual(unexpected(settings.complaints), [])
  })
})
