/** Validates, merges, reverts and redacts texts of documents. Pure. */

import { applyLineChanges, diffLines, linesWithBreaks } from '../../domain/diff.ts'
import { type DocumentName, MAX_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { mergeText } from '../../domain/merge-text.ts'
import {
  extractBlock,
  extractEditedBlock,
  insertBlock,
  placeBlockLast,
  textOutsideBlock,
} from '../../domain/runtime-block.ts'

export const isBlank = (text: string): boolean => text.trim() === ''

/** Whether the text has comments of HTML and nothing else. Takes linear time, because agents write such texts, too. */
export function isOnlyComment(text: string): boolean {
  const parts = text.split('-->')
  const rest = parts.pop() ?? ''
  return parts.length > 0 && isBlank(rest) && parts.every((part) => part.trimStart().startsWith('<!--'))
}

/** Contract: throws `document_refused`. */
export function checkDocumentText(name: DocumentName, text: string): void {
  const invalidText = (what: string, got: string, expected: string): TirelessError =>
    new TirelessError('document_refused', { what, where: name, got, expected })
  if (text.includes('\0')) throw invalidText('a document must be text', 'a NUL character', 'none')
  if (!text.isWellFormed()) throw invalidText('a document must be text', 'half a surrogate pair', 'complete characters')
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_DOCUMENT_BYTES)
    throw invalidText('the document is too long', `${bytes} bytes`, `at most ${MAX_DOCUMENT_BYTES}; shorten it`)
}

/** Only STATE.md has a runtime block. */
const hasRuntimeBlock = (name: DocumentName): boolean => name === 'STATE.md'

/**
 * Merges an edit of the file (`theirs`) with the latest version (`ours`), whose runtime block is kept. `base`: the file
 * before the edit; without it, the edit is taken as a whole.
 * Contract: null if the two conflict or the result is too large.
 */
export function mergeFileEdit(name: DocumentName, { base, ours, theirs }: MergeInput): string | null {
  const merged = hasRuntimeBlock(name) ? mergeAroundBlock(base, ours, theirs) : mergeTexts(base, ours, theirs)
  return merged === null || Buffer.byteLength(merged) > MAX_DOCUMENT_BYTES ? null : merged
}

interface MergeInput {
  readonly base: string | undefined
  readonly ours: string | undefined
  readonly theirs: string
}

const mergeTexts = (base: string | undefined, ours: string | undefined, theirs: string): string | null =>
  base === undefined || ours === undefined ? theirs : mergeText(base, ours, theirs)

function mergeAroundBlock(base: string | undefined, ours: string | undefined, theirs: string): string | null {
  const latest = extractBlock(ours ?? '')
  const before = extractEditedBlock(base ?? '', latest)
  const after = extractEditedBlock(theirs, before, before.block ?? latest.block)
  // A runtime block that `base` lacks is left out of the merge: it would conflict with lines added at the end.
  const oursText = before.block === null ? textOutsideBlock(ours ?? '') : latest.text
  const merged = mergeTexts(base === undefined ? undefined : before.text, oursText, after.text)
  return merged === null ? null : placeBlockLast({ text: merged, block: latest.block })
}

/** Contract: the first text of a document, unchanged; a runtime block in it counts as the owner's text. */
export const initialText = (name: DocumentName, text: string): string =>
  hasRuntimeBlock(name) ? placeBlockLast({ text, block: null }) : text

/** The text of an earlier version with the runtime block of the latest one. */
export function revertText(latest: string, earlierText: string): string {
  const { text, block } = extractBlock(earlierText)
  return insertBlock({ text, block: extractBlock(latest).block ?? block })
}

/** Contract: redacts only the lines that `after` adds; lines of `before` stay unchanged. */
export function redactAddedLines(before: string, after: string, redact: (text: string) => string): string {
  const lines = linesWithBreaks(before)
  const changes = diffLines(lines, linesWithBreaks(after))
  return applyLineChanges(
    lines,
    changes.map((change) => ({ ...change, lines: [redact(change.lines.join(''))] })),
  ).join('')
}
