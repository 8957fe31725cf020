/** Plugin `server`: the HTTP server, opened on demand. */

import { join } from 'node:path'
import { loadOrCreateToken, readCurrentToken } from '../../adapters/system/home-token.ts'
import { newSecret } from '../../adapters/system/ids.ts'
import type { CommandContext } from '../../commands/lib/context.ts'
import { loadCommands } from '../../commands/lib/registry.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { isLoopback } from '../../server/auth.ts'
import type { HttpServer } from '../../server/http.ts'

/** Folder of the built page; it has the same relative path in the sources and in the compiled package. */
const PAGE = join(import.meta.dirname, '../../../web/dist')

/** The server needs the services that commands need, so that it is stopped before them. */
export function server(): Plugin {
  let opened: Promise<HttpServer> | undefined
  let address: string | undefined
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
      const open = async (context: CommandContext): Promise<HttpServer> => {
        const secrets = host.get('secrets')
        secrets.know('token', loadOrCreateToken(file, newSecret))
        const token = (): string | undefined => {
          const now = readCurrentToken(file)
          if (now !== undefined) secrets.know('token', now)
          return now
        }
        // Loaded on demand, because most commands serve nothing.
        const [{ serveHttp }, commands] = await Promise.all([import('../../server/http.ts'), loadCommands()])
        const serve = (port: number): Promise<HttpServer> =>
          serveHttp({
            ...{ ...at, port, token, secret: newSecret, commands, context, page: PAGE },
            records: host.get('events').redactedRecords,
            onWanted: () => host.get('events').allRuns.follow(),
            failed: ({ code, message }, path) => log.write('error', 'request failed', { path, code, message }),
          })
        // With two homes on one machine, the second one takes any free port, unless server.port is set.
        const http = await serve(at.port).catch((thrown) => {
          if (isChosen || asTirelessError(thrown).code !== 'conflict') throw thrown
          return serve(0)
        })
        host.get('events').allRuns.addViewer(http.sink)
        log.write('info', 'serving', { url: http.url })
        address = http.url
        return http
      }
      host.provide('server', {
        address: () => address,
        async serve(context, { expose = false } = {}) {
          if (!expose) refuseExposed(at.host)
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

function refuseExposed(host: string): void {
  if (isLoopback(host)) return
  throw new TirelessError('usage', {
    what: 'other machines could reach the page, and anyone with the token has full control',
    where: 'server.host',
    got: host,
    expected: 'an address that only this machine can reach, such as 127.0.0.1',
    fix: 'if you want that, run tireless start --expose',
  })
}
