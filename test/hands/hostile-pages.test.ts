/** Pages that open windows, close or crash themselves, ask, download and hold on: the program lives on, and the next page can be opened. Real Chromium. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'
import { allowHostsYaml, callStep, fakeDns, type Site, startSite } from '../support/serve-pages.ts'

const AGENTS = 'agents: [{ agent_id: surfer, prompt: x, tools: [browser] }]'
const surf = (action: string, more: object = {}) => callStep('browser', { action, ...more })

/** Bodies of hostile pages. Each is opened and clicked, and after it a plain page is opened. */
const PAGES: Readonly<Record<string, string>> = {
  'window.open': "<script>window.open('/other')</script>",
  'window.open elsewhere': "<script>window.open('http://elsewhere.test/x')</script>",
  'window.open without opener': "<script>window.open('/other','_blank','noopener,noreferrer')</script>",
  'a hundred windows': "<script>for (let i = 0; i < 100; i++) window.open('/other?' + i)</script>",
  'target=_blank, clicked by itself': '<a id=a href="/other" target=_blank>x</a><script>a.click()</script>',
  'target=_blank': '<a href="/other" target=_blank>x</a>',
  'target of another name': '<a href="/other" target=elsewhere>x</a>',
  'a form that posts to a new window': '<form action="/other" method=post target=_blank><button>x</button></form>',
  'a window that asks': "<script>const w = window.open('about:blank'); w && w.eval('alert(1)')</script>",
  'a window of a blob':
    "<script>window.open(URL.createObjectURL(new Blob(['<script>window.open(\"/other\")<\\/script>'], { type: 'text/html' })))</script>",
  'a window of javascript:': '<script>window.open("javascript:window.open(\'/other\')")</script>',
  'a window from a frame': '<iframe srcdoc="<script>window.open(\'/other\')</script>"></iframe>',
  dialogs: '<script>alert(1); confirm(2); prompt(3)</script>',
  'a dialog for each that is dismissed': '<script>setInterval(() => alert(1), 1)</script>',
  beforeunload:
    "<button onclick=\"addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'stay' })\">x</button>",
  'a download': '<a id=d href="/file" download>x</a><script>d.click()</script>',
  'a download in a window': "<script>window.open('/file')</script>",
  'it closes itself': '<script>window.close()</script>',
  'it closes itself when clicked': '<button onclick="window.close()">x</button>',
  'it closes itself later': '<script>setTimeout(() => window.close(), 50)</script>',
  'frames that come and go':
    "<script>setInterval(() => { const f = document.createElement('iframe'); f.src = '/other?' + Math.random(); document.body.append(f); f.remove() }, 1)</script>",
  'it goes on and on': "<script>setTimeout(() => { location = '/again?' + Math.random() }, 1)</script>",
  'the print window': '<script>print()</script>',
  'an element that never ends': '<button onclick="for (;;);">x</button>',
  'a renderer that crashes': '<meta http-equiv=refresh content="0;url=chrome://crash">',
}

type Result = Awaited<ReturnType<typeof resultsOf>>[number]

/** `body`: of the page that a request asks for. */
function serveHostile(t: TestContext): Promise<Site> {
  return startSite(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    if (pathname === '/file') {
      response.writeHead(200, { 'content-disposition': 'attachment; filename="a.exe"' }).end('MZ')
      return
    }
    const body = pathname === '/plain' ? 'PLAIN' : (PAGES[searchParams.get('page') ?? ''] ?? 'other')
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>T</title><body>${body}</body>`)
  })
}

/**
 * Contract: of each page, by its name, what opening it, clicking on it and opening a plain page came to. Each list of pages is one run with one
 * Chromium; the runs go on at once, because most of their time is spent waiting.
 */
async function visited(t: TestContext, lists: readonly (readonly string[])[]): Promise<ReadonlyMap<string, Result[]>> {
  const { port } = await serveHostile(t)
  const host = `shop.test:${port}`
  const scripts = lists.map((pages) => [
    ...pages.flatMap((name) => [
      surf('open', { url: `http://${host}/hostile?page=${encodeURIComponent(name)}` }),
      surf('click', { host, element: 1 }),
      surf('open', { url: `http://${host}/plain?after=${encodeURIComponent(name)}` }),
    ]),
    { text: 'done' },
  ])
  const model = scriptedModel((request, turn) => {
    const [, list] = /visit list (\d+)/.exec(JSON.stringify(request.messages)) ?? []
    return scripts[Number(list)]?.[turn] ?? { text: 'done' }
  })
  const yaml = `kernel: { max_concurrent: ${lists.length}, ${AGENTS} }\n${allowHostsYaml(host)}`
  const app = await openApp(t, { model, yaml, resolve: fakeDns({ 'shop.test': '127.0.0.1' }) })
  const visits = await Promise.all(
    lists.map(async (pages, list) => {
      const { session_id } = await runTaskIn(app, `visit list ${list}`, { agent: 'surfer' })
      const results = await resultsOf(app, session_id)
      return pages.map((name, i): [string, Result[]] => [name, results.slice(i * 3, i * 3 + 3)])
    }),
  )
  return new Map(visits.flat())
}

/** Until it has asked for too much it takes the better part of a minute: with HOSTILE_PAGES=full. */
const LONG = ['frames that come and go']
/** They are waited for longest, so each begins a list of its own. */
const SLOW = ['an element that never ends', 'a dialog for each that is dismissed', 'it goes on and on', 'dialogs']

describe('hostile pages', { skip: WITHOUT_CHROMIUM }, () => {
  const all = Object.keys(PAGES).filter((name) => process.env.HOSTILE_PAGES === 'full' || !LONG.includes(name))
  const rest = all.filter((name) => !SLOW.includes(name))
  const lists = SLOW.map((slow, i) => [slow, ...rest.filter((_, n) => n % SLOW.length === i)])

  test(`the program outlives ${all.length} kinds of pages, and opens a plain one after each`, async (t) => {
    const visits = await visited(t, lists)
    assert.equal(visits.size, all.length)
    for (const [name, results] of visits)
      assert.match(
        results[2]?.content ?? '',
        /PLAIN/,
        `${name}: ${results.map(({ content }) => content).join('\n---\n')}`,
      )
  })
})
