/**
 * The controlled server as a process: the stateless generation of the protocol, written by hand because the SDK takes
 * longer to load than most tests. controlled-server-main.ts FOLDER. With the SDK: controlled-server-sdk.ts.
 */

import { createInterface } from 'node:readline'
import { type CallParams, createBehaviour } from './controlled-server.ts'

const { note, tools, call, mode } = createBehaviour(process.argv[2] ?? '', () => process.exit(7))
const runningCalls = new Map<unknown, CallParams>()

note(`started ${process.pid}`)
process.stderr.write('the controlled server is running\n')

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: CallParams & { readonly requestId?: unknown }
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

async function answerTo({ id, method, params }: Request): Promise<object | undefined> {
  if (method === 'server/discover')
    return {
      result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } }, ...COMPLETE },
    }
  if (method === 'tools/list') return { result: { tools: tools(), ...COMPLETE } }
  if (method === 'tools/call' && params) {
    runningCalls.set(id, params)
    const result = await call(params)
    runningCalls.delete(id)
    return { result: { ...result, resultType: 'complete' } }
  }
  if (method === 'notifications/cancelled') note(`cancelled ${runningCalls.get(params?.requestId)?.arguments?.what}`)
  return id === undefined ? undefined : { error: { code: -32601, message: `no method ${method}` } }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request
  void answerTo(request).then(
    (answer) => answer && process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer })}\n`),
  )
}
if (mode() === 'stay') setInterval(() => {}, 1000)
