/** The browser tool, used through whole runs with a real Chromium and real pages of this machine. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import type { AppOptions } from '../../src/app.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { freshFolder, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'
import { type AgentRun, allowHostsYaml, callStep, fakeDns, runAgent, startSite } from '../support/serve-pages.ts'

const AGENT = 'kernel: { agents: [{ agent_id: surfer, prompt: x, tools: [browser, list_files] }] }\n'
const page = (body: string, head = ''): string => `<!doctype html><title>T</title>${head}<body>${body}</body>`
const html = { 'content-type': 'text/html; charset=utf-8' }

const runBrowserAgent = (
  t: TestContext,
  calls: readonly ScriptedStep[],
  hosts: readonly string[],
  options: AppOptions = {},
): Promise<AgentRun> => runAgent(t, calls, { ...options, yaml: AGENT + allowHostsYaml(...hosts) }, { agent: 'surfer' })

const browse = (action: string, more: object = {}) => callStep('browser', { action, ...more })
/** The folder of the profiles, which tells our Chromium processes from others. */
const profiles = mkdtempSync(join(tmpdir(), 'tireless-profiles-'))
process.env.TMPDIR = profiles
after(() => rmSync(profiles, { recursive: true, force: true }))
const chromiumProcesses = (): number =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`--user-data-dir=${profiles}`)).length

/** A page that tries to load, fetch, connect to and link to each of `places`, and to the private server at `port`. */
function attackPage(port: number, places: readonly string[]): string {
  const at = `127.0.0.1:${port}`
  const tags = places.map((place, n) =>
    [
      `<img src="${place}/img${n}"><iframe src="${place}/frame${n}"></iframe><script`,
      `src="${place}/script${n}"></script><link rel=stylesheet href="${place}/css${n}"><link`,
      `rel=prefetch href="${place}/pre${n}">`,
    ].join(' '),
  )
  const script = `const out = document.getElementById('out'); const got = (t) => { out.textContent += t }
    for (const place of ${JSON.stringify(places)}) {
      fetch(place + '/fetch').then((r) => r.text()).then(got, () => {})
      navigator.sendBeacon(place + '/beacon', 'x')
      try { new WebSocket(place.replace('http', 'ws') + '/ws') } catch {}
      try { new EventSource(place + '/sse') } catch {}
    }
    try {
      const pc = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] })
      pc.createDataChannel('x'); pc.createOffer().then((o) => pc.setLocalDescription(o)) } catch {}
    fetch('/hop').then((r) => r.text()).then(got, () => {})`
  const links = [
    `<a href="http://${at}/link">private</a><a href="file:///etc/passwd">file</a><form`,
    `action="http://${at}/form" method=post><button>send</button></form><a href="/hop">hop</a><a`,
    `href="http://other.example/x">other</a>`,
  ].join(' ')
  return page(`${links}<p id=out></p>${tags.join('')}<script>${script}</script>`)
}

