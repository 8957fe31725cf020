/** Prepares the processes that the configuration names: MCP servers, and commands of sources. */

import type { PrepareStart } from '../adapters/mcp/process-start.ts'
import { environment } from '../config.ts'
import { allowsHost, type HostPort, parseAllowedHost } from '../domain/address.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { startServers } from './server-sandbox.ts'

/** Environment variables that every process gets from us. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG']

/** `key`: the key of the configuration that has the processes. */
export const prepareProcesses = (host: PluginHost, key: 'mcp_servers' | 'sources' | 'plugins'): PrepareStart =>
  startServers({
    ...{ key, home: host.get('home'), egress: host.get('egress'), matchesHost: isListedIn },
    ...{ sandbox: host.get('sandbox').servers, limits: host.get('sandbox').limits },
    env: Object.fromEntries(
      PASSED_VARIABLES.flatMap((name) => (environment()[name] ? [[name, String(environment()[name])]] : [])),
    ),
  })

const isListedIn = (place: HostPort, hosts: readonly string[]): boolean =>
  hosts.some((host) => {
    const entry = parseAllowedHost(host)
    return entry !== undefined && allowsHost(entry, place)
  })
