/** Agents and their files, for commands: lists them, adds one, changes the files that define one. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentDirectory, AgentDocument } from '../commands/lib/agent-directory.ts'
import type { ConfigChange } from '../commands/lib/context.ts'
import { noSuchAgent } from '../commands/lib/no-such-agent.ts'
import { type LoadedConfig, withNewAgent, yamlTextAt } from '../config.ts'
import type { Agent } from '../domain/agent.ts'
import type { Json } from '../domain/json.ts'
import { replaceFile } from '../files/whole-files.ts'
import { deletedAgentFolder, moveAgentFiles, moveAgentFolder, writeAgentCopy } from './deleted-agents.ts'

interface ConfigEditor {
  /** Contract: edits a file and applies it; throws if the result is invalid. Returns the copy of the file before. */
  change(file: string, changes: readonly ConfigChange[]): string | null
  /** Contract: throws what `change` would throw; the configuration as it would be. Changes nothing. */
  tryChange(file: string, changes: readonly ConfigChange[]): LoadedConfig
  /** Contract: reads the files again. */
  reload(): void
  /** Contract: reads the files without applying them. */
  read(): LoadedConfig
  /** Contract: the path of a copy of the file as it is; null if there is none. */
  keep(file: string): string | null
}

export function createAgentDirectory(
  folder: string,
  configFile: string,
  loaded: () => LoadedConfig,
  { change, tryChange, reload, read, keep }: ConfigEditor,
): AgentDirectory {
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
    add: (id, keys) =>
      withNewAgent(folder, id, (file) => {
        change(file, keyChanges(keys))
      }),
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
      return change(file, placed)
    },
    tryChange(id, changes) {
      const [file, placed] = placeChanges(id, changes)
      return { agent: agentIn(tryChange(file, placed), id), file }
    },
    filesLeft: (id) => (/[/\\]|^\./.test(id) ? [] : namesIn(join(folder, id))),
    remove(id) {
      // As the files say it now, not as they were read: the place in a list may be another one.
      const { file, path } = entryOf(read(), id)
      const [own, kept] = [join(folder, id), deletedAgentFolder(folder, id)]
      if (file !== null) {
        moveAgentFolder(own, kept)
        reload()
        return { kept, own, before: null }
      }
      writeAgentCopy(kept, yamlTextAt(readFileSync(configFile, 'utf8'), path))
      let before: string | null
      try {
        before = change(configFile, [{ path: [...path], value: undefined }])
      } catch (thrown) {
        rmSync(kept, { recursive: true })
        throw thrown
      }
      moveAgentFiles(own, kept)
      reload()
      return { kept, own, before }
    },
    ...agentDocuments(folder, { read, reload, keep }),
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
  folder: string,
  { read, reload, keep }: Pick<ConfigEditor, 'read' | 'reload' | 'keep'>,
): Pick<AgentDirectory, 'documents' | 'writeDocument'> {
  const fileOf = (id: string, name: AgentDocument): string => join(folder, id, name)
  return {
    documents: (id) => ({
      'role.md': readOrNull(fileOf(id, 'role.md')),
      'self.md': readOrNull(fileOf(id, 'self.md')),
    }),
    writeDocument(id, name, text) {
      // Nothing is written while the configuration is invalid: `reload` would refuse it afterwards.
      read()
      const file = fileOf(id, name)
      const kept = keep(file)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      if (text === '') rmSync(file, { force: true })
      else replaceFile(file, text)
      reload()
      return kept
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

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder).toSorted() : [])
