/**
 * Network access from a sandbox without a network: a forwarder inside listens on the loopback and passes each
 * connection through a socket file to a proxy outside. Only the proxy decides what is allowed.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenSocketProxy, SocketProxy } from '../../../ports/env.ts'
import type { BindMount } from './bubblewrap-command-line.ts'
import { FORWARDER_PORT, type Forwarder, INNER_SOCKET } from './network-forwarder.ts'

interface EgressSocket {
  readonly binds: readonly BindMount[]
  readonly environment: Readonly<Record<string, string>>
  refusals(): readonly string[]
}

const NO_EGRESS: EgressSocket = { binds: [], environment: {}, refusals: () => [] }

/**
 * Contract: everything that must be closed later is added to `opened`, even if this function throws. Each command has
 * its own socket, in a folder with a short path, because socket paths have a small length limit.
 */
export async function openEgressSocket(
  open: OpenSocketProxy | undefined,
  forwarder: Forwarder,
  opened: AsyncDisposableStack,
): Promise<EgressSocket> {
  if (!open) return NO_EGRESS
  const folder = await mkdtemp(join(tmpdir(), 'tireless-way-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const socket = join(folder, 'proxy')
  const proxy = await open(socket)
  opened.defer(() => proxy.close())
  return {
    binds: [{ from: socket, at: INNER_SOCKET, writable: true }, ...forwarder.binds],
    environment: proxyEnvironment(proxy),
    refusals: () => proxy.refusals().map(({ message }) => message),
  }
}

function proxyEnvironment({ user, password, environment }: SocketProxy): Readonly<Record<string, string>> {
  const url = `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${FORWARDER_PORT}`
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']
  return {
    ...Object.fromEntries(names.map((name) => [name, url])),
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    // Without this variable, Node ignores the proxy variables.
    NODE_USE_ENV_PROXY: '1',
    ...environment,
  }
}
