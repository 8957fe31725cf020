/** A server that does anything within its rights: a tool that evaluates an expression. */

import child from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import { createInterface } from 'node:readline'

const inputSchema = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] }

/** The value of an expression that fails. */
const failing = {
  get nothing(): never {
    throw new Error('nothing')
  },
}

async function evaluated(what: string): Promise<string> {
  try {
    const run = new Function('fs', 'child', 'net', 'failing', `with (failing) { return (async () => (${what}))() }`)
    return String(await run(fs, child, net, failing))
  } catch (thrown) {
    return `threw ${thrown}`
  }
}

async function answer(
  method: string,
  params: { arguments?: { what?: string } } | undefined,
): Promise<object | undefined> {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
  if (method === 'tools/list') return { tools: [{ name: 'evaluate', description: 'Evaluates.', inputSchema }] }
  if (method === 'tools/call')
    return { content: [{ type: 'text', text: await evaluated(params?.arguments?.what ?? '') }] }
  return undefined
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = await answer(method, params)
  const error = { code: -32601, message: 'unknown method' }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`)
})
