/**
 * One Chromium for one run: a fresh profile, no files, no downloads, no other windows. Every request of a page is judged twice: here by its whole
 * address, and by the proxy that resolves its host and knows no other way out. Gone when the run is.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, ElementHandle, JSHandle, Page, Route } from 'playwright-core'
import { addressOf, isSameSite, type Place, placeText } from '../../../domain/address.ts'
import { TirelessError } from '../../../domain/error.ts'
import { type Egress, type EgressProxy, UNNAMED } from '../../../ports/egress.ts'
import { READING } from './reading.ts'

const OPEN_WITHIN_MS = 25_000
const ACT_WITHIN_MS = 10_000
const SETTLE_MS = 2_000

const QUIET = [
  ...[
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
  ...[
    '--disable-domain-reliability',
    '--dns-prefetch-disable',
    '--disable-breakpad',
    '--no-pings',
    '--disable-dev-shm-usage',
  ],
  // Whatever does not go through the proxy goes nowhere: no name is resolved, no datagram leaves.
  ...[
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ],
]

export interface Launching {
  readonly egress: Egress
  /** Where the program is. */
  readonly chromium: string
  /** Of profiles: whatever lies there when the program begins was left by one that was killed. */
  readonly folder: string
  /** All of the environment that it gets. */
  readonly env: Readonly<Record<string, string>>
  /** As root its own sandbox cannot be had. */
  readonly isRoot: boolean
}

export class BrowserSession {
  readonly #egress: Egress
  readonly #context: BrowserContext
  /** Its profile, and whatever else it writes. */
  readonly #folder: string
  readonly #proxy: EgressProxy
  readonly #page: Page
  /** Hosts that a page has asked for and that were judged: the proxy serves no others. */
  readonly #hosts = new Set<string>()
  #elements: JSHandle | undefined
  /** Where the page may be taken by what is being done. */
  #aim: Place | undefined
  #notes: string[] = []

  private constructor(
    egress: Egress,
    context: BrowserContext,
    folder: string,
    proxy: EgressProxy,
    hosts: Set<string>,
    page: Page,
  ) {
    this.#egress = egress
    this.#context = context
    this.#folder = folder
    this.#proxy = proxy
    this.#hosts = hosts
    this.#page = page
  }

