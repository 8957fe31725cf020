/** Makes the tools of a configured MCP server known before a run names one. */

import type { DiscoverTool } from '../engine/run.ts'
import { withDeadline } from '../ports/deadline.ts'
import type { PluginHost } from '../ports/plugin.ts'

/** Time to wait for a server whose tools are not known yet. */
const WAIT_MS = 20_000

/** Starts the server of an unknown tool: the tools of a server become known when it starts for the first time. */
export function discoverTool(host: PluginHost): DiscoverTool {
  const [config, servers, tools] = [host.get('config'), host.get('mcp'), host.get('tools')]
  return async (tool) => {
    const [server = ''] = tool.split('__', 1)
    if (tools.all.has(tool) || !Object.hasOwn(config.loaded.config.mcp_servers, server)) return
    await withDeadline({ clock: host.get('clock'), ms: WAIT_MS }, () => servers.test(server).catch(() => {}))
  }
}
