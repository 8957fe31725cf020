/** Validates, merges, reverts and redacts texts of documents. Pure. */

import { type DocumentName, MOST_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { changed, changesOf, linesOf } from '../../domain/lines.ts'
import { merge } from '../../domain/merge.ts'
import { lifted, liftedLike, lowered, outsideBlock, withOursLast } from '../../domain/runtime-block.ts'

export const isBlank = (text: string): boolean => text.trim() === ''

/** Contract: throws `document_refused`. */
export function refuseUnfit(name: DocumentName, text: string): void {
  const invalidText = (what: string, got: string, expected: string): TirelessError =>
    new TirelessError('document_refused', { what, where: name, got, expected })
  if (text.includes('\0')) throw invalidText('a document must be text', 'a NUL character', 'none')
  if (!text.isWellFormed()) throw invalidText('a document must be text', 'half a surrogate pair', 'complete characters')
  const bytes = Buffer.byteLength(text)
  if (bytes > MOST_DOCUMENT_BYTES)
    throw invalidText('the document is too long', `${bytes} bytes`, `at most ${MOST_DOCUMENT_BYTES}; shorten it`)
}

/** Only this document has a runtime block. */
const hasRuntimeBlock = (name: DocumentName): boolean => name === 'STATE.md'

/**
 * Merges an edit of the file with newer versions; the runtime block stays ours. `base`: the file before the edit.
 * Contract: null on a conflict. A file that the system never wrote is taken unchanged.
 */
export function mergedEdit(name: DocumentName, { base, ours, theirs }: Edits): string | null {
  const merged = hasRuntimeBlock(name) ? mergeAroundBlock(base, ours, theirs) : mergeTexts(base, ours, theirs)
  return merged === null || Buffer.byteLength(merged) > MOST_DOCUMENT_BYTES ? null : merged
}

export interface Edits {
  readonly base: string | undefined
  readonly ours: string | undefined
  readonly theirs: string
}

const mergeTexts = (base: string | undefined, ours: string | undefined, theirs: string): string | null =>
  base === undefined || ours === undefined ? theirs : merge(base, ours, theirs)

function mergeAroundBlock(base: string | undefined, ours: string | undefined, theirs: string): string | null {
  const latest = lifted(ours ?? '')
  const before = liftedLike(base ?? '', latest)
  const after = liftedLike(theirs, before, before.block ?? latest.block)
  // A new block is left out of the merge: it would conflict with lines added at the end.
  const oursText = before.block === null ? outsideBlock(ours ?? '') : latest.text
  const merged = mergeTexts(base === undefined ? undefined : before.text, oursText, after.text)
  return merged === null ? null : withOursLast({ text: merged, block: latest.block })
}

/** Contract: the first text of a document, unchanged; a block in it counts as the owner's text. */
export const firstText = (name: DocumentName, text: string): string =>
  hasRuntimeBlock(name) ? withOursLast({ text, block: null }) : text

/** The text of an earlier version with the current block. */
export function revertedText(latest: string, earlierText: string): string {
  const { text, block } = lifted(earlierText)
  return lowered({ text, block: lifted(latest).block ?? block })
}

/** Contract: redacts added lines only; existing text stays unchanged. */
export function withoutNewSecrets(before: string, after: string, redact: (text: string) => string): string {
  const lines = linesOf(before)
  const changes = changesOf(lines, linesOf(after))
  return changed(
    lines,
    changes.map((change) => ({ ...change, lines: [redact(change.lines.join(''))] })),
  ).join('')
}
