/**
 * Loads the texts that the model reads from the Markdown files of this folder. Each file is read once, when it is first
 * needed, so that quick commands read no files.
 */

import { readFileSync } from 'node:fs'
import { TirelessError } from '../domain/error.ts'

/** Values of the placeholders `{{name}}`. */
export type PlaceholderTexts = Readonly<Record<string, string | number>>

/** What the model reads of a tool: its description, and the descriptions of its arguments by name. */
export interface ToolText {
  readonly description: string
  readonly argumentDescriptions: Readonly<Record<string, string>>
}

/**
 * `ref`: `folder/file.md` for a whole file, `folder/file.md#part` for the text below its heading `## part`.
 * Contract: throws `prompt_invalid` if the text is missing or empty, or if a placeholder has no value.
 */
export function loadPrompt(ref: string, values: PlaceholderTexts = {}): string {
  const [file = '', part] = ref.split('#')
  return fillText(part === undefined ? readText(file) : readParts(file).parts.get(part), values, ref)
}

/** Contract: returns all parts of a file by name; throws like `loadPrompt`. */
export function loadPromptParts(file: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...readParts(file).parts].map(([name]) => [name, loadPrompt(`${file}#${name}`)]))
}

/** Loads `tools/NAME.md`: the description comes first, then one part per argument. */
export function loadToolText(name: string, values: PlaceholderTexts = {}): ToolText {
  const file = `tools/${name}.md`
  const { opening, parts } = readParts(file)
  return {
    description: fillText(opening, values, file),
    argumentDescriptions: Object.fromEntries(
      [...parts.keys()].map((part) => [part, loadPrompt(`${file}#${part}`, values)]),
    ),
  }
}

/** Fills all placeholders in one pass: placeholders inside a value are not filled. */
function fillText(text: string | undefined, values: PlaceholderTexts, ref: string): string {
  if (text === undefined || text === '') {
    const [file, part] = ref.split('#')
    throw new TirelessError('prompt_invalid', {
      what: 'a prompt text is missing or empty',
      got: `prompts/${ref}`,
      fix: `write it into ${file}${part === undefined ? '' : ` below the heading "## ${part}"`}`,
    })
  }
  return text.replace(/\{\{([^{}]*)\}\}/g, (placeholder, name: string) => {
    if (Object.hasOwn(values, name)) return String(values[name])
    const known = Object.keys(values).map((value) => `{{${value}}}`)
    throw new TirelessError('prompt_invalid', {
      what: 'a prompt text has an unknown placeholder',
      where: `prompts/${ref}`,
      got: placeholder,
      expected: known.length === 0 ? 'no placeholder' : known.join(', '),
    })
  })
}

interface PromptParts {
  /** The text before the first part. */
  readonly opening: string
  readonly parts: ReadonlyMap<string, string>
}

/** Cache of texts and parts by file, because a run needs the same texts in every step. */
const texts = new Map<string, string>()
const partsByFile = new Map<string, PromptParts>()

function readText(file: string): string {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = readFile(file).replaceAll('\r\n', '\n').trim()
  texts.set(file, text)
  return text
}

function readFile(file: string): string {
  try {
    return readFileSync(new URL(file, import.meta.url), 'utf8')
  } catch (cause) {
    const parts = { what: 'a prompt text cannot be read', got: `prompts/${file}`, fix: 'install Tireless again' }
    throw new TirelessError('prompt_invalid', parts, { cause })
  }
}

/** A part begins with `## ` and a name in lower case; other headings belong to the text. */
const PART_HEADING = /^## ([a-z0-9_]+)$/m

function readParts(file: string): PromptParts {
  const known = partsByFile.get(file)
  if (known) return known
  const [opening = '', ...rest] = readText(file).split(PART_HEADING)
  const parts = new Map<string, string>()
  for (let i = 0; i < rest.length; i += 2) parts.set(rest[i] ?? '', (rest[i + 1] ?? '').trim())
  const read = { opening: opening.trim(), parts }
  partsByFile.set(file, read)
  return read
}
