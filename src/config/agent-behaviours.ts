/** Loads the behaviours of agents: files `behaviours/*.md` in the agent's folder, in the home or as shipped. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BehaviourSpec } from '../domain/behaviour-spec.ts'
import { TirelessError } from '../domain/error.ts'
import { parseBehaviourFile } from './behaviour-file.ts'
import { errnoCodeOf, readSource } from './parse-file.ts'

/** Behaviours by name, by agent. */
export type BehaviourSpecs = ReadonlyMap<string, ReadonlyMap<string, BehaviourSpec>>

/** `folders`: with one folder per agent; earlier ones win. Contract: throws `config_invalid` for an invalid file. */
export function loadBehaviourSpecs(folders: readonly string[]): BehaviourSpecs {
  const specs = new Map<string, Map<string, BehaviourSpec>>()
  for (const folder of folders.toReversed())
    for (const agent of namesIn(folder))
      for (const file of namesIn(join(folder, agent, 'behaviours')).filter((name) => name.endsWith('.md'))) {
        const spec = loadSpec(join(folder, agent, 'behaviours', file), file.slice(0, -'.md'.length))
        specs.set(agent, (specs.get(agent) ?? new Map()).set(spec.name, spec))
      }
  return specs
}

function loadSpec(file: string, name: string): BehaviourSpec {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(name))
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the name of the behaviour is not valid', got: name },
      ...{ expected: 'lower-case letters, digits and _', fix: 'rename the file' },
    })
  return parseBehaviourFile(file, name, readSource(file, true) ?? '')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoCodeOf(thrown))) return []
    throw new TirelessError('config_invalid', {
      ...{ where: folder, what: `the folder cannot be read (${errnoCodeOf(thrown)})` },
      fix: 'check that it is a folder you may read',
    })
  }
}
