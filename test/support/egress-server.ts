/** A server on this machine, and egress that may reach it. */

import assert from 'node:assert/strict'
import http from 'node:http'
import type net from 'node:net'
import type { TestContext } from 'node:test'
import { createEgress } from '../../src/adapters/egress/egress.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type Address, parseHttpAddress } from '../../src/domain/address.ts'
import { createEgressRules, ownerAddressRules } from '../../src/policy/egress.ts'
import type { Egress, Resolver } from '../../src/ports/egress.ts'

export const neverAborts = (): AbortSignal => new AbortController().signal

export function parseAddress(url: string): Address {
  const parsed = parseHttpAddress(url)
  assert.ok(parsed.kind === 'read', url)
  return parsed.value
}

interface TestServer {
  readonly port: number
  readonly requests: string[]
}

export async function startServer(t: TestContext, handler: http.RequestListener): Promise<TestServer> {
  const requests: string[] = []
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`)
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as net.AddressInfo).port, requests }
}

/** Resolves every name to this machine, unless `resolve` is given. */
export function egressWith(
  listed: readonly string[],
  resolve: Resolver = async () => ['127.0.0.1'],
  clock = systemClock as typeof systemClock,
): Egress {
  const rules = createEgressRules(() => listed)
  return createEgress({ rules, ownersRules: ownerAddressRules(rules), resolve, clock, secret: () => 'secret' })
}

export const get = (egress: Egress, url: string, maxBytes = 100_000) =>
  egress.ask({ to: parseAddress(url), method: 'GET', maxBytes }, neverAborts())
