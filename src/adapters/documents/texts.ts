/** What a document's text may be, what two edits of it make, and what may be written down of an addition. Pure. */

import { type DocumentName, MOST_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { changed, changesOf, linesOf } from '../../domain/lines.ts'
import { merge } from '../../domain/merge.ts'
import { lifted, lowered, outsideBlock, withBlock } from '../../domain/runtime-block.ts'

export const isBlank = (text: string): boolean => text.trim() === ''

/** Contract: throws `document_refused`. */
export function refuseUnfit(name: DocumentName, text: string): void {
  const refused = (what: string, got: string, expected: string): TirelessError =>
    new TirelessError('document_refused', { what, where: name, got, expected })
  if (text.includes('\0')) throw refused('a document holds text', 'a NUL character', 'none')
  if (!text.isWellFormed()) throw refused('a document holds text', 'half a character', 'whole ones')
  const bytes = Buffer.byteLength(text)
  if (bytes > MOST_DOCUMENT_BYTES)
    throw refused('the document would be too long', `${bytes} bytes`, `at most ${MOST_DOCUMENT_BYTES}; shorten it`)
}

/**
 * What an edit of the file and whatever happened since make together; the runtime block is as we have it. `base`: the file before the edit.
 * Contract: null where they clash. A file that was never a projection is its owner's, and is taken as it is.
 */
export function mergedEdit(base: string | undefined, ours: string | undefined, theirs: string): string | null {
  if (ours === undefined) return theirs
  const { text, block } = lifted(ours)
  if (base === undefined) return block === null ? theirs : withBlock(theirs, block)
  const before = lifted(base)
  const after = lifted(theirs)
  // A block that is new has no place in the others' lines: it would clash with what was added at the end.
  const merged = merge(before.text, before.block === null ? outsideBlock(ours) : text, after.text)
  if (merged === null) return null
  const whole = lowered({ text: merged, block: block ?? after.block })
  return Buffer.byteLength(whole) > MOST_DOCUMENT_BYTES ? null : whole
}

/** The text of an earlier version, the block as it stands. */
export function revertedText(latest: string, earlier: string): string {
  const { text, block } = lifted(earlier)
  return lowered({ text, block: lifted(latest).block ?? block })
}

/** Contract: what was there before stays, letter for letter. */
export function withoutNewSecrets(before: string, after: string, redact: (text: string) => string): string {
  const lines = linesOf(before)
  const changes = changesOf(lines, linesOf(after))
  return changed(
    lines,
    changes.map((change) => ({ ...change, lines: [redact(change.lines.join(''))] })),
  ).join('')
}