  static async launch({ egress, chromium: executablePath, folder, env, isRoot }: Launching): Promise<BrowserSession> {
    // Large, and needed by few.
    const { chromium } = await import('playwright-core')
    const hosts = new Set<string>()
    const proxy = await egress.proxy((place) => hosts.has(placeText(place)))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const own = await mkdtemp(join(folder, 'run-'))
    try {
      const context = await chromium.launchPersistentContext(join(own, 'profile'), {
        ...{ executablePath, headless: true, chromiumSandbox: !isRoot, args: QUIET, env: { ...env, HOME: own } },
        ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false, artifactsDir: join(own, 'artifacts') },
        proxy: {
          server: `http://127.0.0.1:${proxy.port}`,
          bypass: '<-loopback>',
          username: proxy.user,
          password: proxy.password,
        },
        acceptDownloads: false,
        serviceWorkers: 'block',
        locale: 'en-GB',
        viewport: { width: 1280, height: 900 },
      })
      const page = context.pages()[0] ?? (await context.newPage())
      const session = new BrowserSession(egress, context, own, proxy, hosts, page)
      await session.#guard(context)
      return session
    } catch (thrown) {
      await proxy.close()
      await rm(own, { recursive: true, force: true })
      throw new TirelessError('tool_failed', `the browser does not start: ${firstLine(thrown)}`, { cause: thrown })
    }
  }

  async #guard(context: BrowserContext): Promise<void> {
    this.#page.setDefaultTimeout(ACT_WITHIN_MS)
    await context.route('**/*', (route) => this.#judge(route))
    context.on('page', (other) => {
      if (other === this.#page) return
      this.#notes.push('it opened another window, which was closed')
      void other.close().catch(() => {})
    })
    this.#page.on('dialog', (dialog) => {
      this.#notes.push(`it asked: ${JSON.stringify(dialog.message().slice(0, 500))}; that was dismissed`)
      void dialog.dismiss().catch(() => {})
    })
    this.#page.on('download', () =>
      this.#notes.push('it wanted to download something, which was refused; use fetch with save_to'),
    )
  }

  async #judge(route: Route): Promise<void> {
    const request = route.request()
    const url = request.url()
    const address = addressOf(url)
    const isTop = request.isNavigationRequest() && request.frame() === this.#page.mainFrame()
    const why = address.kind === 'refused' ? address.why : this.#egress.refusal(address.value)
    const elsewhere = isTop && address.kind === 'read' && !this.#mayGo(address.value)
    if (why !== undefined || elsewhere || address.kind === 'refused') {
      const note = `it did not go to ${JSON.stringify(url.slice(0, 500))}: ${why ?? 'that is another host; open it if you mean it'}`
      // Only so many are told, and this one before what pages ask for by the dozen.
      if (isTop) this.#notes.unshift(note)
      else this.#notes.push(note)
      // Called off, the page stays where it is; blocked, an error would take its place some time later, and the next page's.
      return route.abort(isTop ? 'aborted' : 'blockedbyclient').catch(() => {})
    }
    this.#hosts.add(placeText(address.value))
    return route.continue().catch(() => {})
  }

  #mayGo(place: Place): boolean {
    return (this.#aim !== undefined && isSameSite(place, this.#aim)) || this.#egress.isListed(place)
  }

  /** Contract: where the page is; undefined where it is nowhere on the web. */
  get place(): Place | undefined {
    const read = addressOf(this.#page.url())
    return read.kind === 'read' ? read.value : undefined
  }

  async open(url: string, aim: Place): Promise<void> {
    await this.#going(aim, () => this.#page.goto(url, { waitUntil: 'domcontentloaded', timeout: OPEN_WITHIN_MS }))
  }

  async back(aim: Place): Promise<void> {
    await this.#going(aim, () => this.#page.goBack({ waitUntil: 'domcontentloaded', timeout: OPEN_WITHIN_MS }))
  }

  async use(number: number, aim: Place, how: (element: ElementHandle) => Promise<unknown>): Promise<void> {
    const element = (await this.#elements?.getProperty(String(number - 1)))?.asElement()
    if (!element)
      throw new TirelessError('tool_failed', `there is no element ${number} on what was read last; read again`)
    await this.#going(aim, () => how(element as ElementHandle))
  }

  /** What a page does by itself later on is under the aim of what was done last. */
  async #going(aim: Place, work: () => Promise<unknown>): Promise<void> {
    this.#aim = aim
    this.#notes = []
    try {
      await work()
    } catch (thrown) {
      const notes = [...this.#notes, ...this.#proxy.refusals()]
      throw new TirelessError('tool_failed', notes.length > 0 ? notes.join('\n') : firstLine(thrown), { cause: thrown })
    }
    await this.#page.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => {})
    await this.#stayThere()
  }

  /** A redirect is judged by its host alone, so where it led is looked at once it is there. */
  async #stayThere(): Promise<void> {
    const { place } = this
    if (place === undefined || this.#mayGo(place)) return
    const url = this.#page.url()
    await this.#page.goto('about:blank')
    throw new TirelessError(
      'tool_failed',
      `it was sent on to ${JSON.stringify(url.slice(0, 500))}, which is another host; open that if you mean it`,
    )
  }

  async read(): Promise<string> {
    const handle = await this.#page.evaluateHandle(READING)
    const text = String(await (await handle.getProperty('text')).jsonValue())
    await this.#elements?.dispose()
    this.#elements = await handle.getProperty('elements')
    const where = this.place ? `page on ${placeText(this.place)}: ${this.#page.url().slice(0, 1000)}` : 'no page'
    // What no page has asked for, Chromium wanted for itself.
    const refusals = this.#proxy.refusals().filter((refusal) => !refusal.endsWith(UNNAMED))
    const notes = [...new Set([...this.#notes, ...refusals])].slice(0, 10).map((note) => `[${note}]`)
    return [where, `title: ${(await this.#page.title()).slice(0, 300)}`, ...notes, '', text].join('\n')
  }

  screenshot(): Promise<Buffer> {
    return this.#page.screenshot({ type: 'png' })
  }

  /** Contract: never rejects. */
  async close(): Promise<void> {
    await this.#context.close().catch(() => {})
    await this.#proxy.close().catch(() => {})
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
  }
}

/** The rest is for whoever wrote the browser's driver. */
const firstLine = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0] ?? ''
