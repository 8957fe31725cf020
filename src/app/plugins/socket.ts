/** Plugin `socket`: runs commands for other processes. */

import { loadCommand } from '../../commands/lib/registry.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { type SocketServer, serveSocket } from '../../server/socket.ts'

/** The socket is started last and stopped first, so that clients find everything else running. */
export function socket(): Plugin {
  let server: SocketServer | undefined
  return definePlugin({
    name: 'socket',
    needs: ['home', 'commands'],
    async start(host) {
      server = await serveSocket(host.get('home').socket, loadCommand, host.get('commands'))
    },
    stop: () => server?.close(),
  })
}
