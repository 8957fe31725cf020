/**
 * Pages that open windows, close or crash themselves, show dialogs, download or block: the program keeps working, and
 * the next page opens. Real Chromium.
 */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'
import { allowHostsYaml, callStep, fakeDns, type Site, startSite } from '../support/serve-pages.ts'

const AGENTS = 'agents: [{ agent_id: surfer, prompt: x, tools: [browser] }]'
const browse = (action: string, more: object = {}) => callStep('browser', { action, ...more })

/** Bodies of hostile pages. Each is opened and clicked, then a plain page is opened. */
const PAGES: Readonly<Record<string, string>> = {
  'window.open': "<script>window.open('/other')</script>",
  'window.open elsewhere': "<script>window.open('http://elsewhere.test/x')</script>",
  'window.open without opener': "<script>window.open('/other','_blank','noopener,noreferrer')</script>",
  'a hundred windows': "<script>for (let i = 0; i < 100; i++) window.open('/other?' + i)</script>",
  'target=_blank, clicked by a script': '<a id=a href="/other" target=_blank>x</a><script>a.click()</script>',
  'target=_blank': '<a href="/other" target=_blank>x</a>',
  'target of another name': '<a href="/other" target=elsewhere>x</a>',
  'a form that posts to a new window': '<form action="/other" method=post target=_blank><button>x</button></form>',
  'a window that shows a dialog': "<script>const w = window.open('about:blank'); w && w.eval('alert(1)')</script>",
  'a window of a blob': [
    '<script>window.open(URL.createObjectURL(new Blob([\'<script>window.open("/other")<\\/script>\'], {',
    "type: 'text/html' })))</script>",
  ].join(' '),
  'a window of javascript:': '<script>window.open("javascript:window.open(\'/other\')")</script>',
  'a window from a frame': '<iframe srcdoc="<script>window.open(\'/other\')</script>"></iframe>',
  dialogs: '<script>alert(1); confirm(2); prompt(3)</script>',
  'a new dialog for each dismissed one': '<script>setInterval(() => alert(1), 1)</script>',
  beforeunload: [
    "<button onclick=\"addEventListener('beforeunload', (e) => { e.preventDefault();",
    "e.returnValue = 'stay' })\">x</button>",
  ].join(' '),
  'a download': '<a id=d href="/file" download>x</a><script>d.click()</script>',
  'a download in a window': "<script>window.open('/file')</script>",
  'a page that closes itself': '<script>window.close()</script>',
  'a page that closes itself when clicked': '<button onclick="window.close()">x</button>',
  'a page that closes itself later': '<script>setTimeout(() => window.close(), 50)</script>',
  'frames that are added and removed endlessly': [
    "<script>setInterval(() => { const f = document.createElement('iframe');",
    "f.src = '/other?' + Math.random(); document.body.append(f); f.remove() }, 1)</script>",
  ].join(' '),
  'endless navigation': "<script>setTimeout(() => { location = '/again?' + Math.random() }, 1)</script>",
  'the print window': '<script>print()</script>',
  'a click handler that never ends': '<button onclick="for (;;);">x</button>',
  'a renderer that crashes': '<meta http-equiv=refresh content="0;url=chrome://crash">',
}

type Result = Awaited<ReturnType<typeof resultsOf>>[number]

/** `body`: the body of the requested page. */
function serveHostilePages(t: TestContext): Promise<Site> {
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
 * Contract: returns by page name the results of opening it, clicking on it and opening a plain page. Each list of pages
 * is one run with one Chromium; the runs are concurrent, because they mostly wait.
 */
async function visitPages(
  t: TestContext,
  lists: readonly (readonly string[])[],
): Promise<ReadonlyMap<string, Result[]>> {
  const { port } = await serveHostilePages(t)
  const host = `shop.test:${port}`
  const scripts = lists.map((pages) => [
    ...pages.flatMap((name) => [
      browse('open', { url: `http://${host}/hostile?page=${encodeURIComponent(name)}` }),
      browse('click', { host, element: 1 }),
      browse('open', { url: `http://${host}/plain?after=${encodeURIComponent(name)}` }),
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

/** Takes almost a minute until its requests are limited: only with HOSTILE_PAGES=full. */
const FULL_ONLY = ['frames that are added and removed endlessly']
/** The slowest pages: each starts a list of its own. */
const SLOWEST = [
  'a click handler that never ends',
  'a new dialog for each dismissed one',
  'endless navigation',
  'dialogs',
]

describe('hostile pages', { skip: WITHOUT_CHROMIUM }, () => {
  const all = Object.keys(PAGES).filter((name) => process.env.HOSTILE_PAGES === 'full' || !FULL_ONLY.includes(name))
  const rest = all.filter((name) => !SLOWEST.includes(name))
  const lists = SLOWEST.map((slow, i) => [slow, ...rest.filter((_, n) => n % SLOWEST.length === i)])

  test(`the program survives ${all.length} kinds of pages and opens a plain one after each`, async (t) => {
    const visits = await visitPages(t, lists)
    assert.equal(visits.size, all.length)
    for (const [name, results] of visits)
      assert.match(
        results[2]?.content ?? '',
        /PLAIN/,
        `${name}: ${results.map(({ content }) => content).join('\n---\n')}`,
      )
  })
})
