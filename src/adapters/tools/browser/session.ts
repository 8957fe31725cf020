/**
 * One Chromium for one run: a fresh profile, no files, no downloads, no other windows. Every request of a page is judged twice: here by its whole
 * address, and by the proxy that resolves its host and knows no other way out. Gone when the run is.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, ElementHandle, Frame, JSHandle, Page, Request, Route } from 'playwright-core'
import { addressOf, isSameSite, type Place, placeText } from '../../../domain/address.ts'
import { TirelessError } from '../../../domain/error.ts'
import { type Egress, type EgressProxy, UNNAMED } from '../../../ports/egress.ts'
import { type Launching, launchContext } from './launch.ts'
import { READING } from './reading.ts'

const OPEN_WITHIN_MS = 25_000
const ACT_WITHIN_MS = 10_000
const SETTLE_MS = 2_000
const ANSWER_MS = 5_000
/** A page that asks more often than this between two actions is given up. */
const MOST_DIALOGS = 20
/** A page that asks for more than this between two actions is given up: each request is judged, and takes its time. */
const MOST_REQUESTS = 2000
/** More is not remembered of what a page tried. */
const MOST_NOTES = 50

export class BrowserSession {
  readonly #egress: Egress
  readonly #context: BrowserContext
  /** Its profile, and whatever else it writes. */
  readonly #folder: string
  readonly #proxy: EgressProxy
  #page: Page
  /** It crashed, does not answer or never stops asking: the next page is opened in another. */
  #isBroken = false
  #isOver = false
  /** While one is made, it cannot be told from those that pages open. */
  #isMakingPage = false
  #dialogs = 0
  /** Since the tab was opened; `#dialogs` counts those of one action. */
  #dialogsOfPage = 0
  #requests = 0
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

