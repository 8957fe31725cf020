/** A real Chromium for tests of the page, without background traffic; errors and warnings are recorded. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** The first one draws no windows, and so needs half of the time. */
const PROGRAM_NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome', 'google-chrome-stable'],
]
const QUIET_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

function chromiumAt(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env
  if (CHROMIUM) return CHROMIUM
  const folders = ['/usr/bin', ...PATH.split(delimiter)]
  return PROGRAM_NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const executablePath = chromiumAt()
export const WITHOUT_CHROMIUM = executablePath === undefined && 'no Chromium found; set $CHROMIUM'

/** Contract: the page has been built when it resolves. */
export async function launchChromium(): Promise<Browser> {
  const script = join(import.meta.dirname, '../../scripts/web.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return chromium.launch({ executablePath: executablePath ?? '', headless: true, args: QUIET_FLAGS })
}

export const waitUntilLive = (page: Page): Promise<void> => page.locator('[data-connection=live]').waitFor()

/** Contract: the login link, leading to a place of the page. */
export const loginAt = (loginUrl: string, place: string): string => loginUrl.replace('/#', `${place}#`)

export interface Tab {
  readonly page: Page
  /** Console errors and warnings, CSP violations, and requests to other servers. */
  readonly complaints: readonly string[]
}

export async function openTab(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
    ...options,
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complaints.push(`request to another server: ${request.url()}`)
  })
  return { page, complaints }
}
