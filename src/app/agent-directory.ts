/** Agents and their files, for commands: lists them, adds one, changes the file that defines one. */

import type { AgentDirectory, ConfigChange } from '../commands/lib/context.ts'
import { type LoadedConfig, withNewAgent } from '../config.ts'
import { TirelessError } from '../domain/error.ts'

/** `change`: edits a file and applies it; throws if the result is invalid. */
export function createAgentDirectory(
  folder: string,
  configFile: string,
  loaded: () => LoadedConfig,
  change: (file: string, changes: readonly ConfigChange[]) => void,
): AgentDirectory {
  return {
    all() {
      const { config, roster } = loaded()
      return config.kernel.agents.map((agent, at) => ({ agent, file: roster[at]?.file ?? configFile }))
    },
    add: (id, keys) =>
      withNewAgent(folder, id, (file) => {
        change(
          file,
          Object.entries(keys).map(([key, value]) => ({ path: [key], value })),
        )
      }),
    change(id, changes) {
      const found = loaded().roster.find(({ agent_id }) => agent_id === id)
      if (!found) throw noSuchAgent(id, loaded())
      const file = found.file ?? configFile
      change(
        file,
        changes.map(({ path, value }) => ({ path: [...found.path, ...path], value })),
      )
      return file
    },
  }
}

function noSuchAgent(id: string, { roster }: LoadedConfig): TirelessError {
  const known = roster.map(({ agent_id }) => agent_id).join(', ')
  return new TirelessError('not_found', {
    ...{ what: 'no such agent', got: id },
    expected: known === '' ? 'an existing agent; there is none yet' : `one of ${known}`,
    fix: 'run tireless agent list',
  })
}
