/** The web_search tool, used through whole runs against servers that answer as the real providers do. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { loadConfig } from '../../src/config.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { recordsOf, resultsOf } from '../support/fake-tools.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { callStep, runAgent, startSite } from '../support/serve-pages.ts'

const KEY = 'key-0123456789abcdef'
const PAGE = { title: 'Storks\n of Europe', url: 'https://storks.example/europe' }

/** The answer of each provider for the same page. */
const ANSWERS = {
  brave: { web: { results: [{ ...PAGE, description: 'White <strong>storks</strong> return' }] } },
  tavily: { results: [{ ...PAGE, content: 'White storks return', score: 0.9 }] },
  searxng: { results: [{ ...PAGE, content: 'White storks return', engine: 'x' }], number_of_results: 0 },
} as const

interface Provider {
  readonly port: number
  readonly requests: readonly string[]
  readonly bodies: readonly string[]
  readonly headers: IncomingHttpHeaders[]
}

async function startProvider(t: TestContext, answer: () => { status?: number; body: string }): Promise<Provider> {
  const headers: IncomingHttpHeaders[] = []
  const site = await startSite(t, (request, response) => {
    headers.push(request.headers)
    const { status = 200, body } = answer()
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  return { ...site, headers }
}

const searchYaml = (provider: string, port: number): string =>
  `search: { provider: ${provider}, url: "http://127.0.0.1:${port}", api_key: ${KEY} }\n`

describe('web_search', () => {
  for (const provider of ['brave', 'tavily', 'searxng'] as const)
    test(`E21: ${provider} is asked in its own way, and its pages are listed as text from outside`, async (t) => {
      const { port, requests, bodies, headers } = await startProvider(t, () => ({
        body: JSON.stringify(ANSWERS[provider]),
      }))
      const { results, app, session_id } = await runAgent(
        t,
        [callStep('web_search', { query: 'storks in spring', count: 3 })],
        { yaml: searchYaml(provider, port) },
      )
      assert.equal(results[0]?.content, '1. Storks of Europe\n   https://storks.example/europe\n   White storks return')
      assert.equal(results[0]?.status, 'ok')
      const host = `127.0.0.1:${port}`
      const [asked] = {
        brave: [`GET ${host}/res/v1/web/search?q=storks+in+spring&count=3`],
        tavily: [`POST ${host}/search`],
        searxng: [`GET ${host}/search?q=storks+in+spring&format=json`],
      }[provider]
      assert.deepEqual(requests, [asked])
      assert.deepEqual(bodies, [provider === 'tavily' ? '{"query":"storks in spring","max_results":3}' : ''])
      const [sent] = headers
      assert.equal(provider === 'brave' ? sent?.['x-subscription-token'] : sent?.authorization?.slice(7), KEY)
      const [intended] = await recordsOf(app, session_id, 'call_intended')
      assert.deepEqual(intended?.effect, { recovery: 'pure', reach: 'network', host })
      const gives = app
        .service('tools')
        .all.get('web_search')
        ?.gives?.({ query: 'x' } as never)
      assert.deepEqual(gives, { trust: 'untrusted', private: false })
      const everything = JSON.stringify(await journalOf(app, session_id))
      assert.ok(!everything.includes(KEY), 'the key is in no record')
    })

  test('E21: what was read elsewhere cannot leave with a query; the words of the owner can', async (t) => {
    const { port, requests } = await startProvider(t, () => ({ body: JSON.stringify(ANSWERS.searxng) }))
    const app = await openApp(t, {
      model: scriptedModel([
        callStep('web_search', { query: 'storks' }),
        callStep('web_search', { query: 'storks zq81 password hunter2 token' }),
        callStep('web_search', { query: 'storks europe' }),
        { text: 'done' },
      ]),
      yaml: `${searchYaml('searxng', port)}policy: { unattended: deny }\n`,
    })
    const { session_id } = await runTaskIn(app, 'Search the web for storks of Europe')
    const results = await resultsOf(app, session_id)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'error', 'ok'],
    )
    assert.match(results[1]?.content ?? '', /it tells .*hunter2/)
    assert.equal(requests.filter((line) => line.includes('hunter2')).length, 0)
  })

  test('E21: no answer of a provider ends more than the call', async (t) => {
    const left: string[] = []
    const { port } = await startProvider(t, () => ({ body: left.shift() ?? '' }))
    const bodies = fc.sample(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.record({ results: fc.array(fc.anything()) }).map((value) => JSON.stringify(value)),
        fc.constant(
          JSON.stringify({ results: [null, 7, {}, { title: '', url: 'x' }, { title: 'a', url: 'file:///x' }] }),
        ),
      ),
      { numRuns: 12, seed: 21 },
    )
    const app = await openApp(t, {
      model: scriptedModel([...bodies.map((_, n) => callStep('web_search', { query: `q${n}` })), { text: 'done' }]),
      yaml: `${searchYaml('searxng', port)}policy: { grants: [{ tool: web_search, to: ["*"] }] }\n`,
    })
    left.push(...bodies)
    const { session_id } = await runTaskIn(app, 'Search')
    const results = await resultsOf(app, session_id)
    assert.equal(results.length, bodies.length)
    for (const { status, content } of results)
      assert.match(`${status} ${content}`, /^ok nothing was found|^error searxng gave no answer|^ok 1\. /)
  })

  test('E21: a refused key and too many searches are said; a missing key names its variable', async (t) => {
    let status = 401
    const { port } = await startProvider(t, () => ({ status: status, body: '{}' }))
    const run = async (yaml: string) =>
      (await runAgent(t, [callStep('web_search', { query: 'x' })], { yaml })).results[0]?.content
    assert.match((await run(searchYaml('brave', port))) ?? '', /status 401: it refuses the key.*search\.api_key/)
    status = 429
    assert.match((await run(searchYaml('brave', port))) ?? '', /status 429: too many searches/)
    const missing = `search: { provider: brave, url: "http://127.0.0.1:${port}", api_key_env: NO_SUCH_SEARCH_KEY }\n`
    assert.match((await run(missing)) ?? '', /NO_SUCH_SEARCH_KEY is empty or not set/)
  })

  test('O16: the shipped plan searches where a provider is configured, and plans without one', async (t) => {
    const { port } = await startProvider(t, () => ({ body: JSON.stringify(ANSWERS.searxng) }))
    const offered = async (yaml: string): Promise<readonly string[]> => {
      const app = await openApp(t, { yaml, model: scriptedModel([{ text: 'done' }]) })
      const { session_id } = await runTaskIn(app, 'Say hello', { behaviour: 'plan' })
      const [started] = await recordsOf(app, session_id, 'run_started')
      return started?.setup.tools.filter((tool) => tool === 'web_search') ?? []
    }
    assert.deepEqual(await offered(searchYaml('searxng', port)), ['web_search'])
    assert.deepEqual(await offered('store: sqlite\n'), [])
  })

  test('without a provider there is no such tool; searxng needs an address', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    assert.equal(app.service('tools').all.has('web_search'), false)
    const file = join(freshFolder(t, 'config'), 'tireless.yaml')
    writeFileSync(file, 'search: { provider: searxng }\n')
    assert.throws(() => loadConfig({ file }), /search\.url.*the address of your server/s)
  })
})
