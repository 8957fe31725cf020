/** Requests of a session that has read a page: its host gets nothing that the owner did not ask to send. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { call } from './support/approval-fixtures.ts'
import { fakeTool } from './support/fake-tools.ts'
import { fakeDns, startSite } from './support/serve-pages.ts'
import { attemptCalls, inbox, type ToolCalls } from './support/tainted-session.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ tool: 'fetch', method }))

describe('I12: a task to read a page does not allow sending its host anything', () => {
  async function serveSite(t: TestContext) {
    const site = await startSite(t, (_, response) =>
      response.setHeader('content-type', 'text/html').end('<p>Hello. <a href="/next?id=7">next</a></p>'),
    )
    return { ...site, at: `http://site.test:${site.port}` }
  }
  const resolve = fakeDns({ 'site.test': '127.0.0.1' })
  const yaml = (port: number, extra = '') => `policy: { allow_hosts: ["site.test:${port}"]${extra} }`

  test('other methods, bodies, headers and URLs need approval, though the intent judge allows them all', async (t) => {
    const { at, requests: asked, port } = await serveSite(t)
    const url = `${at}/page`
    const fetches = [
      ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ url, method })),
      { url, method: 'POST', body: 'secret' },
      { url, method: 'POST', body: 'tell me what' },
      { url, headers: { 'X-Told': 'secret' } },
      { url, headers: { Cookie: 'tell' } },
      { url, method: 'HEAD', headers: { Accept: 'hidden' } },
      ...['?q=secret', '"secret', "'secret'", '!!!', '/secret', '/PaGe', ';x', '%2Fsecret', '?', '#'].map((suffix) => ({
        url: url + suffix,
      })),
      { url: `${at}/PAGE` },
      { url: `${at}/${'page/'.repeat(60)}` },
    ]
    const attempts = fetches.map((args) => call('fetch', args))
    const passed = await attemptCalls(t, {
      ...{
        resolve,
        yaml: yaml(port),
        firstCalls: [call('fetch', { url }), call('inbox')],
        attempts,
        falseClaims: METHODS,
      },
      ...{ tools: [inbox()], task: `Read my mail and tell me what ${url} says.` },
    })
    const passing = fetches.filter((_, n) => passed[n])
    // The fragment after # is not sent, so this is the page itself.
    assert.deepEqual(passing, [{ url: `${url}#` }])
    assert.ok(
      asked.every((line) => /^GET site\.test:\d+\/page$/.test(line)),
      asked.join('\n'),
    )
  })

  test('links on the page and terms of the task may be fetched, but not once private data was read', async (t) => {
    const at = 'https://shop.example'
    const urls = [
      `${at}/next?id=7`,
      `${at}/search?q=blue+shoes`,
      `${at}/Blue/shoes`,
      `${at}/next?id=8`,
      'https://else.example/',
    ]
    const askShop = fakeTool({
      ...{ name: 'ask', effect: { recovery: 'pure', reach: 'network', host: 'shop.example' } },
      run: () => `Hello. [next](${at}/next?id=7) [else](https://else.example/)`,
    })
    const run = (firstCalls: ToolCalls) =>
      attemptCalls(t, {
        ...{ firstCalls, tools: [askShop, inbox()], attempts: urls.map((url) => call('ask', { url })) },
        task: `Look for blue shoes on ${at}/page.`,
      })
    const page = call('ask', { url: `${at}/page` })
    assert.deepEqual(await run([page]), [true, true, true, false, false])
    assert.deepEqual(
      await run([page, call('inbox')]),
      urls.map(() => false),
    )
  })

  test('a grant covers one method and address; a host alone covers only reading', async (t) => {
    const { at, port } = await serveSite(t)
    const attempts = [
      { url: `${at}/hook`, method: 'POST', body: 'anything at all' },
      { url: `${at}/hook`, method: 'PUT', body: 'x' },
      { url: `${at}/hook/other`, method: 'POST', body: 'x' },
      { url: `${at}/HOOK`, method: 'POST', body: 'x' },
      { url: `${at}/hook`, method: 'POST', body: 'see https://evil.example/x' },
      { url: `${at}/hook`, method: 'POST', body: 'the password is hunter2' },
      { url: `${at}/any/page?q=1` },
      { url: `http://reads.test:${port}/hook`, method: 'POST', body: 'x' },
    ].map((args) => call('fetch', args))
    const grants = JSON.stringify([
      { tool: 'fetch', to: [`POST ${at}/hook`, `site.test:${port}`, `reads.test:${port}`] },
    ])
    const passed = await attemptCalls(t, {
      ...{
        resolve,
        firstCalls: [call('fetch', { url: `${at}/page` })],
        attempts,
        falseClaims: METHODS,
        task: 'Do your duty.',
      },
      yaml: yaml(port, `, grants: ${grants}`),
    })
    assert.deepEqual(passed, [true, false, false, false, false, false, true, false])
  })
})
