/** Harmful text in everything that the page shows: nothing runs, nothing leaves, nothing is disguised, in any place. */

import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { assertHarmlessPlaces } from '../support/hostile-places.ts'

describe('harmful text on the page', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  test('the page (en-GB): harmful text does nothing in any place, and is shown as it is', (t) =>
    assertHarmlessPlaces(t, browser, { locale: 'en-GB', width: 1280 }))
})
