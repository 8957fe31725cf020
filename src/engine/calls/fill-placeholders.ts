/**
 * Fills in what placeholders (`‹secret:NAME›`) stand for, when a call writes files of the workspace. The model sees
 * placeholders in the place of hidden texts, and writes them back; the files must keep the texts. A text is taken only
 * from the file that the call writes, or from a file that the session has read, as it is on disk when the call runs: so
 * a call that is repeated after a crash writes the same, and no record contains a hidden text.
 * Must not know: which texts are secrets, and how they are found.
 * Invariants: a placeholder is written only in the place of one certain text, or if a file contains the placeholder
 * itself; else the call does not run. What is filled in stays in the workspace, which is closed from then on.
 */

import type { Call, CallResult } from '../../domain/decision.ts'
import { type Effect, writesWorkspace } from '../../domain/effect.ts'
import { TirelessError } from '../../domain/error.ts'
import { copyJson, type Json } from '../../domain/json.ts'
import { placeholdersIn } from '../../domain/placeholder.ts'
import { redactValue } from '../../domain/redact.ts'
import { truncateText } from '../../domain/truncate.ts'
import type { FileOps } from '../../ports/env.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import type { Run } from '../run.ts'
import { isJsonObject } from '../shape.ts'

export interface FilledArguments {
  readonly args: Json
  /** Whether they contain a hidden text. */
  readonly filled: boolean
}

/** Contract: throws `tool_failed` with a reason for the model if a placeholder cannot be filled in. */
export async function fillPlaceholders(
  run: Run,
  tool: AnyTool,
  { args, effect }: Pick<Call, 'args' | 'effect'>,
): Promise<FilledArguments> {
  const placeholders = keepsTexts(tool, effect) ? findPlaceholders(tool, args) : []
  const [first] = placeholders
  if (first === undefined) return { args: copyJson(args), filled: false }
  const { placeholders: writer } = tool
  if (!writer || effect.reach !== 'workspace' || tool.outside)
    throw refusal('results/placeholders.md#misplaced', tool, first)
  const [misplaced] = findPlaceholders(
    tool,
    writer.fill(copyJson(args) as never, () => ''),
  )
  if (misplaced !== undefined) throw refusal('results/placeholders.md#misplaced', tool, misplaced)
  const texts = await resolvePlaceholders(run, tool, writer.file?.(args as never), placeholders)
  const filled = writer.fill(copyJson(args) as never, (placeholder) => texts.get(placeholder) ?? placeholder)
  return { args: filled, filled: placeholders.some((placeholder) => texts.get(placeholder) !== placeholder) }
}

/**
 * Whether the call may store its arguments as they are. A program outside of the env is believed only if it says that
 * it changes nothing, or sends the text to others.
 */
function keepsTexts(tool: AnyTool, effect: Effect): boolean {
  if (writesWorkspace(effect)) return true
  return (
    tool.outside === true && effect.recovery !== 'pure' && effect.reach !== 'network' && effect.reach !== 'third_party'
  )
}

/** The placeholders in the arguments, except those that stand for a secret which the owner allows the call to send. */
function findPlaceholders({ secrets = [] }: AnyTool, args: Json): readonly string[] {
  const found = new Set<string>()
  const look = (text: string): string => {
    for (const placeholder of placeholdersIn(text)) found.add(placeholder)
    return text
  }
  const searched = isJsonObject(args)
    ? Object.fromEntries(Object.entries(args).filter(([name]) => !secrets.includes(name)))
    : args
  redactValue(searched, look)
  return [...found]
}

async function resolvePlaceholders(
  run: Run,
  tool: AnyTool,
  file: string | undefined,
  placeholders: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const own = file === undefined ? new TextsByPlaceholder() : await textsIn(run, [file])
  let read: TextsByPlaceholder | undefined
  const texts = new Map<string, string>()
  for (const placeholder of placeholders) {
    let candidates = own.get(placeholder)
    if (candidates.length === 0) {
      read ??= await textsIn(run, filesRead(run))
      candidates = read.get(placeholder)
    }
    const [text, another] = candidates
    if (text === undefined) throw refusal('results/placeholders.md#unread', tool, placeholder)
    if (another !== undefined) throw refusal('results/placeholders.md#several', tool, placeholder)
    texts.set(placeholder, text)
  }
  return texts
}

