/** Plugin `mcp`: the configured servers and their tools. It starts no server until one is needed. */

import { join } from 'node:path'
import { createMarkedTree } from '../../adapters/envs/host/marked-tree.ts'
import { McpServerPool } from '../../adapters/mcp/servers.ts'
import { asTirelessError } from '../../domain/error.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { prepareProcesses } from '../prepare-processes.ts'

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
        startFor: prepareProcesses(host, 'mcp_servers'),
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
