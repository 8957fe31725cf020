/**
 * One Chromium for one run: a new profile, one window, no downloads, no file access. Each request is checked twice:
 * here by its full address, and in the proxy by its resolved host. The browser is closed when the run ends.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, ElementHandle, Frame, JSHandle, Page, Request, Route } from 'playwright-core'
import { formatHostPort, type HostPort, isSameSite, parseHttpAddress } from '../../../domain/address.ts'
import { TirelessError } from '../../../domain/error.ts'
import type { Egress, EgressProxy } from '../../../ports/egress.ts'
import { type BrowserLaunch, launchContext } from './launch-chromium.ts'
import { PAGE_SCRIPT } from './page-script.ts'

const OPEN_WITHIN_MS = 25_000
const ACT_WITHIN_MS = 10_000
const SETTLE_MS = 2_000
const ANSWER_MS = 5_000
/** A page that opens more dialogs than this during one action is closed. */
const MOST_DIALOGS = 20
/** A page that sends more requests than this during one action is closed: checking each one takes time. */
const MOST_REQUESTS = 2000
/** Notes about the page beyond this number are dropped. */
const MOST_NOTES = 50

interface SessionParts {
  readonly egress: Egress
  readonly context: BrowserContext
  /** The folder with Chromium's profile and other files. */
  readonly folder: string
  readonly proxy: EgressProxy
  /** Hosts whose requests passed the check; the proxy refuses all others. */
  readonly hosts: Set<string>
  readonly page: Page
}

export class BrowserSession {
  readonly #egress: Egress
  readonly #context: BrowserContext
  readonly #folder: string
  readonly #proxy: EgressProxy
  #page: Page
  /** True if the tab crashed, does not respond or keeps opening dialogs; then the next page opens in a new tab. */
  #isBroken = false
  #isOver = false
  /** True while this class opens a tab: that tab must not be closed like a tab that a page opens. */
  #isMakingPage = false
  #dialogs = 0
  /** Number of dialogs since the tab was opened; `#dialogs` counts the dialogs of one action. */
  #dialogsOfPage = 0
  #requests = 0
  readonly #hosts: Set<string>
  #elements: JSHandle | undefined
  /** The site that the current action may navigate to. */
  #target: HostPort | undefined
  #notes: string[] = []

  private constructor({ egress, context, folder, proxy, hosts, page }: SessionParts) {
    this.#egress = egress
    this.#context = context
    this.#folder = folder
    this.#proxy = proxy
    this.#hosts = hosts
    this.#page = page
  }

  static async launch({ egress, chromium, folder, env, isRoot }: BrowserLaunch): Promise<BrowserSession> {
    const hosts = new Set<string>()
    const proxy = await egress.proxy((place) => hosts.has(formatHostPort(place)))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const own = await mkdtemp(join(folder, 'run-'))
    try {
      const context = await launchContext({ chromium, env, isRoot, folder: own }, proxy)
      const page = context.pages()[0] ?? (await context.newPage())
      const session = new BrowserSession({ egress, context, folder: own, proxy, hosts, page })
      await session.#guard(context)
      return session
    } catch (thrown) {
      await proxy.close()
      await rm(own, { recursive: true, force: true })
      throw new TirelessError('tool_failed', `the browser did not start: ${firstLine(thrown)}`, { cause: thrown })
    }
  }

