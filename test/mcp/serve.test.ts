/** This home as an MCP server: a real client of either generation calls it, with and without a running `start`. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { dispatchOf, freshFolder, openApp, waitUntil } from '../support/open-app.ts'

type Mode = 'legacy' | { readonly pin: string }

async function clientOf(t: TestContext, home: string, mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const args = [...NODE_FLAGS, MAIN, 'mcp', 'serve', '--home', home]
  const { NODE_COMPILE_CACHE } = process.env
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
  t.after(() => client.close())
  return client
}

async function asked(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [part] = content as { type: string; text: string }[]
  assert.notEqual(isError, true, part?.text)
  return JSON.parse(part?.text ?? '') as Record<string, unknown>
}

const GENERATIONS: readonly (readonly [string, Mode])[] = [
  ['stateless', { pin: '2026-07-28' }],
  ['handshake', 'legacy'],
]

const TOOLS = [
  ...['approvals_list', 'approvals_show', 'ask', 'enqueue', 'state_log', 'state_show'],
  ...['status', 'trace_list', 'trace_show'],
]

for (const [name, mode] of GENERATIONS)
  test(`mcp serve, ${name}, without a start`, async (t) => {
    const home = freshFolder(t)
    const client = await clientOf(t, home, mode)
    const { tools } = await client.listTools()
    const schema = tools.find((tool) => tool.name === 'enqueue')?.inputSchema

    await t.test('each call opens the home only while it runs', async () => {
      assert.deepEqual(tools.map((tool) => tool.name).toSorted(), TOOLS)
      assert.partialDeepStrictEqual(schema, {
        properties: { prompt: { type: 'string' }, agent: { default: 'default' } },
      })
      const { dispatch_id } = await asked(client, 'enqueue', { prompt: 'from afar', key: 'one' })
      const again = await asked(client, 'enqueue', { prompt: 'from afar', key: 'one' })
      assert.deepEqual({ dispatch_id: again.dispatch_id, duplicate: again.duplicate }, { dispatch_id, duplicate: true })
      const together = await Promise.all(['status', 'trace_list', 'approvals_list'].map((tool) => asked(client, tool)))
      assert.partialDeepStrictEqual(together[0], { queue: { pending: 1 } })
      // Other processes can open the home meanwhile.
      const app = await openApp(t, { home })
      const { metadata } = await dispatchOf(app, String(dispatch_id))
      assert.deepEqual(
        { words: metadata.words, label: metadata.label },
        { words: 'model', label: { trust: 'untrusted', private: false } },
      )
      await app.close()
    })

    await t.test('I12: a request of the client is not an instruction of the owner, whatever it says', async () => {
      const properties = schema?.properties ?? {}
      assert.ok('prompt' in properties && !('by' in properties))
      const withFalseMetadata = await client.callTool({ name: 'enqueue', arguments: { prompt: 'x', by: 'owner' } })
      assert.equal(withFalseMetadata.isError, true)
    })

    await t.test(
      'errors are reported as the command reports them; commands that are not offered do not exist',
      async () => {
        const { content, isError } = await client.callTool({ name: 'trace_show', arguments: { run: 'nothing' } })
        assert.equal(isError, true)
        assert.match(JSON.stringify(content), /not_found/)
        for (const absent of ['approvals_allow', 'approvals_deny', 'stop', 'run'])
          await assert.rejects(client.callTool({ name: absent, arguments: { id: 'x' } }), /not found/i)
      },
    )
  })

test('mcp serve beside a start: the running kernel answers and does the work', async (t) => {
  const home = freshFolder(t)
  const app = await openApp(t, {
    home,
    yaml: 'server: { port: 0 }\n',
    model: scriptedModel([{ text: 'done from afar' }]),
  })
  const life = app.run('start', {})
  const client = await clientOf(t, home, { pin: '2026-07-28' })
  const { dispatch_id } = await asked(client, 'enqueue', { prompt: 'do it' })
  await waitUntil(async () => ((await asked(client, 'status')).queue as { done: number }).done === 1)
  const { items } = await asked(client, 'trace_list')
  assert.partialDeepStrictEqual(items, [{ run_id: dispatch_id, final_answer: 'done from afar' }])
  assert.partialDeepStrictEqual(await asked(client, 'trace_show', { run: dispatch_id }), {
    manifest: { status: 'completed' },
  })
  assert.deepEqual((await asked(client, 'approvals_list')).items, [])
  await app.run('stop', {})
  await life
})
