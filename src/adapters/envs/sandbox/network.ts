/**
 * The way out of a sandbox that has no network: a forwarder inside, on the loopback that every program knows, hands each connection on to a
 * proxy outside, through a socket file. The proxy judges; nothing in here does.
 */

import type { WayOut } from '../../../ports/env.ts'

/** Seen from inside. */
export const INNER_SOCKET = '/run/proxy'
export const INNER_NODE = '/run/node'
export const FORWARDER = '/etc/tireless-forward.mjs'
const PORT = 3128

/** Says so once it listens. */
export const FORWARDER_TEXT = `import { connect, createServer } from 'node:net'
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: '${INNER_SOCKET}', allowHalfOpen: true })
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.pipe(far)
  far.pipe(near)
})
server.listen(${PORT}, '127.0.0.1', () => console.log('listening'))
`

/** For bash, before the command: waits until the forwarder listens, and leaves it to nobody, so that no `wait` waits for it. */
export const FORWARDING = `if [ -S ${INNER_SOCKET} ]; then ( read -r _ < <(exec ${INNER_NODE} ${FORWARDER} < /dev/null 2> /dev/null) ); fi
`

export function proxyEnvironment({ user, password }: WayOut): Readonly<Record<string, string>> {
  const url = `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${PORT}`
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']
  return {
    ...Object.fromEntries(names.map((name) => [name, url])),
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
  }
}
