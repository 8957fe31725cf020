/** The real tool `spawn_agent`, and snapshots of workspaces that know only one file. */

import { spawnAgent } from '../../../src/adapters/tools/spawn-agent.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import { createSubAgents } from '../../../src/kernel/sub-agents/spawn-agent.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { NO_SNAPSHOTS, type Snapshots } from '../../../src/ports/snapshots.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { AnyTool } from '../../../src/ports/tool.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import { RESULT_FILE } from './workspace.ts'

/** An agent of the home that runs can hand work to, besides their own. */
export const HELPER = 'helper'
export const SPAWN_TOOL = 'spawn_agent'

interface SpawnParts {
  readonly store: Store
  readonly clock: Clock
  readonly snapshots: Snapshots
}

export function spawnTool(world: World, proc: SimProcess, parts: SpawnParts): AnyTool {
  return spawnAgent(
    createSubAgents({
      ...parts,
      ...{ kernelId: 'sim', workspaces: '/nowhere/copies' },
      agents: () => [{ agent_id: HELPER, metadata: {} } as never],
      agentIssues: () => [],
      copyWorkspace: (from, to) => world.io(proc, 'copy', 'for a sub-agent', () => copyWorkspace(world, from, to)),
    }),
  )
}

function copyWorkspace(world: World, from: string, to: string): void {
  if (world.faults.nextFor('env')) throw new TirelessError('workspace_refused', 'the folder cannot be copied')
  world.workspaces.copy(from, to)
}

/** Merging twice changes nothing, as with real files. */
export function simSnapshots(world: World, proc: SimProcess): Snapshots {
  return {
    ...NO_SNAPSHOTS,
    take: async () => 'snapshot',
    changesOf: async (run_id) =>
      world.workspaces.isChanged(world.subAgents.workspaceOf(run_id)) ? [{ turn: 1, paths: [RESULT_FILE] }] : [],
    merge: ({ from, into }) =>
      world.io(proc, 'copy', 'merge', () => {
        world.workspaces.merge(from, into)
        world.counters.add('files of a sub-agent merged')
        return { files: [RESULT_FILE], conflicts: [] }
      }),
  }
}
