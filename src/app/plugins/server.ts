/** Plugin `server`: HTTP, opened when a command asks for it. */

import { join } from 'node:path'
import { newSecret } from '../../adapters/ids.ts'
import { currentToken, tokenIn } from '../../adapters/token.ts'
import type { Context } from '../../commands/command.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { isLoopback } from '../../server/access.ts'
import type { HttpServer } from '../../server/http.ts'

/** The page: built beside the sources, and beside the compiled code of the package alike. */
const PAGE = join(import.meta.dirname, '../../../web/dist')

/** Set up before the commands, which can have it opened; needs what they need, so that it is stopped before any of that. */
export function server(): Plugin {
  let opened: Promise<HttpServer> | undefined
  return definePlugin({
    name: 'server',
    needs: ['home', 'config', 'events', 'log', 'secrets', 'store', 'bell', 'queue'],
    provides: ['server'],
    setup(host) {
      const { token: file } = host.get('home')
      const { config, sources } = host.get('config').loaded
      const at = config.server
      const isChosen = (sources['server.port'] ?? 'default') !== 'default'
      const log = host.get('log')
      const open = async (context: Context): Promise<HttpServer> => {
        const secrets = host.get('secrets')
        secrets.know('token', tokenIn(file, newSecret))
        const token = (): string | undefined => {
          const now = currentToken(file)
          if (now !== undefined) secrets.know('token', now)
          return now
        }
        // Only whoever serves pays for loading it.
        const [{ serveHttp }, { COMMANDS }] = await Promise.all([
          import('../../server/http.ts'),
          import('../../commands/all.ts'),
        ])
        const serve = (port: number): Promise<HttpServer> =>
          serveHttp({
            ...{ ...at, port, token, secret: newSecret, commands: COMMANDS, context, page: PAGE },
            failed: ({ code, message }, path) => log.write('error', 'request failed', { path, code, message }),
          })
        // Two homes on one machine: whoever comes second and has asked for no port takes any.
        const http = await serve(at.port).catch((thrown) => {
          if (isChosen || asTirelessError(thrown).code !== 'conflict') throw thrown
          return serve(0)
        })
        host.get('events').add(http.sink)
        log.write('info', 'serving', { url: http.url })
        return http
      }
      host.provide('server', {
        async serve(context, { expose = false } = {}) {
          if (!expose && !isLoopback(at.host))
            throw new TirelessError('usage', {
              what: 'others could reach the page over the network, and whoever has the token is the owner',
              where: 'server.host',
              got: at.host,
              expected: 'an address of this machine alone, such as 127.0.0.1',
              fix: 'start --expose, if that is what you want',
            })
          opened ??= open(context)
          const { url, loopback, loginUrl } = await opened.catch((thrown) => {
            opened = undefined
            throw thrown
          })
          return { url, login_url: loginUrl(), token_file: file, loopback }
        },
      })
    },
    stop: async () => (await opened)?.close(),
  })
}
