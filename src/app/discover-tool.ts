/** Makes the tools of a configured MCP server known before a run names one. */

import type { Engine } from '../engine/run.ts'
import type { PluginHost } from '../ports/plugin.ts'

/** A server that was never seen is waited for so long by whoever names one of its tools. */
const PATIENCE_MS = 20_000

/** Its tools come to be known with the first look at it. */
export function discoverTool(host: PluginHost): NonNullable<Engine['meet']> {
  const [config, servers, tools] = [host.get('config'), host.get('mcp'), host.get('tools')]
  return async (tool) => {
    const [server = ''] = tool.split('__', 1)
    if (tools.all.has(tool) || !Object.hasOwn(config.loaded.config.mcp_servers, server)) return
    const over = new AbortController()
    const late = host.get('clock').sleep(PATIENCE_MS, over.signal)
    await Promise.race([servers.test(server).catch(() => {}), late])
    over.abort()
  }
}
