/** Generated calls of the tools of `mcp serve`: each is answered with text. */

import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import fc from 'fast-check'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { assertPlainMessage, assertReopens } from '../support/garbage-assertions.ts'
import { anyNumber, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const KEYS = [
  'prompt',
  'agent',
  'at',
  'priority',
  'key',
  'id',
  'limit',
  'version',
  'run',
  'max_seconds',
  'status',
  'by',
]

test('mcp serve with any call', async (t) => {
  const options = { home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })) }
  const app = await openApp(t, options)
  const args = [...NODE_FLAGS, MAIN, 'mcp', 'serve', '--home', options.home]
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' }))
  t.after(() => client.close())
  const { tools } = await client.listTools()
  const named = fc.constantFrom(...tools.map(({ name }) => name))
  const given = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), anyText), fc.oneof(anyNumber, anyText, anyValue), {
    maxKeys: 4,
  })

  await t.test('every call is answered with a result or a plain message', () =>
    checkProperty(80, fc.tuple(named, given), async ([name, input]) => {
      const { content } = await client.callTool({ name, arguments: JSON.parse(JSON.stringify(input)) })
      const [part] = content as { text: string }[]
      if (!part?.text.startsWith('{')) assertPlainMessage(part?.text ?? '')
    }),
  )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, app, options)).close()
  })
})
