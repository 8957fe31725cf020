/** What a skill said when it was approved, so that its owner sees what changed since. Pure. */

import { unifiedDiff } from '../../domain/diff.ts'
import type { Json } from '../../domain/json.ts'
import type { SkillChange } from '../../domain/skill.ts'
import { decodeUtf8 } from './scan-skill.ts'
import type { SkillFile } from './skill-files.ts'

/** Larger skills are approved without a copy of their text. */
const MAX_KEPT_CHARS = 256 * 1024

/** Key of the stored text of an approved skill in the settings of the store. */
export const approvedTextKey = (key: string): string => `skill text ${key}`

const textOf = ({ bytes }: SkillFile): string => decodeUtf8(bytes) ?? `[${bytes.length} bytes, not text]\n`

/** Contract: the texts by path; null if they are too long to be kept. */
export function keptText(files: readonly SkillFile[]): Json {
  const texts = files.map((file) => [file.path, textOf(file)] as const)
  const length = texts.reduce((sum, [, text]) => sum + text.length, 0)
  return length > MAX_KEPT_CHARS ? null : Object.fromEntries(texts)
}

/** Contract: the files that differ from the approved ones; null if those are not known. */
export function changesSince(approved: Json, files: readonly SkillFile[]): readonly SkillChange[] | null {
  if (typeof approved !== 'object' || approved === null) return null
  const before = new Map(Object.entries(approved).map(([path, text]) => [path, String(text)]))
  const after = new Map(files.map((file) => [file.path, textOf(file)]))
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path) => {
    const side = (texts: ReadonlyMap<string, string>) => ({ name: path, text: texts.get(path) ?? '' })
    const diff = unifiedDiff(side(before), side(after))
    return diff === '' ? [] : [{ path, diff }]
  })
}
