/** Agents and their files, for commands: lists them, adds one, changes the file that defines one. */

import { renameSync } from 'node:fs'
import type { AgentDirectory, ConfigChange } from '../commands/lib/context.ts'
import { noSuchAgent } from '../commands/lib/no-such-agent.ts'
import { type LoadedConfig, withNewAgent } from '../config.ts'

interface ConfigEditor {
  /** Contract: edits a file and applies it; throws if the result is invalid. */
  change(file: string, changes: readonly ConfigChange[]): void
  /** Contract: reads the files again. */
  reload(): void
}

export function createAgentDirectory(
  folder: string,
  configFile: string,
  loaded: () => LoadedConfig,
  { change, reload }: ConfigEditor,
): AgentDirectory {
  function find(id: string): LoadedConfig['roster'][number] {
    const { roster } = loaded()
    const found = roster.find(({ agent_id }) => agent_id === id)
    if (found) return found
    throw noSuchAgent(
      id,
      roster.map(({ agent_id }) => agent_id),
    )
  }
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
      const found = find(id)
      const file = found.file ?? configFile
      change(
        file,
        changes.map(({ path, value }) => ({ path: [...found.path, ...path], value })),
      )
      return file
    },
    remove(id) {
      const { file, path } = find(id)
      if (file === null) change(configFile, [{ path: [...path], value: undefined }])
      else renameSync(file, `${file}.deleted`)
      reload()
      return file === null ? null : `${file}.deleted`
    },
  }
}
