/**
 * Fills hidden texts into a shell command. The model does not know their characters, so it cannot quote them: a text
 * that the shell or another program could change is filled in only where every character means itself. Pure.
 */

import { TirelessError } from '../../domain/error.ts'
import { replacePlaceholders } from '../../domain/placeholder.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

/**
 * Characters that mean themselves in shells, in the strings of common languages and in the replacements of sed and
 * perl, or end these with an error.
 */
const PLAIN_TEXT = /^[\p{L}\p{N}_.:/+=-]*$/u
/** Before a text, these characters would make it a variable, an escape or a format. */
const CHANGES_NEXT = /[$\\%&{]$/

export function fillCommand(command: string, textOf: (placeholder: string) => string): string {
  const documents = literalDocuments(command)
  return replacePlaceholders(command, (placeholder, at) => {
    const text = textOf(placeholder)
    if (text === placeholder || (PLAIN_TEXT.test(text) && !CHANGES_NEXT.test(command.slice(0, at)))) return text
    const around = documents.find(({ from, to }) => from <= at && at < to)
    if (around && !text.split(/\r?\n/).includes(around.end)) return text
    throw new TirelessError('tool_failed', loadPrompt('results/placeholders.md#special_characters', { placeholder }))
  })
}

/** The lines of a here-document that cat or tee writes as they are; `end`: its last line. */
interface LiteralDocument {
  readonly from: number
  readonly to: number
  readonly end: string
}

const START = /(?<!<)<<(-?)\s*(?:'([^'\s]+)'|"([^"\s]+)"|\\?([\w.]+))/

/** Only what is certain: after a quotation mark without its partner, every line may be part of a string. */
function literalDocuments(command: string): readonly LiteralDocument[] {
  const documents: LiteralDocument[] = []
  for (let at = 0; at < command.length; ) {
    const line = lineAt(command, at)
    const start = START.exec(line)
    at += line.length + 1
    if (!hasPairedQuotes(line)) return documents
    if (!start) continue
    const [, strips, single, double, bare = ''] = start
    const end = single ?? double ?? bare
    const to = startOfLine(command, at, end)
    if (to === undefined) return documents
    if (strips === '' && bare === '' && isCopied(line, start)) documents.push({ from: at, to, end })
    at = to + end.length + 1
  }
  return documents
}

/** Whether the command that reads the document only copies it into files. */
function isCopied(line: string, { 0: mark, index }: RegExpExecArray): boolean {
  const [before, after] = [line.slice(0, index), line.slice(index + mark.length)]
  const command = `${before.split(/&&|;/).at(-1)} ${after.split(/&&|;/)[0]}`
  return /^\s*(?:cat|tee)\s[^|()<`\\]*$/.test(command)
}

const lineAt = (text: string, at: number): string => text.slice(at, endOfLine(text, at))

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** The index of the first line from `from` on that is equal to `line`; undefined if there is none. */
function startOfLine(text: string, from: number, line: string): number | undefined {
  for (let at = from; at < text.length; at = endOfLine(text, at) + 1) if (lineAt(text, at) === line) return at
  return undefined
}

const hasPairedQuotes = (line: string): boolean =>
  ["'", '"', '`'].every((mark) => (line.split(mark).length - 1) % 2 === 0)
