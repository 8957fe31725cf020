/** Every part of Settings on a phone. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { assertSoundOnPhone, openSettings, PARTS, unexpected } from '../support/settings-page.ts'

const YAML = '# mine\nserver: { port: 0 }\nsandbox: off\n'

describe('Settings on a phone', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('every part fits, and nothing in it is hard to use', async (t) => {
    const settings = await openSettings(t, browser, 'doctor', { yaml: YAML })
    await assertSoundOnPhone(settings, ['', ...PARTS])
    assert.deepEqual(unexpected(settings.complaints), [])
  })
})
