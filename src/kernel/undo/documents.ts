/**
 * Which versions of STATE.md an undo takes back, newest first, each by a three-way merge: only what that version
 * changed goes back.
 * Must not know: what else is undone.
 * Invariants: I7 (the runtime block stays), I12 (restored text gets no better label than it had).
 */

import type { DocumentVersion } from '../../domain/document.ts'
import { CLEAN_LABEL, type Label, lowestLabel } from '../../domain/label.ts'
import { mergeText } from '../../domain/merge-text.ts'
import { changeOutsideBlock, textOutsideBlock } from '../../domain/runtime-block.ts'
import type { Documents } from '../../ports/documents.ts'

export const UNDONE_DOCUMENT = 'STATE.md'
const MAX_VERSIONS_READ = 2000

export interface DocumentConflict {
  readonly version: number
  /** The later version that changed the same lines; undefined: the text before is no longer kept. */
  readonly by: DocumentVersion | undefined
}

interface DocumentUndo {
  /** Newest first. */
  readonly versions: readonly number[]
  readonly conflicts: readonly DocumentConflict[]
}

/** One version to take back: its text, and the one before it. Without the runtime block. */
interface TakenBack {
  readonly version: number
  readonly text: string
  readonly before: string
}

const undoReason = (id: string): string => `undo ${id}`

/** Contract: `isChosen` says whether the chosen work wrote the version. */
export async function planDocumentUndo(
  documents: Documents,
  isChosen: (version: DocumentVersion) => boolean,
): Promise<DocumentUndo> {
  // Reads the file first: an edit of the owner becomes a version.
  const latest = await documents.read(UNDONE_DOCUMENT)
  const all = await documents.versions(UNDONE_DOCUMENT, MAX_VERSIONS_READ)
  const conflicts: DocumentConflict[] = []
  const versions: number[] = []
  let text = textOutsideBlock(latest?.text ?? '')
  for (const chosen of all.filter(isChosen)) {
    const found = await findTexts(documents, all, chosen.version)
    if (found && found.text === found.before) continue
    const merged = found ? mergeText(found.text, text, found.before) : null
    if (merged === null) conflicts.push({ version: chosen.version, by: found && laterAuthor(all, isChosen, chosen) })
    else {
      text = merged
      versions.push(chosen.version)
    }
  }
  return { versions, conflicts }
}

const laterAuthor = (
  all: readonly DocumentVersion[],
  isChosen: (version: DocumentVersion) => boolean,
  { version }: DocumentVersion,
): DocumentVersion | undefined =>
  all.findLast((other) => other.version > version && other.author !== 'system' && !isChosen(other)) ??
  all.find((other) => other.version > version)

/** Contract: undefined if the version, or the one before it, is no longer kept. */
async function findTexts(
  documents: Documents,
  all: readonly DocumentVersion[],
  version: number,
): Promise<TakenBack | undefined> {
  const earlier = all.find((other) => other.version < version)
  const [own, before] = [
    await documents.version(UNDONE_DOCUMENT, version),
    earlier && (await documents.version(UNDONE_DOCUMENT, earlier.version)),
  ]
  // The first version has nothing before it.
  if (!own || (!before && version > 1)) return undefined
  return { version, text: textOutsideBlock(own.text), before: textOutsideBlock(before?.text ?? '') }
}

/**
 * Contract: writes the text without these versions as a new version, once per undo. Returns the versions that were not
 * taken back, because the same lines were changed since, or because they are no longer kept.
 */
export async function takeBackVersions(
  documents: Documents,
  undo: string,
  versions: readonly number[],
): Promise<readonly number[]> {
  const all = await documents.versions(UNDONE_DOCUMENT, MAX_VERSIONS_READ)
  if (versions.length === 0 || all.some(({ reason }) => reason === undoReason(undo))) return []
  const texts: TakenBack[] = []
  for (const version of versions) texts.push(...[await findTexts(documents, all, version)].filter((found) => !!found))
  const label = await labelOf(documents, texts)
  const clashing = new Set<number>()
  const change = (outside: string): string => {
    clashing.clear()
    return texts.reduce((text, { version, text: base, before }) => {
      const merged = mergeText(base, text, before)
      if (merged === null) clashing.add(version)
      return merged ?? text
    }, outside)
  }
  await documents.write(UNDONE_DOCUMENT, (now) => changeOutsideBlock(now, change), {
    ...{ author: 'owner', reason: undoReason(undo), label },
  })
  const found = new Set(texts.map(({ version }) => version))
  return versions.filter((version) => clashing.has(version) || !found.has(version))
}

async function labelOf(documents: Documents, texts: readonly TakenBack[]): Promise<Label> {
  const sections = await Promise.all(texts.map(({ before }) => documents.labels(UNDONE_DOCUMENT, before)))
  const labels = sections.flat().map(({ label }) => label)
  return labels.reduce(lowestLabel, await documents.label(UNDONE_DOCUMENT).catch(() => CLEAN_LABEL))
}

/** Contract: the version that an undo wrote; undefined if it changed nothing. */
export async function versionOfUndo(documents: Documents, undo: string): Promise<DocumentVersion | undefined> {
  const all = await documents.versions(UNDONE_DOCUMENT, MAX_VERSIONS_READ)
  return all.find(({ reason }) => reason === undoReason(undo))
}
