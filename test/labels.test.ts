/** Output for the owner shows labels and origins: trusted or untrusted, private or not. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { render } from '../src/cli/views/views.ts'
import { labelWord } from '../src/domain/label.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { sendRequest } from './support/http-app.ts'
import { openKernelApp, runOnce } from './support/kernels.ts'

const mailTool = defineTool<object>({
  name: 'read_mail',
  description: 'Reads the mail.',
  args: z.strictObject({}),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => ({ trust: 'untrusted', private: true }),
  run: async () => ({ status: 'ok', content: 'The vault is open.' }),
})

const callTool = (tool: string, args = {}) => ({ calls: [{ tool, args }] })
const callRemember = (key: string) => callTool('remember', { key, text: `about ${key}` })

async function appAfterOneCycle(t: Parameters<typeof openKernelApp>[0]) {
  const model = scriptedModel([
    callRemember('own'),
    callTool('read_mail'),
    callRemember('mail'),
    { text: '## Execution Summary\nread and remembered' },
  ])
  const { app } = await openKernelApp(t, {
    agents: [{ agent_id: 'a' }],
    model,
    config: { server: { port: 0 } },
    options: { tools: [mailTool] },
  })
  await runOnce(app)
  return app
}

describe('labels in output', () => {
  test('memory list: label and origin of each fact, as one word in the table and as fields in JSON', async (t) => {
    const app = await appAfterOneCycle(t)
    const listed = await app.run('memory list', {})
    const factByKey = new Map(listed.items.map((fact) => [fact.key, fact]))
    const [own, fromMail] = [factByKey.get('own'), factByKey.get('mail')]
    assert.deepEqual(
      { own: own && labelWord(own), fromMail: fromMail && labelWord(fromMail) },
      { own: 'trusted', fromMail: 'untrusted+private' },
    )
    const lines = render('memory list', listed).split('\n')
    for (const [key, word, turn] of [
      ['own', 'trusted', own?.turn],
      ['mail', 'untrusted+private', fromMail?.turn],
    ])
      assert.ok(
        lines.some((line) => new RegExp(`^a +${key} +${String(word).replace('+', '\\+')} +\\S+ +${turn} `).test(line)),
        lines.join('\n'),
      )
  })

  test('status: each agent of the last cycle has the label of its session; also over HTTP', async (t) => {
    const app = await appAfterOneCycle(t)
    type Status = { kernel: { last_cycle: { agents: { agent_id: string; label: object }[] } } }
    const status = await app.run('status', {})
    const expected = [{ trust: 'untrusted', private: true }]
    assert.deepEqual(
      status.kernel.last_cycle?.agents.map(({ label }) => label),
      expected,
    )
    const server = await app.context.serveHttp()
    const port = Number(new URL(server.url).port)
    const authorization = `Bearer ${readFileSync(server.token_file, 'utf8').trim()}`
    const answer = (await sendRequest({ port }, '/api/v1/status', { headers: { authorization } })).json<Status>()
    assert.deepEqual(
      answer.kernel.last_cycle.agents.map(({ label }) => label),
      expected,
    )
  })

  test('state show: the label of the document, the sections that lower it, and the author', async (t) => {
    const app = await appAfterOneCycle(t)
    const { documents } = app.context
    await documents.write('STATE.md', (text) => `${text}\n## From the mail\n\nThe vault is open.\n`, {
      ...{ author: 'a', reason: 'noted', label: { trust: 'untrusted', private: false } },
    })
    const notes: string[] = []
    const stateShown = await app.run('state show', {}, (progress) => {
      if (progress.kind === 'note') notes.push(progress.text)
    })
    assert.deepEqual(
      { trust: stateShown.trust, private: stateShown.private, author: stateShown.author },
      { trust: 'untrusted', private: false, author: 'a' },
    )
    const isMail = ({ title }: { title: string }) => title === 'From the mail'
    assert.deepEqual(stateShown.sections.find(isMail), { title: 'From the mail', trust: 'untrusted', private: false })
    assert.ok(
      notes.some(
        (note) => note.startsWith(`Version ${stateShown.version} by a (noted), `) && note.endsWith(': untrusted'),
      ),
      notes.join('\n'),
    )
    assert.ok(notes.includes('Section From the mail: untrusted'))
    const before = await app.run('state show', { version: 1 })
    assert.equal(before.sections.some(isMail), false)
  })
})
