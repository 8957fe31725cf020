/** Finds suspicious lines in a skill, for review before approval. Findings are hints; they block nothing. Pure. */

import type { FindingKind, SkillFinding } from '../../domain/skill.ts'
import type { SkillFile } from './skill-files.ts'

const MAX_LINE = 120

const PATTERNS: readonly (readonly [FindingKind, RegExp])[] = [
  // Zero-width and direction marks, soft hyphens, tags, control characters and other invisible characters.
  ['hidden text', /(?!\ufe0f)\p{DI}|\p{Bidi_C}|\p{Co}|(?![\t\r])\p{Cc}/u],
  ['hidden text', /<!--/],
  ['encoded blob', /[A-Za-z0-9+/]{120,}={0,2}|(?:\\x[0-9a-f]{2}){20,}|base64\s+(?:-d|--decode)|\batob\(/i],
  ['runs a download', /\b(?:curl|wget|iwr|fetch)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i],
  ['runs a download', /\b(?:ba|z)?sh\s+<\(\s*(?:curl|wget)|\beval\b[^\n]*\b(?:curl|wget)\b/i],
  ['credentials', /\b(?:api[_ -]?keys?|passwords?|passphrase|secrets?|credentials?|private key)\b/i],
  ['credentials', /\b(?:access[_ -]?token|auth[_ -]?token|\.ssh|\.aws|\.netrc|id_rsa|\.env)\b/i],
  ['address', /\b(?:https?|ftp|wss?):\/\/[^\s)>"'\]]+|\b(?:\d{1,3}\.){3}\d{1,3}\b/i],
  [
    'overrides instructions',
    /\b(?:ignore|disregard|forget|override)\b[^\n.]{0,40}\b(?:previous|prior|above|earlier|other|all|system)\b/i,
  ],
  [
    'overrides instructions',
    /\b(?:ignore|disregard|forget|override)\b[^\n.]{0,40}\b(?:instructions?|rules?)\b|忽略.{0,12}(?:指令|规则|以上)/i,
  ],
  ['overrides instructions', /\b(?:do not|don't|never)\s+(?:tell|inform|mention|show|reveal|ask)\b|不要告诉/i],
  ['overrides instructions', /\bwithout (?:asking|telling|the user)\b|\bsecretly\b|\bhide (?:this|it)\b/i],
]

/** Contract: findings in the order of files and lines. */
export function scanSkill(files: readonly SkillFile[]): readonly SkillFinding[] {
  return files.flatMap(({ path, mode, bytes }) => {
    const executable = (mode & 0o111) !== 0 ? [finding(path, 1, 'executable', 'the file is executable')] : []
    const text = decodeUtf8(bytes)
    if (text === undefined) return [...executable, finding(path, 1, 'not text', `${bytes.length} bytes`)]
    return [...executable, ...text.split('\n').flatMap((line, i) => scanLine(path, i + 1, line))]
  })
}

function scanLine(file: string, line: number, text: string): readonly SkillFinding[] {
  const kinds = new Set(PATTERNS.flatMap(([kind, pattern]) => (pattern.test(text) ? [kind] : [])))
  return [...kinds].map((kind) => finding(file, line, kind, makeVisible(text)))
}

const finding = (file: string, line: number, kind: FindingKind, text: string): SkillFinding => ({
  file,
  line,
  kind,
  text,
})

/** Escapes characters that a terminal would hide or reverse. */
function makeVisible(text: string): string {
  const visible = text.replaceAll(
    /(?!\t)\p{C}|\p{DI}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  return visible.trim().slice(0, MAX_LINE)
}

export function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
