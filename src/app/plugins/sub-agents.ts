/** Plugin `sub-agents`: runs that runs start. */

import { copyForSubAgent } from '../../adapters/envs/copies/copy-for-sub-agent.ts'
import { subAgentTools } from '../../adapters/tools/tools.ts'
import { createSubAgents } from '../../kernel/sub-agents/spawn-agent.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function subAgents(): Plugin {
  return definePlugin({
    name: 'sub-agents',
    needs: ['home', 'config', 'clock', 'store', 'engine', 'tools'],
    setup(host) {
      const { workspaces, copies } = host.get('home')
      const config = host.get('config')
      const agents = createSubAgents({
        ...{ store: host.get('store'), clock: host.get('clock'), snapshots: host.get('engine').snapshots, workspaces },
        kernelId: config.loaded.config.kernel.id,
        agentIssues: host.get('engine').agentIssues,
        agents: () => config.roster.all().map(({ agent }) => agent),
        copyWorkspace: (from, to) => copyForSubAgent({ folder: copies, from, to }),
      })
      host.get('tools').add(...subAgentTools(agents))
    },
  })
}