  static async launch({ egress, chromium, folder, env, isRoot }: Launching): Promise<BrowserSession> {
    const hosts = new Set<string>()
    const proxy = await egress.proxy((place) => hosts.has(placeText(place)))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const own = await mkdtemp(join(folder, 'run-'))
    try {
      const context = await launchContext({ chromium, env, isRoot, folder: own }, proxy)
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
    // Its window is one that nobody can close.
    await context.addInitScript('window.print = () => {}')
    await context.route('**/*', (route) => this.#judge(route).catch(() => route.abort().catch(() => {})))
    context.on('close', () => {
      this.#isOver = true
    })
    context.on('page', () => void this.#closeOthers())
    context.on('dialog', (dialog) => {
      const isLeaving = dialog.type() === 'beforeunload'
      if (!isLeaving) this.#note(`it asked: ${JSON.stringify(dialog.message().slice(0, 500))}; that was dismissed`)
      this.#dialogs += 1
      this.#dialogsOfPage += 1
      // Whoever opens another page leaves this one, whatever it says.
      void (isLeaving ? dialog.accept() : dialog.dismiss()).catch(() => {})
      if (this.#dialogs > MOST_DIALOGS) this.#giveUp('it never stops asking')
    })
    this.#watch(this.#page)
    await this.#closeOthers()
  }

  #watch(page: Page): void {
    page.setDefaultTimeout(ACT_WITHIN_MS)
    page.on('crash', () => page === this.#page && this.#giveUp('it crashed'))
    page.on('download', () => this.#note('it wanted to download something, which was refused; use fetch with save_to'))
  }

  #note(text: string): void {
    if (this.#notes.length < MOST_NOTES) this.#notes.push(text)
  }

  /** Contract: the page is closed without being asked; what is opened next is opened in another. */
  #giveUp(why: string): void {
    if (this.#isBroken) return
    this.#notes.unshift(`${why}, so this page was closed; open another one`)
    this.#drop()
  }

  /** The next page is opened in another tab. */
  #drop(): void {
    this.#isBroken = true
    void this.#page.close({ runBeforeUnload: false }).catch(() => {})
  }

  /** Contract: never rejects. There is one page; whatever a page opens beside it is closed. */
  async #closeOthers(): Promise<void> {
    if (this.#isMakingPage) return
    for (const page of this.#context.pages())
      if (page !== this.#page) await page.close({ runBeforeUnload: false }).catch(() => {})
  }

  /** One whose script never ends would hold up the next page as well. */
  async #answers(): Promise<boolean> {
    if (this.#isBroken || this.#page.isClosed()) return false
    const isUp = await this.#page.waitForFunction('true', undefined, { timeout: ANSWER_MS }).then(
      () => true,
      () => false,
    )
    if (!isUp) this.#giveUp('it did not answer')
    return isUp
  }

  /** A page that can be worked with: where the last one is gone or broken, another one. */
  async #wholePage(): Promise<Page> {
    if (await this.#answers()) return this.#page
    this.#isMakingPage = true
    try {
      this.#page = await this.#context.newPage()
    } finally {
      this.#isMakingPage = false
    }
    this.#isBroken = false
    this.#dialogsOfPage = 0
    this.#elements = undefined
    this.#watch(this.#page)
    await this.#closeOthers()
    return this.#page
  }

  async #judge(route: Route): Promise<void> {
    const request = route.request()
    const url = request.url()
    const frame = frameOf(request)
    this.#requests += 1
    if (this.#requests > MOST_REQUESTS) this.#giveUp('it asks for too much')
    if (this.#isBroken) return route.abort()
    if (frame?.page() !== this.#page) {
      const isPage = request.isNavigationRequest()
      if (isPage)
        this.#note(`it did not open ${JSON.stringify(url.slice(0, 500))} in another window; open it if you mean it`)
      return route.abort('blockedbyclient')
    }
    const address = addressOf(url)
    const isTop = request.isNavigationRequest() && frame === this.#page.mainFrame()
    const why = address.kind === 'refused' ? address.why : this.#egress.refusal(address.value)
    const elsewhere = isTop && address.kind === 'read' && !this.#mayGo(address.value)
    if (why !== undefined || elsewhere || address.kind === 'refused') {
      const note = `it did not go to ${JSON.stringify(url.slice(0, 500))}: ${why ?? 'that is another host; open it if you mean it'}`
      // Only so many are told, and this one before what pages ask for by the dozen.
      if (isTop) this.#notes.unshift(note)
      else this.#note(note)
      // Called off, the page stays where it is; blocked, an error would take its place some time later, and the next page's.
      return route.abort(isTop ? 'aborted' : 'blockedbyclient')
    }
    this.#hosts.add(placeText(address.value))
    return route.continue()
  }

  #mayGo(place: Place): boolean {
    return (this.#aim !== undefined && isSameSite(place, this.#aim)) || this.#egress.isListed(place)
  }

  /** Contract: where the page is; undefined where it is nowhere on the web. */
  get place(): Place | undefined {
    const read = addressOf(this.#page.url())
    return read.kind === 'read' ? read.value : undefined
  }

  /** The browser itself is gone. */
  get isOver(): boolean {
    return this.#isOver
  }

  async open(url: string, aim: Place): Promise<void> {
    await this.#going(aim, async () => {
      // A page that keeps opening dialogs would hold up the navigation away from it.
      if (this.#dialogsOfPage > 1) this.#drop()
      const page = await this.#wholePage()
      await page.goto(url, { waitUntil: 'domcontentloaded', timeout: OPEN_WITHIN_MS })
    })
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
    this.#dialogs = 0
    this.#requests = 0
    try {
      await work()
    } catch (thrown) {
      const notes = [...this.#notes, ...this.#refusals()]
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
    if (this.#isBroken || this.#page.isClosed())
      throw new TirelessError('tool_failed', [...this.#notes, 'the page is gone; open another one'].join('\n'))
    const handle = await this.#page.evaluateHandle(READING)
    const text = String(await (await handle.getProperty('text')).jsonValue())
    await this.#elements?.dispose().catch(() => {})
    this.#elements = await handle.getProperty('elements')
    const where = this.place ? `page on ${placeText(this.place)}: ${this.#page.url().slice(0, 1000)}` : 'no page'
    const notes = [...new Set([...this.#notes, ...this.#refusals()])].slice(0, 10).map((note) => `[${note}]`)
    return [where, `title: ${(await this.#page.title()).slice(0, 300)}`, ...notes, '', text].join('\n')
  }

  /** What no page has asked for, Chromium wanted for itself. */
  #refusals(): readonly string[] {
    return this.#proxy.refusals().filter((refusal) => !refusal.endsWith(UNNAMED))
  }

  screenshot(): Promise<Buffer> {
    return this.#page.screenshot({ type: 'png', timeout: ACT_WITHIN_MS })
  }

  /** Contract: never rejects. */
  async close(): Promise<void> {
    await this.#context.close().catch(() => {})
    await this.#proxy.close().catch(() => {})
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
  }
}

/** None yet where a page is only about to be opened, which the driver says by throwing. */
function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame()
  } catch {
    return undefined
  }
}

/** The rest is for whoever wrote the browser's driver. */
const firstLine = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0] ?? ''