const filesRead = ({ thread }: Run): readonly string[] => [
  ...new Set([...thread.fileDigests.keys(), ...thread.filesWithHiddenTexts]),
]

/** The texts that a placeholder may stand for: at most one hidden text, and the placeholder itself. */
class TextsByPlaceholder {
  readonly #texts = new Map<string, Set<string>>()

  add(placeholder: string, text: string): void {
    const known = this.#texts.get(placeholder)
    if (known) known.add(text)
    else this.#texts.set(placeholder, new Set([text]))
  }

  get(placeholder: string): readonly string[] {
    return [...(this.#texts.get(placeholder) ?? [])]
  }
}

async function textsIn(run: Run, paths: readonly string[]): Promise<TextsByPlaceholder> {
  const texts = new TextsByPlaceholder()
  const file = run.env.getOps('file')
  if (!file) return texts
  for (const path of paths) {
    const content = await readText(file, path)
    for (const hidden of run.engine.secrets.find(content)) texts.add(hidden.placeholder, hidden.text)
    for (const placeholder of placeholdersIn(content)) texts.add(placeholder, placeholder)
  }
  return texts
}

/** Contract: empty if the path is not a readable text file now. */
async function readText(file: FileOps, path: string): Promise<string> {
  try {
    return (await file.read(path))?.text ?? ''
  } catch (thrown) {
    if (thrown instanceof TirelessError && thrown.code === 'path_refused') return ''
    throw thrown
  }
}

const MAX_SHOWN = 100

function refusal(text: string, { name }: AnyTool, placeholder: string): TirelessError {
  return new TirelessError(
    'tool_failed',
    loadPrompt(text, { tool: name, placeholder: truncateText(placeholder, MAX_SHOWN) }),
  )
}

const MAX_SEARCHED_FILES = 5000
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024
const MAX_DEPTH = 64

/**
 * Adds to the facts of a result (`hidden_in`) in which files of the workspace the texts stand that are hidden in it, as
 * far as the journal does not show that the session has read them: the output of a command does not tell which files it
 * read. Contract: `result` is not redacted yet; a file that cannot be read now changes nothing.
 */
export async function noteHiddenTexts(
  run: Run,
  tool: AnyTool,
  effect: Effect,
  result: CallResult,
): Promise<CallResult> {
  const { facts = {}, content } = result
  const isOfWorkspace = (effect.reach === 'none' || effect.reach === 'workspace') && !tool.outside
  if (!isOfWorkspace || !isJsonObject(facts)) return result
  const texts = run.engine.secrets.find(content).map(({ text }) => text)
  if (texts.length === 0) return result
  try {
    const { seen } = facts as { readonly seen?: Readonly<Record<string, string>> }
    const paths = await findFilesWith(run, new Set(texts), [...Object.keys(seen ?? {}), ...filesRead(run)])
    return paths.length === 0 ? result : { ...result, facts: { ...facts, hidden_in: paths } }
  } catch {
    return result
  }
}

/** The files that contain those of the texts which the known files do not contain; one file for each text. */
async function findFilesWith(run: Run, texts: Set<string>, known: readonly string[]): Promise<readonly string[]> {
  const file = run.env.getOps('file')
  if (!file) return []
  for (const path of known) await removeTextsOf(file, path, texts)
  if (texts.size === 0) return []
  const paths: string[] = []
  let bytes = 0
  const { entries } = await file.list('.', MAX_DEPTH, MAX_SEARCHED_FILES)
  for (const entry of entries) {
    bytes += entry.bytes
    if (texts.size === 0 || bytes > MAX_SEARCHED_BYTES || run.signal.aborted) break
    if (!entry.path.endsWith('/') && (await removeTextsOf(file, entry.path, texts))) paths.push(entry.path)
  }
  return paths
}

/** Contract: true if the file contains one of the texts; those are removed from the set. */
async function removeTextsOf(file: FileOps, path: string, texts: Set<string>): Promise<boolean> {
  if (texts.size === 0) return false
  const content = await readText(file, path)
  const found = [...texts].filter((text) => content.includes(text))
  for (const text of found) texts.delete(text)
  return found.length > 0
}
