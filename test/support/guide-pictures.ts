/**
 * The pictures of docs/guides: a fresh home with the shipped agents and the offline model, at a fixed time, in a real
 * Chromium. What a picture shows is what a reader sees who types the same.
 */

import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, Locator, Page, PageScreenshotOptions } from 'playwright-core'
import { z } from 'zod'
import { offlineModel } from '../../src/adapters/models/offline/offline.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { scaffoldHome } from '../../src/app/scaffold-home.ts'
import { homePaths } from '../../src/home.ts'
import { believed, type Clock } from '../../src/ports/clock.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { loginAt, openTab } from './chromium.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { freshFolder } from './open-app.ts'

export const GUIDE_LANGUAGES = ['en', 'zh'] as const
type GuideLanguage = (typeof GUIDE_LANGUAGES)[number]

/** Thursday afternoon. */
const NOW = Date.parse('2026-11-12T15:00:00+08:00')
const YAML = 'server: { port: 0 }\nkernel: { timezone: Asia/Shanghai }\n'

const WORDS = {
  en: {
    locale: 'en-GB',
    write: 'Create shopping.md: milk, bread, tea',
    split: 'Use split_bill with total 186 and people 4',
    pay: 'Use pay_invoice with to "Print shop" and amount 186',
    sentence: 'Every weekday at 9:00, write a report of what was done since yesterday',
    sayBack: 'Say it back',
    create: 'Create',
    addChannel: 'Add a channel',
  },
  zh: {
    locale: 'zh-CN',
    write: '创建 shopping.md：牛奶、面包、茶叶',
    split: '用 split_bill，total 186，people 4',
    pay: '用 pay_invoice，to “打印店”，amount 186',
    sentence: '每个工作日早上九点，写一份报告，说明昨天以来做了什么',
    sayBack: '复述一遍',
    create: '创建',
    addChannel: '添加通道',
  },
} as const

interface Scene {
  readonly page: Page
  readonly app: HttpApp['app']
  readonly home: string
  readonly words: (typeof WORDS)[GuideLanguage]
}

interface Picture {
  readonly place: string
  readonly isPhone?: boolean
  /** Of the window; default: 800. */
  readonly height?: number
  /** Contract: brings the page into the state of the picture; the element to show, if not the whole window. */
  prepare(scene: Scene): Promise<Locator | undefined>
}

async function say({ page }: Scene, text: string): Promise<void> {
  await page.getByRole('textbox').fill(text)
  await page.getByRole('textbox').press('Enter')
}

async function work(scene: Scene, ...tasks: readonly string[]): Promise<void> {
  for (const task of tasks) await scene.app.run('run', { task })
}

async function readSentence({ page, words }: Scene): Promise<Locator> {
  await page.locator('#agent-sentence').fill(words.sentence)
  await page.getByRole('button', { name: words.sayBack }).click()
  const maker = page.locator('[data-maker=understood]')
  await maker.waitFor()
  return maker
}

async function showFinishedTask(scene: Scene): Promise<undefined> {
  await say(scene, scene.words.write)
  await scene.page.locator('[data-run-card][data-status=done]').waitFor()
  await scene.page.locator('[data-file="shopping.md"]').waitFor()
}

