/**
 * `npm run guides [NAME...]`: takes the pictures of docs/guides in a real Chromium, in both languages. The Chinese ones
 * need a font with Chinese characters; without one they are left as they are.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { launchChromium, WITHOUT_CHROMIUM } from '../test/support/chromium.ts'
import { GUIDE_LANGUAGES, GUIDE_PICTURES, takePicture } from '../test/support/guide-pictures.ts'

const FOLDER = join(import.meta.dirname, '../docs/images/guides')

const hasChineseFont = (): boolean => spawnSync('fc-list', [':lang=zh'], { encoding: 'utf8' }).stdout?.trim() !== ''

if (WITHOUT_CHROMIUM) throw new Error(WITHOUT_CHROMIUM)
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(GUIDE_PICTURES)
const endings: (() => unknown)[] = []
// Outside of a test: what tests do at their end is done at the end of each picture.
const t = { after: (end: () => unknown) => endings.unshift(end) } as unknown as TestContext
const browser = await launchChromium()
try {
  for (const language of GUIDE_LANGUAGES) {
    if (language === 'zh' && !hasChineseFont()) {
      console.log('left out: the Chinese pictures; install a font first, such as fonts-noto-cjk')
      continue
    }
    for (const name of names) {
      console.log(await takePicture(t, browser, { name, language, folder: FOLDER }))
      for (const end of endings.splice(0)) await end()
    }
  }
} finally {
  await browser.close()
}
