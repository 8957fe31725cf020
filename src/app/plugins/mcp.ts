/** Plugin `mcp`: the configured servers and their tools. It starts no server until one is needed. */

import { join } from 'node:path'
import { createMarkedTree } from '../../adapters/envs/host/marked-tree.ts'
import { McpServerPool } from '../../adapters/mcp/servers.ts'
import { environment } from '../../config.ts'
import { allowsHost, type HostPort, parseAllowedHost } from '../../domain/address.ts'
import { asTirelessError } from '../../domain/error.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { startServers } from '../server-sandbox.ts'

/** Environment variables that every server gets from us. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG']

export function mcp(): Plugin {
  let servers: McpServerPool | undefined
  return definePlugin({
    name: 'mcp',
    needs: ['home', 'config', 'clock', 'store', 'log', 'secrets', 'tools', 'egress', 'sandbox'],
    provides: ['mcp'],
    async setup(host) {
      const [config, clock, log] = [host.get('config'), host.get('clock'), host.get('log')]
      const home = host.get('home')
      const tools = host.get('tools')
      servers = new McpServerPool({
        ...{ clock, store: host.get('store'), redact: host.get('secrets').redact },
        open: host.get('egress').open,
        insertSecrets: (text) => host.get('secrets').filled(text),
        startFor: startServers({
          ...{
            home,
            egress: host.get('egress'),
            sandbox: host.get('sandbox').servers,
            limits: host.get('sandbox').limits,
            matchesHost: isListedIn,
          },
          env: Object.fromEntries(
            PASSED_VARIABLES.flatMap((name) => (environment()[name] ? [[name, String(environment()[name])]] : [])),
          ),
        }),
        groupFor: (server) => createMarkedTree({ TIRELESS_MCP_SERVER: join(home.root, server) }, clock),
        registerTool(tool) {
          try {
            tools.put(tool)
          } catch (thrown) {
            log.write('warn', 'mcp tool left out', { tool: tool.name, message: asTirelessError(thrown).message })
          }
        },
        configured: () => config.loaded.config.mcp_servers,
        log: (level, event, details) => log.write(level, event, details),
      })
      await servers.refresh()
      host.provide('mcp', servers)
    },
    stop: () => servers?.close(),
  })
}

const isListedIn = (place: HostPort, hosts: readonly string[]): boolean =>
  hosts.some((host) => {
    const entry = parseAllowedHost(host)
    return entry !== undefined && allowsHost(entry, place)
  })