/** By the name of the file, without the language. */
export const GUIDE_PICTURES: Readonly<Record<string, Picture>> = {
  sentence: { place: '/agents', prepare: readSentence },
  agents: {
    place: '/agents',
    async prepare(scene) {
      const maker = await readSentence(scene)
      await maker.getByRole('button', { name: scene.words.create, exact: true }).click()
      await scene.page.locator('[data-maker=none]').waitFor()
      await scene.page.locator('[data-agent]').last().scrollIntoViewIfNeeded()
      return undefined
    },
  },
  talk: { place: '/', height: 480, prepare: showFinishedTask },
  phone: { place: '/', isPhone: true, prepare: showFinishedTask },
  tool: {
    place: '/',
    async prepare(scene) {
      await say(scene, scene.words.split)
      const card = scene.page.locator('[data-run-card][data-status=done]')
      await card.locator('summary').first().click()
      await card.locator('[data-call=split_bill]').waitFor()
      return card
    },
  },
  approval: {
    place: '/needs-you',
    async prepare(scene) {
      await work(scene, scene.words.pay)
      const card = scene.page.locator('[data-need=approval]')
      await card.waitFor()
      return card
    },
  },
  report: {
    place: '/reports',
    height: 620,
    async prepare(scene) {
      await work(scene, scene.words.write, scene.words.split)
      await scene.page.locator('[data-reported]').nth(1).waitFor()
      return undefined
    },
  },
  channels: {
    place: '/settings/channels',
    height: 900,
    async prepare({ page, words }) {
      await page.getByRole('button', { name: words.addChannel }).click()
      await page.locator('main form').waitFor()
      return page.locator('main form')
    },
  },
  doctor: {
    place: '/settings/doctor',
    height: 560,
    async prepare({ page, home }) {
      // Something to find: others could read the home.
      chmodSync(home, 0o755)
      await page.reload()
      await page.locator('[data-finding=privacy]').waitFor()
      return undefined
    },
  },
  login: {
    place: '/now',
    height: 660,
    async prepare({ page }) {
      await page.context().clearCookies()
      await page.goto(`${new URL(page.url()).origin}/#code=${'0'.repeat(64)}`)
      await page.reload()
      await page.locator('form').waitFor()
      return undefined
    },
  },
}

const SPLIT_BILL = defineTool({
  name: 'split_bill',
  description: 'Splits a bill between people.',
  args: z.strictObject({ total: z.number(), people: z.number() }),
  effect: { recovery: 'pure', reach: 'none' },
  run: ({ total, people }) => ({ each: Math.ceil((total / people) * 100) / 100 }),
})
const PAY_INVOICE = defineTool({
  name: 'pay_invoice',
  description: 'Pays an invoice.',
  args: z.strictObject({ to: z.string(), amount: z.number() }),
  effect: { recovery: 'once', reach: 'destructive' },
  run: () => 'paid',
})

/** A clock that goes on from a fixed time, so that pictures of different days are alike. */
function clockAt(start: number): Clock {
  const ahead = start - systemClock.now()
  return believed({
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  })
}

async function openGuideHome(t: TestContext): Promise<HttpApp> {
  const home = freshFolder(t)
  scaffoldHome(homePaths(home), undefined)
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  const options = { model: offlineModel, tools: [SPLIT_BILL, PAY_INVOICE], clock: clockAt(NOW) }
  const served = await openHttpApp(t, { home, yaml: YAML, signals, ...options })
  const draining = served.app.context.drain({ untilIdle: false })
  t.after(async () => {
    stopping.abort()
    await draining
    await served.app.close()
  })
  return served
}

const MARGIN = 16

async function clipAround(shown: Locator | undefined): Promise<Pick<PageScreenshotOptions, 'clip' | 'fullPage'>> {
  const box = await shown?.boundingBox()
  if (!box) return {}
  const [x, y] = [Math.max(0, box.x - MARGIN), Math.max(0, box.y - MARGIN)]
  const [right, bottom] = [box.x + box.width + MARGIN, box.y + box.height + MARGIN]
  return { fullPage: true, clip: { x, y, width: right - x, height: bottom - y } }
}

/** Contract: writes `NAME.LANGUAGE.png` into the folder. */
export async function takePicture(
  t: TestContext,
  browser: Browser,
  { name, language, folder }: { readonly name: string; readonly language: GuideLanguage; readonly folder: string },
): Promise<string> {
  const picture = GUIDE_PICTURES[name]
  if (!picture) throw new Error(`there is no picture ${name}; expected ${Object.keys(GUIDE_PICTURES).join(', ')}`)
  const words = WORDS[language]
  const served = await openGuideHome(t)
  const viewport = picture.isPhone ? { width: 390, height: 844 } : { width: 1200, height: picture.height ?? 800 }
  const { page } = await openTab(browser, served.url, {
    viewport,
    locale: words.locale,
    colorScheme: 'light',
    timezoneId: 'Asia/Shanghai',
  })
  try {
    await page.clock.install({ time: NOW })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.goto(loginAt(served.login_url, picture.place))
    const shown = await picture.prepare({ page, app: served.app, home: served.home, words })
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${name}.${language}.png`)
    await page.screenshot({ path, animations: 'disabled', caret: 'hide', ...(await clipAround(shown)) })
    return path
  } finally {
    await page.context().close()
  }
}