describe('browser', { skip: WITHOUT_CHROMIUM }, () => {
  test('opens, reads with numbers, types, clicks, goes back, takes a picture; exits with the run', async (t) => {
    const { port, requests: asked } = await startSite(t, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      const form = [
        '<h1>Shop</h1><form action="/found"><input name="q" placeholder="search for"><select',
        'name="s"><option>a<option>b</select><button>Go</button></form><p style="display:none">hidden</p>',
      ].join(' ')
      const found = [
        `<p id="out"></p><a href="/">again</a><script>document.getElementById('out').textContent = 'found: '`,
        `+ ${JSON.stringify(searchParams.get('q'))} + ' in ' +`,
        `${JSON.stringify(searchParams.get('s'))}</script>`,
      ].join(' ')
      response.writeHead(200, html).end(page(pathname === '/found' ? found : form))
    })
    const host = `shop.test:${port}`
    const calls = [
      browse('open', { url: `http://${host}/` }),
      ...[
        browse('type', { host, element: 1, text: 'red "shoes"' }),
        browse('select', { host, element: 2, text: 'b' }),
        browse('click', { host, element: 3 }),
      ],
      ...[
        browse('back', { host }),
        browse('read'),
        browse('screenshot', { save_to: 'shop.png' }),
        browse('close'),
        browse('read'),
      ],
    ]
    const home = freshFolder(t)
    const options = { home, resolve: fakeDns({ 'shop.test': '127.0.0.1' }) }
    const { results, workspace } = await runBrowserAgent(t, calls, [host], options)
    assert.equal(
      results[0]?.content,
      [
        `page on ${host}: http://${host}/\ntitle: T\n\n# Shop\n\n[1 input text: search for] [2 select: s (*a`,
        `/ b)] [3 button: Go]`,
      ].join(' '),
    )
    assert.match(results[1]?.content ?? '', /\[1 input text: search for = "red \\"shoes\\""\]/)
    assert.match(results[3]?.content ?? '', /found: red "shoes" in b\n\n?\[1 link: again\]/)
    assert.match(results[5]?.content ?? '', /Shop/)
    assert.deepEqual(readFileSync(join(workspace, 'shop.png')).subarray(1, 4).toString(), 'PNG')
    assert.deepEqual(
      results.map(({ status }) => status),
      [...Array(8).fill('ok'), 'error'],
    )
    assert.ok(asked.some((line) => line.startsWith(`GET ${host}/found?q=red`)))
    assert.equal(chromiumProcesses(), 0)
    assert.deepEqual(readdirSync(join(home, 'browser')), [])
  })

  test('only agents that name the tool are offered it', async (t) => {
    const model = scriptedModel([{ text: 'done' }])
    const app = await openApp(t, { model, yaml: AGENT })
    await runTaskIn(app)
    await runTaskIn(app, 'x', { agent: 'surfer' })
    const offered = model.requests.map(({ tools }) => tools.some(({ name }) => name === 'browser'))
    assert.deepEqual(offered, [false, true])
    const tool = app.service('tools').all.get('browser')
    const effect = (args: object) => tool?.effect(args as never)
    assert.deepEqual(effect({ action: 'open', url: 'https://a.com/x' }), {
      recovery: 'once',
      reach: 'network',
      host: 'a.com',
    })
    assert.deepEqual(effect({ action: 'click', host: 'a.com:8443', element: 1 }), {
      recovery: 'once',
      reach: 'third_party',
      host: 'a.com:8443',
      method: 'click',
    })
    assert.deepEqual(effect({ action: 'read' }), { recovery: 'pure', reach: 'none' })
    assert.deepEqual(tool?.destinations?.({ action: 'click', host: 'a.com', element: 1 } as never), ['a.com'])
    for (const args of [
      { action: 'click', element: 1 },
      { action: 'open' },
      { action: 'open', url: 'file:///etc/passwd' },
      { action: 'type', host: 'a.com', element: 1 },
      { action: 'back', host: '0x7f.1' },
    ])
      assert.equal(tool?.args.safeParse(args).success, false, JSON.stringify(args))
  })

  test('SSRF: no image, script, frame, socket, form, link or redirect reaches a private address', async (t) => {
    const inside = await startSite(t, (_, response) =>
      response.writeHead(200, { ...html, 'access-control-allow-origin': '*' }).end(page('SECRET-4711')),
    )
    const at = `127.0.0.1:${inside.port}`
    const places = [
      `http://${at}`,
      `http://localhost:${inside.port}`,
      `http://inside.example:${inside.port}`,
      `http://2130706433:${inside.port}`,
      `http://[::1]:${inside.port}`,
    ]
    const { port } = await startSite(t, (request, response) => {
      if (request.url?.startsWith('/hop'))
        return void response.writeHead(302, { location: `http://inside.example:${inside.port}/hop` }).end()
      response.writeHead(200, html).end(attackPage(inside.port, places))
    })
    const host = `evil.test:${port}`
    const calls = [
      browse('open', { url: `http://${host}/` }),
      ...[1, 2, 3, 4, 5].flatMap((element) => [
        browse('click', { host, element }),
        browse('open', { url: `http://${host}/?${element}` }),
      ]),
      ...[
        browse('open', { url: `http://${at}/direct` }),
        browse('open', { url: `http://${host}/hop` }),
        browse('read'),
      ],
    ]
    const { results } = await runBrowserAgent(t, calls, [host], {
      resolve: fakeDns({ 'evil.test': '127.0.0.1', 'inside.example': '127.0.0.1', 'other.example': '203.0.113.5' }),
    })
    assert.equal(results.length, calls.length)
    assert.deepEqual(inside.requests, [])
    for (const { content } of results) assert.doesNotMatch(content, /SECRET-4711|root:x/)
    assert.equal(results[0]?.status, 'ok')
    assert.match(
      results.map(({ content }) => content).join('\n'),
      /a request to "http:\/\/127\.0\.0\.1:\d+\/link" was blocked/,
    )
    assert.match(
      results.map(({ content }) => content).join('\n'),
      /other\.example\/x" was blocked: it is on another host; open that address if you want it/,
    )
  })

  test('an action for another host than that of the open page does nothing', async (t) => {
    const { port, requests: asked } = await startSite(t, (_, response) =>
      response.writeHead(200, html).end(page('<a href="/next">next</a>')),
    )
    const host = `a.test:${port}`
    const calls = [
      browse('open', { url: `http://${host}/` }),
      browse('click', { host: 'b.test', element: 1 }),
      browse('click', { host, element: 9 }),
    ]
    const { results } = await runBrowserAgent(t, calls, [host], { resolve: fakeDns({ 'a.test': '127.0.0.1' }) })
    assert.match(results[1]?.content ?? '', /nothing was done: the page is on a\.test:\d+, not on b\.test/)
    assert.match(results[2]?.content ?? '', /no element 9/)
    assert.equal(
      asked.some((line) => line.endsWith('/next')),
      false,
    )
  })

  test('rebinding: a name that resolves elsewhere on its second request is not followed', async (t) => {
    const { port, requests: asked } = await startSite(t, (request, response) =>
      response
        .writeHead(200, { ...html, connection: 'close' })
        .end(page(request.url === '/' ? '<img src="/again">' : 'x')),
    )
    let answers = 0
    const host = `turning.test:${port}`
    const resolve = async (): Promise<readonly string[]> => (answers++ === 0 ? ['127.0.0.1'] : ['169.254.169.254'])
    const { results } = await runBrowserAgent(t, [browse('open', { url: `http://${host}/` })], [host], { resolve })
    assert.deepEqual(
      asked.filter((line) => !line.endsWith('favicon.ico')),
      [`GET ${host}/`],
    )
    assert.ok(answers >= 2)
    assert.match(results[0]?.content ?? '', /169\.254\.169\.254/)
  })

  test('each run has its own profile, and a cancelled run leaves no Chromium process', async (t) => {
    const { port } = await startSite(t, (request, response) => {
      if (request.url === '/hang') return
      response
        .writeHead(200, { ...html, 'set-cookie': 'k=v; Max-Age=9999' })
        .end(page(`cookie: ${request.headers.cookie ?? 'none'}`))
    })
    const host = `a.test:${port}`
    const url = `http://${host}/`
    const options = { resolve: fakeDns({ 'a.test': '127.0.0.1' }) }
    const first = await runBrowserAgent(t, [browse('open', { url }), browse('open', { url })], [host], options)
    assert.match(first.results[1]?.content ?? '', /cookie: k=v/)
    const second = await runBrowserAgent(t, [browse('open', { url })], [host], options)
    assert.match(second.results[0]?.content ?? '', /cookie: none/)
    const app = await openApp(t, {
      ...options,
      yaml: AGENT + allowHostsYaml(host),
      model: scriptedModel([browse('open', { url: `${url}hang` }), { text: 'done' }]),
    })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'x', agent: 'surfer' })
    const idle = app.run('start', { until_idle: true })
    await waitUntil(() => chromiumProcesses() > 0)
    await app.run('queue cancel', { id: dispatch_id, how: 'immediate' })
    await idle
    await waitUntil(() => chromiumProcesses() === 0)
  })

  test('kill -9 of the program ends Chromium, and the call waits for the owner', async (t) => {
    const { port } = await startSite(t, (_, response) => response.writeHead(200, html).end(page('here')))
    const home = freshFolder(t)
    const host = `127.0.0.1:${port}`
    writeFileSync(join(home, 'tireless.yaml'), AGENT + allowHostsYaml(host))
    const main = join(import.meta.dirname, '../crash/after-call-main.ts')
    const args = JSON.stringify({ action: 'open', url: `http://${host}/` })
    const died = await run(process.execPath, [...NODE_FLAGS, main, home, 'browser', args, 'surfer'])
    assert.equal(died.exit, null, `the process was not killed: ${died.stderr}`)
    await waitUntil(() => chromiumProcesses() === 0)
    assert.equal(readdirSync(join(home, 'browser')).length, 1)
    const app = await openApp(t, { home, model: scriptedModel([browse('open')]) })
    assert.equal(existsSync(join(home, 'browser')), false, 'its profile is deleted')
    await app.run('start', { until_idle: true })
    const { items } = await app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ tool, status }) => ({ tool, status })),
      [{ tool: 'browser', status: 'open' }],
    )
  })
})
