/**
 * Names in stored trees. Git accepts no entry named `.git`, so it is stored as `.git%`, and a real name that starts
 * with `.git%` gets one more `%`. What git's format has no place for stands in blobs beside the entries of a folder,
 * under names that no real file gets.
 */

const GIT = '.git'
const ESCAPED = '.git%'
/** Permission bits other than git's own (files 644 and 755, folders 755), by name. */
export const MODES_ENTRY = '.git%modes'
/** Entries that are not stored, with the reason, by name. */
export const OMITTED_ENTRY = '.git%omitted'

/** When files were last modified, in ms, by name. */
export const TIMES_ENTRY = '.git%times'
export type NotesEntry = typeof MODES_ENTRY | typeof OMITTED_ENTRY | typeof TIMES_ENTRY
const RESERVED: readonly string[] = [MODES_ENTRY, OMITTED_ENTRY, TIMES_ENTRY]

export const isReserved = (stored: Buffer): boolean =>
  stored.length > ESCAPED.length && RESERVED.includes(stored.toString('latin1'))

/** Contract: pure; names that differ stay different, and none is reserved. */
export function toStoredName(name: Buffer): Buffer {
  const text = name.toString('latin1')
  if (text === GIT) return Buffer.from(ESCAPED)
  return text.startsWith(ESCAPED) ? Buffer.from(`${ESCAPED}%${text.slice(ESCAPED.length)}`, 'latin1') : name
}

/** Contract: pure; the inverse of `toStoredName`. */
export function toRealName(stored: Buffer): Buffer {
  const text = stored.toString('latin1')
  if (text === ESCAPED) return Buffer.from(GIT)
  return text.startsWith(`${ESCAPED}%`) ? Buffer.from(`${ESCAPED}${text.slice(ESCAPED.length + 1)}`, 'latin1') : stored
}

/** Bytes as text: names need not be valid UTF-8. */
export const nameKey = (name: Buffer): string => name.toString('latin1')
