/**
 * The acting server as a process, in the stateless generation of the protocol, by hand: controlled-server-main.ts FOLDER. The SDK's would take
 * longer to load than most tests do. Those of the SDK: acting-sdk.ts.
 */

import { createInterface } from 'node:readline'
import { type AskedOf, actingIn } from './controlled-server.ts'

const { note, tools, call, mode } = actingIn(process.argv[2] ?? '', () => process.exit(7))
const underWay = new Map<unknown, AskedOf>()

note(`started ${process.pid}`)
process.stderr.write('the acting server is here\n')

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: AskedOf & { readonly requestId?: unknown }
}

const WHOLE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

async function answerTo({ id, method, params }: Asked): Promise<object | undefined> {
  if (method === 'server/discover')
    return { result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } }, ...WHOLE } }
  if (method === 'tools/list') return { result: { tools: tools(), ...WHOLE } }
  if (method === 'tools/call' && params) {
    underWay.set(id, params)
    const result = await call(params)
    underWay.delete(id)
    return { result: { ...result, resultType: 'complete' } }
  }
  if (method === 'notifications/cancelled') note(`cancelled ${underWay.get(params?.requestId)?.arguments?.what}`)
  return id === undefined ? undefined : { error: { code: -32601, message: `no method ${method}` } }
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Asked
  void answerTo(asked).then(
    (answer) => answer && process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer })}\n`),
  )
}
if (mode() === 'stay') setInterval(() => {}, 1000)
