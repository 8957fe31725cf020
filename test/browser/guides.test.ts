/** The pictures of docs/guides can be taken again: one of them, in a real browser. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { launchChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { takePicture } from '../support/guide-pictures.ts'
import { freshFolder } from '../support/open-app.ts'

const PNG_SIGNATURE = '89504e470d0a1a0a'

test('the script of the guides takes a picture of the page', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const browser = await launchChromium()
  t.after(() => browser.close())
  const path = await takePicture(t, browser, { name: 'talk', language: 'en', folder: freshFolder(t, 'pictures') })
  const bytes = readFileSync(path)
  assert.equal(bytes.toString('hex', 0, 8), PNG_SIGNATURE)
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 480])
})
