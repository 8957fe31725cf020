/** Keys that are set in this shell, but not in the running process that answered. */

import { environment } from '../config/environment.ts'
import type { PeopleText } from '../domain/language.ts'
import { holderPid, homePaths } from '../home.ts'

interface Key {
  readonly variable: string
  readonly is_set: boolean
}

/** The outputs of `status`, `models list` and `models test` have keys. */
interface OutputWithKeys {
  readonly keys?: readonly Key[]
  readonly model?: { readonly keys?: readonly Key[] } | string | null
}

/** Contract: undefined if no other process runs in the home, or if it has every key of this shell. */
export function unseenKeysNote(output: unknown, home: string): PeopleText | undefined {
  const env = environment()
  const unseen = keysOf(output).filter(({ variable, is_set }) => !is_set && (env[variable]?.trim() ?? '') !== '')
  if (unseen.length === 0) return undefined
  const pid = holderPid(homePaths(home))
  if (pid === undefined || pid === process.pid) return undefined
  const [names, them] = [unseen.map(({ variable }) => variable).join(', '), unseen.length === 1 ? 'it' : 'them']
  return {
    text:
      `Set in this shell, but not in the running process (pid ${pid}): ${names}. ` +
      `To use ${them} there, run here: tireless stop, then tireless start`,
    zh: `此 shell 已设置，但正在运行的进程（pid ${pid}）没有：${names}。要在那里使用，请在此运行：tireless stop，然后 tireless start`,
  }
}

function keysOf(output: unknown): readonly Key[] {
  if (typeof output !== 'object' || output === null) return []
  const { keys, model } = output as OutputWithKeys
  return keys ?? (typeof model === 'object' ? model?.keys : undefined) ?? []
}
