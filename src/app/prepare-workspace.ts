/** Prepares the folder of a session: its own, one that the owner names, or the one of its agent. */

import { createAgentWorkspacePreparer, createWorkspacePreparer } from '../adapters/envs/choose-workspace.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import type { PluginHost } from '../ports/plugin.ts'

/** `needs` of a plugin that uses it: home, storedPaths, config, sandbox. */
export function workspacePreparer(host: PluginHost): CommandContext['prepareWorkspace'] {
  const [{ root, workspaces }, config] = [host.get('home'), host.get('config')]
  const prepare = createWorkspacePreparer(root, workspaces, host.get('sandbox').git)
  const prepareFor = createAgentWorkspacePreparer(host.get('storedPaths'), prepare)
  const workspaceOf = (agentId: string): string | null =>
    config.roster.all().find(({ agent }) => agent.agent_id === agentId)?.agent.workspace ?? null
  return (sessionId, wanted) =>
    typeof wanted === 'object' ? prepareFor(sessionId, workspaceOf(wanted.agent)) : prepare(sessionId, wanted)
}
