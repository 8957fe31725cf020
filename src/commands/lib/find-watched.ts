/** What an agent made from a sentence watches, and where it works: a path, a repository, or the inbox of the home. */

import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Language } from '../../domain/language.ts'
import { watchEntry } from './agent-keys.ts'
import type { Needs } from './context.ts'
import type { ParsedSentence } from './parse-agent-sentence.ts'

/** The folder of the home into which people put files, and what agents write there. */
const INBOX = 'inbox'
const WRITTEN_BY_AGENTS = ['INDEX.md', 'reports']

interface Watched {
  /** Undefined: the sentence names nothing to watch. */
  readonly entry: Json | undefined
  /** Undefined: a folder of the agent's own. */
  readonly workspace?: string
}

/** Contract: what to watch, in this order: option --watch, path in the sentence, the inbox, folder of the caller. */
export async function findWatched(
  context: Needs<'machine' | 'homeSetup'>,
  sentence: ParsedSentence,
  watch: string | undefined,
  here: string | undefined,
): Promise<Watched> {
  const { machine, homeSetup } = context
  const { path, repository, thisFolder, inbox } = sentence
  if (watch !== undefined) return { entry: await watchEntry(context, watch, true) }
  if (path !== null) {
    const full = machine.fullPath(path, here)
    if (!machine.pathExists(full)) throw nothingAt(path, full, sentence.language)
    return { entry: await watchEntry(context, full, repository) }
  }
  if (inbox && machine.pathExists(machine.fullPath(INBOX, homeSetup.home)))
    return { entry: { path: INBOX, except: WRITTEN_BY_AGENTS }, workspace: INBOX }
  if (here === undefined || !(repository || thisFolder)) return { entry: undefined }
  const top = repository ? await machine.workTreeAt(here) : undefined
  return { entry: top === undefined ? (thisFolder ? here : undefined) : { git: top } }
}

const NOTHING_THERE: Readonly<Record<Language, { what: (path: string) => string; fix: string }>> = {
  en: {
    what: (path) => `there is no folder or file ${path}, so there would be nothing to watch`,
    fix: 'create it first, or name another one',
  },
  zh: {
    what: (path) => `没有 ${path} 这个文件夹或文件，所以没有可以关注的内容`,
    fix: '先创建它，或换一个路径',
  },
}

/** In the language of the sentence, as other refusals of a sentence are. */
function nothingAt(path: string, full: string, language: Language): TirelessError {
  const { what, fix } = NOTHING_THERE[language]
  return new TirelessError('not_found', { what: what(path === full ? path : `${path} (${full})`), fix })
}
