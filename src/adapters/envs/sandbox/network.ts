/**
 * The way out of a sandbox that has no network: a forwarder inside, on the loopback that every program knows, hands each connection on to a
 * proxy outside, through a socket file. The proxy judges; nothing in here does.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenWayOut, WayOut } from '../../../ports/env.ts'
import { type Forwarder, INNER_SOCKET, PORT } from './forwarder.ts'
import type { Bind } from './layout.ts'

export interface Way {
  readonly binds: readonly Bind[]
  readonly environment: Readonly<Record<string, string>>
  refusals(): readonly string[]
}

const NO_WAY: Way = { binds: [], environment: {}, refusals: () => [] }

/**
 * Contract: what has to be closed after it is in `opened`, also where it fails. A socket of its own for each command, in a folder with a short name,
 * because the names of sockets are short.
 */
export async function openWay(
  open: OpenWayOut | undefined,
  forwarder: Forwarder,
  opened: AsyncDisposableStack,
): Promise<Way> {
  if (!open) return NO_WAY
  const folder = await mkdtemp(join(tmpdir(), 'tireless-way-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const socket = join(folder, 'proxy')
  const way = await open(socket)
  opened.defer(() => way.close())
  return {
    binds: [{ from: socket, at: INNER_SOCKET, writable: true }, ...forwarder.binds],
    environment: proxyEnvironment(way),
    refusals: () => way.refusals(),
  }
}

function proxyEnvironment({ user, password, environment }: WayOut): Readonly<Record<string, string>> {
  const url = `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${PORT}`
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']
  return {
    ...Object.fromEntries(names.map((name) => [name, url])),
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    // Else Node heeds none of them.
    NODE_USE_ENV_PROXY: '1',
    ...environment,
  }
}
