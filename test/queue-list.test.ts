/** Lists of dispatches: windows, filters and words, from the command line and over HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tireless } from './support/command-line.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder } from './support/open-app.ts'

test('Q15: a list of dispatches is filtered, searched and read in windows', async (t) => {
  const home = freshFolder(t)
  const served = await openHttpApp(t, { home })
  for (const task of ['count the apples', 'count the pears', `weigh the apples ${'x'.repeat(1000)}`])
    await served.app.run('enqueue', { task })
  const list = async (query: string) => {
    const answer = await sendRequest(served, `/api/v1/queue/list?${query}`, { headers: served.bearer })
    assert.equal(answer.status, 200, answer.text)
    const { items, total } = answer.json<{ items: { title: string; prompt: string }[]; total: number }>()
    return { total, titles: items.map(({ title }) => title.slice(0, 16)), prompts: items.map(({ prompt }) => prompt) }
  }
  assert.equal((await list('limit=1')).total, 3)
  assert.deepEqual((await list('limit=1&offset=1')).titles, ['count the pears'])
  assert.deepEqual((await list('search=APPLES%20count')).titles, ['count the apples'])
  assert.deepEqual((await list('status=done')).titles, [])
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  assert.equal((await list(`from=${tomorrow}`)).total, 0)
  assert.equal((await list(`to=${tomorrow}&agent=default`)).total, 3)
  const [brief] = (await list('brief=true&limit=1')).prompts
  assert.ok(brief?.startsWith('weigh') && brief.length < 400)
  const refused = await sendRequest(served, '/api/v1/queue/list?from=soonish', { headers: served.bearer })
  assert.deepEqual([refused.status, refused.code], [400, 'usage'])

  const { stdout } = await tireless(home, 'queue', 'list', '--search', 'pears', '--json')
  assert.equal(JSON.parse(stdout).items.length, 1)
})
