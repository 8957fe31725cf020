/** What the owner has settled beforehand, from the configuration as it is now. */

import { statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Policy } from '../engine/ruled.ts'
import type { Services } from '../ports/plugin.ts'

/** `workspaces`: the folder of the home that holds those that are the program's own. */
export function policyOf(config: Services['config'], workspaces: string): Policy {
  const settings = () => config.loaded.config.policy
  return {
    isAllowed: (host) => settings().allow_hosts.some((allowed) => isHost(allowed, host)),
    grants: () =>
      settings().grants.map(({ tool, to, agent }, n) => ({
        ...{ id: `policy.grants[${n}]`, tool, to, agent_id: agent, session_id: null, args: null },
        ...{ granted_at: '', expires_at: null },
      })),
    get unattended() {
      return settings().unattended
    },
    // A worktree of the owner's repository stands there, too, and holds what they were given by others.
    isForeign: (workspace) => !`${workspace}${sep}`.startsWith(workspaces + sep) || isWorktree(workspace),
  }
}

const isWorktree = (workspace: string): boolean =>
  statSync(join(workspace, '.git'), { throwIfNoEntry: false })?.isFile() ?? false

function isHost(allowed: string, host: string): boolean {
  const [wanted, got] = [allowed.toLowerCase(), host.toLowerCase()]
  return wanted.startsWith('*.') ? got.endsWith(wanted.slice(1)) : got === wanted
}
