/** Agents and their files, for commands: lists them, adds one, changes the files that define one. */

import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentDirectory, AgentDocument } from '../commands/lib/agent-directory.ts'
import type { ConfigChange } from '../commands/lib/context.ts'
import { noSuchAgent } from '../commands/lib/no-such-agent.ts'
import { type LoadedConfig, withNewAgent } from '../config.ts'
import type { Agent } from '../domain/agent.ts'
import type { Json } from '../domain/json.ts'
import { keepVersion } from '../files/kept-versions.ts'
import { replaceFile } from '../files/whole-files.ts'
import { type HomePaths, versionsOf } from '../home.ts'

interface ConfigEditor {
  /** Contract: edits a file and applies it; throws if the result is invalid. */
  change(file: string, changes: readonly ConfigChange[]): void
  /** Contract: throws what `change` would throw; the configuration as it would be. Changes nothing. */
  tryChange(file: string, changes: readonly ConfigChange[]): LoadedConfig
  /** Contract: reads the files again. */
  reload(): void
  /** Contract: reads the files without applying them. */
  read(): LoadedConfig
}

export function createAgentDirectory(
  paths: HomePaths,
  configFile: string,
  loaded: () => LoadedConfig,
  { change, tryChange, reload, read }: ConfigEditor,
): AgentDirectory {
  const folder = paths.agents
  const placeChanges = (id: string, changes: readonly ConfigChange[]): [string, readonly ConfigChange[]] => {
    const { file, path: above } = entryOf(readOr(loaded), id)
    return [file ?? configFile, changes.map(({ path, value }) => ({ path: [...above, ...path], value }))]
  }
  /** The place of an agent in a file that was edited a moment ago may be another one than in the one in use. */
  const readOr = (other: () => LoadedConfig): LoadedConfig => {
    try {
      return read()
    } catch {
      return other()
    }
  }
  return {
    all() {
      const { config, roster } = loaded()
      return config.kernel.agents.map((agent, at) => ({ agent, file: roster[at]?.file ?? configFile }))
    },
    onDisk: (id) => agentIn(read(), id),
    add: (id, keys) => withNewAgent(folder, id, (file) => change(file, keyChanges(keys))),
    tryAdd(id, keys) {
      let agent: Agent | undefined
      const describe = (file: string): void => {
        agent = agentIn(tryChange(file, keyChanges(keys)), id)
      }
      const file = withNewAgent(folder, id, describe, { isTrial: true })
      return { agent: agent as Agent, file }
    },
    change(id, changes) {
      const [file, placed] = placeChanges(id, changes)
      change(file, placed)
      return file
    },
    tryChange(id, changes) {
      const [file, placed] = placeChanges(id, changes)
      return { agent: agentIn(tryChange(file, placed), id), file }
    },
    remove(id) {
      const { file, path } = entryOf(loaded(), id)
      if (file === null) change(configFile, [{ path: [...path], value: undefined }])
      else renameSync(file, `${file}.deleted`)
      reload()
      return file === null ? null : `${file}.deleted`
    },
    ...agentDocuments(paths, { read, reload }),
  }
}

const keyChanges = (keys: Readonly<Record<string, Json>>): readonly ConfigChange[] =>
  Object.entries(keys).map(([key, value]) => ({ path: [key], value }))

/** Contract: throws `not_found` with the names of all agents. */
function entryOf({ roster }: LoadedConfig, id: string): LoadedConfig['roster'][number] {
  const found = roster.find(({ agent_id }) => agent_id === id)
  if (found) return found
  throw noSuchAgent(
    id,
    roster.map(({ agent_id }) => agent_id),
  )
}

function agentIn(loaded: LoadedConfig, id: string): Agent {
  const { agents } = loaded.config.kernel
  return agents[loaded.roster.indexOf(entryOf(loaded, id))] as Agent
}

function agentDocuments(
  paths: HomePaths,
  { read, reload }: Pick<ConfigEditor, 'read' | 'reload'>,
): Pick<AgentDirectory, 'documents' | 'writeDocument'> {
  const fileOf = (id: string, name: AgentDocument): string => join(paths.agents, id, name)
  return {
    documents: (id) => ({
      'role.md': readOrNull(fileOf(id, 'role.md')),
      'self.md': readOrNull(fileOf(id, 'self.md')),
    }),
    writeDocument(id, name, text) {
      // Nothing is written while the configuration is invalid: `reload` would refuse it afterwards.
      read()
      const file = fileOf(id, name)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      keepVersion(file, versionsOf(paths, file))
      if (text === '') rmSync(file, { force: true })
      else replaceFile(file, text)
      reload()
    },
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw thrown
  }
}
