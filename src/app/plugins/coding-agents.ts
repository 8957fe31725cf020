/** Plugin `coding-agents`: external coding agents of the configuration, as a tool. */

import { type CodingAgents, codingAgent } from '../../adapters/tools/coding-agent.ts'
import { TirelessError } from '../../domain/error.ts'
import { spendWithinBudget } from '../../engine/request/budget-reservation.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'

export function codingAgents(): Plugin {
  return definePlugin({
    name: 'coding-agents',
    needs: ['config', 'clock', 'store', 'engine', 'egress', 'secrets', 'tools'],
    setup(host) {
      const [first, ...others] = Object.keys(host.get('config').loaded.config.coding_agents)
      if (first === undefined) return
      host.get('tools').add(codingAgent(configuredAgents(host, [first, ...others])))
    },
  })
}

function configuredAgents(host: PluginHost, names: CodingAgents['names']): CodingAgents {
  const { store, clock, budgetLimits } = host.get('engine')
  const config = () => host.get('config').loaded.config
  return {
    ...{ names, egress: host.get('egress') },
    find(name) {
      const agent = config().coding_agents[name]
      if (!agent) throw new TirelessError('tool_failed', `the owner removed ${name} from coding_agents`)
      const { filled } = host.get('secrets')
      const env = Object.fromEntries(Object.entries(agent.env).map(([key, value]) => [key, filled(value)]))
      return { ...agent, env }
    },
    pay: ({ call, origin, run, agent, usd }, work) =>
      spendWithinBudget(
        { store, budgetLimits },
        {
          ...{ id: `coding-${call}`, usd },
          spender: {
            ...{ kernel_id: config().kernel.id, agent_id: origin.agent_id, dispatch_id: run },
            ...{ model: `coding-agent/${agent}`, day: budgetLimits.dayOf(clock.budgetNow()) },
          },
        },
        work,
      ),
  }
}
