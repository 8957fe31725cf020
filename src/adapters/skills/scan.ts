/** What should be looked at before a skill is approved. It may be harmless; nothing that is found forbids anything. Pure. */

import type { Finding, FindingKind } from '../../domain/skill.ts'
import type { SkillFile } from './contents.ts'

const MOST_SHOWN = 120

const LOOKS: readonly (readonly [FindingKind, RegExp])[] = [
  // Zero width, direction marks, soft hyphens, tags, control characters, and letters that look like nothing.
  ['hidden text', /(?!\ufe0f)\p{DI}|\p{Bidi_C}|\p{Co}|(?![\t\r])\p{Cc}/u],
  ['hidden text', /<!--/],
  ['encoded blob', /[A-Za-z0-9+/]{120,}={0,2}|(?:\\x[0-9a-f]{2}){20,}|base64\s+(?:-d|--decode)|\batob\(/i],
  [
    'runs a download',
    /\b(?:curl|wget|iwr|fetch)\b[^\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+<\(\s*(?:curl|wget)|\beval\b[^\n]*\b(?:curl|wget)\b/i,
  ],
  [
    'credentials',
    /\b(?:api[_ -]?keys?|passwords?|passphrase|secrets?|credentials?|private key|access[_ -]?token|auth[_ -]?token|\.ssh|\.aws|\.netrc|id_rsa|\.env)\b/i,
  ],
  ['address', /\b(?:https?|ftp|wss?):\/\/[^\s)>"'\]]+|\b(?:\d{1,3}\.){3}\d{1,3}\b/i],
  [
    'overrides instructions',
    /\b(?:ignore|disregard|forget|override)\b[^\n.]{0,40}\b(?:previous|prior|above|earlier|other|all|system|instructions?|rules?)\b|\b(?:do not|don't|never)\s+(?:tell|inform|mention|show|reveal|ask)\b|\bwithout (?:asking|telling|the user)\b|\bsecretly\b|\bhide (?:this|it)\b|忽略.{0,12}(?:指令|规则|以上)|不要告诉/i,
  ],
]

/** Contract: in the order of files and lines. */
export function scan(files: readonly SkillFile[]): readonly Finding[] {
  return files.flatMap(({ path, mode, bytes }) => {
    const executable = (mode & 0o111) !== 0 ? [finding(path, 1, 'executable', 'it can be run as a program')] : []
    const text = textOf(bytes)
    if (text === undefined) return [...executable, finding(path, 1, 'not text', `${bytes.length} bytes`)]
    return [...executable, ...text.split('\n').flatMap((line, i) => inLine(path, i + 1, line))]
  })
}

function inLine(file: string, line: number, text: string): readonly Finding[] {
  const found = new Set(LOOKS.flatMap(([kind, look]) => (look.test(text) ? [kind] : [])))
  return [...found].map((kind) => finding(file, line, kind, shown(text)))
}

const finding = (file: string, line: number, kind: FindingKind, text: string): Finding => ({ file, line, kind, text })

/** Nothing in it that a terminal would hide, or turn around. */
function shown(text: string): string {
  const visible = text.replaceAll(
    /(?!\t)\p{C}|\p{DI}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  return visible.trim().slice(0, MOST_SHOWN)
}

export function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