  async #guard(context: BrowserContext): Promise<void> {
    // A print dialog cannot be closed without a person.
    await context.addInitScript('window.print = () => {}')
    await context.route('**/*', (route) => this.#checkRequest(route).catch(() => route.abort().catch(() => {})))
    context.on('close', () => {
      this.#isOver = true
    })
    context.on('page', () => void this.#closeOthers())
    context.on('dialog', (dialog) => {
      const isLeaving = dialog.type() === 'beforeunload'
      if (!isLeaving)
        this.#note(`the page opened a dialog, which was dismissed: ${JSON.stringify(dialog.message().slice(0, 500))}`)
      this.#dialogs += 1
      this.#dialogsOfPage += 1
      // A "leave this page?" dialog must not block the navigation to another page.
      void (isLeaving ? dialog.accept() : dialog.dismiss()).catch(() => {})
      if (this.#dialogs > MOST_DIALOGS) this.#giveUp('the page keeps opening dialogs')
    })
    this.#watch(this.#page)
    await this.#closeOthers()
  }

  #watch(page: Page): void {
    page.setDefaultTimeout(ACT_WITHIN_MS)
    page.on('crash', () => page === this.#page && this.#giveUp('the page crashed'))
    page.on('download', () => this.#note('the page started a download, which was refused; use fetch with save_to'))
  }

  #note(text: string): void {
    if (this.#notes.length < MOST_NOTES) this.#notes.push(text)
  }

  /** Contract: closes the tab without a dialog; the next page opens in a new tab. */
  #giveUp(why: string): void {
    if (this.#isBroken) return
    this.#notes.unshift(`${why}, so it was closed; open another page`)
    this.#closeTab()
  }

  #closeTab(): void {
    this.#isBroken = true
    void this.#page.close({ runBeforeUnload: false }).catch(() => {})
  }

  /** Contract: never rejects. Closes every tab except the current one. */
  async #closeOthers(): Promise<void> {
    if (this.#isMakingPage) return
    for (const page of this.#context.pages())
      if (page !== this.#page) await page.close({ runBeforeUnload: false }).catch(() => {})
  }

  /** If the tab does not respond, it is closed: a page script that never ends would also block the next navigation. */
  async #isResponsive(): Promise<boolean> {
    if (this.#isBroken || this.#page.isClosed()) return false
    const isUp = await this.#page.waitForFunction('true', undefined, { timeout: ANSWER_MS }).then(
      () => true,
      () => false,
    )
    if (!isUp) this.#giveUp('the page did not respond')
    return isUp
  }

  /** The current tab if it works, else a new one. */
  async #workingPage(): Promise<Page> {
    if (await this.#isResponsive()) return this.#page
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

  async #checkRequest(route: Route): Promise<void> {
    const request = route.request()
    const url = request.url()
    const frame = frameOf(request)
    this.#requests += 1
    if (this.#requests > MOST_REQUESTS) this.#giveUp('the page sent too many requests')
    if (this.#isBroken) return route.abort()
    if (frame?.page() !== this.#page) {
      const isPage = request.isNavigationRequest()
      if (isPage)
        this.#note(
          `a new window for ${JSON.stringify(url.slice(0, 500))} was blocked; open that address if you want it`,
        )
      return route.abort('blockedbyclient')
    }
    const address = parseHttpAddress(url)
    const isTop = request.isNavigationRequest() && frame === this.#page.mainFrame()
    const why = address.kind === 'refused' ? address.why : this.#egress.refusal(address.value)
    const elsewhere = isTop && address.kind === 'read' && !this.#mayNavigateTo(address.value)
    if (why !== undefined || elsewhere || address.kind === 'refused') {
      const reason = why ?? 'it is on another host; open that address if you want it'
      const note = `a request to ${JSON.stringify(url.slice(0, 500))} was blocked: ${reason}`
      // The number of notes is limited, so the note about a blocked navigation comes first.
      if (isTop) this.#notes.unshift(note)
      else this.#note(note)
      // With 'aborted', the tab keeps its page. With 'blockedbyclient', Chromium would later show an error page.
      return route.abort(isTop ? 'aborted' : 'blockedbyclient')
    }
    this.#hosts.add(formatHostPort(address.value))
    return route.continue()
  }

  #mayNavigateTo(place: HostPort): boolean {
    return (this.#target !== undefined && isSameSite(place, this.#target)) || this.#egress.isListed(place)
  }

  /** Contract: the host of the page; undefined if the page has no web address. */
  get place(): HostPort | undefined {
    const read = parseHttpAddress(this.#page.url())
    return read.kind === 'read' ? read.value : undefined
  }

  /** True if the browser process has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  async open(url: string, target: HostPort): Promise<void> {
    await this.#act(target, async () => {
      // A page that keeps opening dialogs would delay the navigation to the new page.
      if (this.#dialogsOfPage > 1) this.#closeTab()
      const page = await this.#workingPage()
      await page.goto(url, { waitUntil: 'domcontentloaded', timeout: OPEN_WITHIN_MS })
    })
  }

  async back(target: HostPort): Promise<void> {
    await this.#act(target, () => this.#page.goBack({ waitUntil: 'domcontentloaded', timeout: OPEN_WITHIN_MS }))
  }

  async use(number: number, target: HostPort, how: (element: ElementHandle) => Promise<unknown>): Promise<void> {
    const element = (await this.#elements?.getProperty(String(number - 1)))?.asElement()
    if (!element) throw new TirelessError('tool_failed', `the page has no element ${number}; read it again`)
    await this.#act(target, () => how(element as ElementHandle))
  }

  /** Performs an action. Until the next one, the page may navigate only to `target` and to hosts the owner allows. */
  async #act(target: HostPort, work: () => Promise<unknown>): Promise<void> {
    this.#target = target
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
    await this.#checkFinalAddress()
  }

  /** Redirects are not checked when they happen, so the address at which the page ended is checked here. */
  async #checkFinalAddress(): Promise<void> {
    const { place } = this
    if (place === undefined || this.#mayNavigateTo(place)) return
    const url = this.#page.url()
    await this.#page.goto('about:blank')
    throw new TirelessError(
      'tool_failed',
      `the page redirected to another host, ${JSON.stringify(url.slice(0, 500))}; open that address if you want it`,
    )
  }

  async read(): Promise<string> {
    if (this.#isBroken || this.#page.isClosed())
      throw new TirelessError('tool_failed', [...this.#notes, 'no page is open; open one'].join('\n'))
    const handle = await this.#page.evaluateHandle(PAGE_SCRIPT)
    const text = String(await (await handle.getProperty('text')).jsonValue())
    await this.#elements?.dispose().catch(() => {})
    this.#elements = await handle.getProperty('elements')
    const where = this.place ? `page on ${formatHostPort(this.place)}: ${this.#page.url().slice(0, 1000)}` : 'no page'
    const notes = [...new Set([...this.#notes, ...this.#refusals()])].slice(0, 10).map((note) => `[${note}]`)
    return [where, `title: ${(await this.#page.title()).slice(0, 300)}`, ...notes, '', text].join('\n')
  }

  /** The proxy's refusals, without Chromium's own background requests (to hosts that no page requested). */
  #refusals(): readonly string[] {
    const refusals = this.#proxy.refusals().filter(({ kind }) => kind !== 'not_admitted')
    return refusals.map(({ message }) => message)
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

/** Contract: undefined while a page is being opened: there is no frame yet, and Playwright throws. */
function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame()
  } catch {
    return undefined
  }
}

/** The first line of an error message; in Playwright's messages, a call log follows it. */
const firstLine = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0] ?? ''
