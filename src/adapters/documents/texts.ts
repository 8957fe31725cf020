/** What a document's text may be, what two edits of it make, and what may be written down of an addition. Pure. */

import { type DocumentName, MOST_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { changed, changesOf, linesOf } from '../../domain/lines.ts'
import { merge } from '../../domain/merge.ts'
import { lifted, liftedLike, lowered, outsideBlock, withOursLast } from '../../domain/runtime-block.ts'

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

/** The one document that has a runtime block. */
const isWithBlock = (name: DocumentName): boolean => name === 'STATE.md'

/**
 * What an edit of the file and whatever happened since make together; the runtime block is as we have it. `base`: the file before the edit.
 * Contract: null where they clash. A file that was never a projection is its owner's, and is taken as it is.
 */
export function mergedEdit(name: DocumentName, { base, ours, theirs }: Edits): string | null {
  const whole = isWithBlock(name) ? mergedAroundBlock(base, ours, theirs) : mergedText(base, ours, theirs)
  return whole === null || Buffer.byteLength(whole) > MOST_DOCUMENT_BYTES ? null : whole
}

export interface Edits {
  readonly base: string | undefined
  readonly ours: string | undefined
  readonly theirs: string
}

const mergedText = (base: string | undefined, ours: string | undefined, theirs: string): string | null =>
  base === undefined || ours === undefined ? theirs : merge(base, ours, theirs)

function mergedAroundBlock(base: string | undefined, ours: string | undefined, theirs: string): string | null {
  const latest = lifted(ours ?? '')
  const before = liftedLike(base ?? '', latest)
  const after = liftedLike(theirs, before, before.block ?? latest.block)
  // A block that is new has no place in the others' lines: it would clash with what was added at the end.
  const oursText = before.block === null ? outsideBlock(ours ?? '') : latest.text
  const merged = mergedText(base === undefined ? undefined : before.text, oursText, after.text)
  return merged === null ? null : withOursLast({ text: merged, block: latest.block })
}

/** Contract: a text that is the first of its document, as it is; what looks like our block in it is not ours. */
export const firstText = (name: DocumentName, text: string): string =>
  isWithBlock(name) ? withOursLast({ text, block: null }) : text

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
