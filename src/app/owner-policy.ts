/** The owner's policy, from the current configuration. */

import { statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { readableHosts } from '../config.ts'
import { parseHostPort } from '../domain/address.ts'
import type { Policy } from '../engine/calls/policy-check.ts'
import { createEgressRules } from '../policy/egress.ts'
import type { Services } from '../ports/plugin.ts'

/** `workspaces`: folder of the home with the workspaces that Tireless creates. */
export function createOwnerPolicy(config: Services['config'], workspaces: string): Policy {
  const settings = () => config.loaded.config.policy
  const hosts = () => readableHosts(config.loaded.config)
  return {
    isAllowed: (host) => isListed(host, hosts()),
    isAllowedByName: (host) =>
      isListed(
        host,
        hosts().filter((listed) => !listed.includes('*')),
      ),
    grants: () =>
      settings().grants.map(({ tool, to, agent }, n) => ({
        ...{ id: `policy.grants[${n}]`, tool, to, agent_id: agent, session_id: null, args: null },
        ...{ granted_at: '', expires_at: null },
      })),
    get unattended() {
      return settings().unattended
    },
    // The folder also contains worktrees of the owner's repositories, which contain text from others.
    isForeignWorkspace: (workspace) => !`${workspace}${sep}`.startsWith(workspaces + sep) || isWorktree(workspace),
  }
}

const isWorktree = (workspace: string): boolean =>
  statSync(join(workspace, '.git'), { throwIfNoEntry: false })?.isFile() ?? false

/** A host without a port means port 443. */
function isListed(host: string, listed: readonly string[]): boolean {
  const place = parseHostPort(host, 443)
  return place.kind === 'read' && createEgressRules(() => listed).isListed(place.value)
}
