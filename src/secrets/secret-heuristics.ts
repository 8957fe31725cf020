/**
 * Heuristics for texts that look like secrets but are not known as such. They may be wrong, so they are used only for
 * texts that people read.
 */

import type { NamedSecret } from './secret-matcher.ts'

/** The beginning of a word, also after an escaped line break (as in JSON inside JSON). */
const START = String.raw`(?:\b|(?<=\\[nrt]))`
/** The end of a name and the start of its value, bare or quoted: in a header, URL, script or JSON inside JSON. */
const ASSIGNMENT = String.raw`\\*["']?\s*[:=]\s*\\*["']?`
const VALUE = String.raw`[^\s"'\\,;&<>(){}\[\]]`
const NAMES = '[a-z0-9]_key|(?:api|access|secret|private|auth)-?key|token|secret|password|passwd|credentials?'
/**
 * A value that is probably a secret. It must contain a digit: other values assigned to one of NAMES are rarely secrets.
 */
const GUESSED = `(?=${VALUE}{0,80}\\d)${VALUE}{8,}`

/** Contract: the first group of each pattern is kept; the rest of the match is replaced. */
const SECRET_PATTERNS: readonly RegExp[] = [
  new RegExp(
    `((?:authorization|api-key|auth-token)${ASSIGNMENT}(?:(?:bearer|basic|token|digest)\\s+)?)${VALUE}+`,
    'gi',
  ),
  new RegExp(`(cookie${ASSIGNMENT}[\\w.-]+=)[^\\s"'\\\\;]+`, 'gi'),
  new RegExp(`(${START}bearer\\s+)[\\w.~+/-]{12,}=*`, 'gi'),
  new RegExp(`((?:${NAMES})${ASSIGNMENT})${GUESSED}`, 'gi'),
  new RegExp(`()${START}(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_]){0,2}[A-Za-z0-9_-]{16,}`, 'g'),
  new RegExp(`()${START}(?:gh[pousr]|npm|hf|glpat|github_pat|xox[abeprs])[-_][\\w-]{16,}`, 'g'),
  new RegExp(`()${START}(?:(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\\w-]{30,}|eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]+)`, 'g'),
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?=-----END|$)/g,
]

/** The password in a URL. Apart from the others, because many texts contain URLs, and few of these words. */
const URL_PASSWORD = /(:\/\/[^\s/:@"']{0,100}:)[^\s/@"']+(?=@)/g

/**
 * A text that matches one of the patterns contains one of these: this single test usually makes the others unnecessary.
 */
const QUICK_CHECK = new RegExp(
  [
    /authorization|key|token|cookie|bearer|secret|passw|credential/,
    /[spr]k[-_]|gh[pousr]_|npm_|hf_|glpat|_pat|xox|AKIA|ASIA|AIza|eyJ/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

const MIN_LENGTH = 8

/** A text that will be truncated must be searched this far beyond the cut. */
export const MAX_PATTERN_LENGTH = 200

export const REDACTED_MARK = '(secret)'

export function redactLookalikes(text: string): string {
  if (text.length < MIN_LENGTH) return text
  const replace = (left: string, look: RegExp): string => left.replace(look, `$1${REDACTED_MARK}`)
  const rest = text.includes('://') ? replace(text, URL_PASSWORD) : text
  return QUICK_CHECK.test(rest) ? SECRET_PATTERNS.reduce(replace, rest) : rest
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i

/** The values of environment variables whose names suggest a secret. */
export function secretsInEnv(env: Readonly<Record<string, string | undefined>>): readonly NamedSecret[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) && value ? [{ name, value }] : []))
}

const MIN_GUESS = 8
const LONG_VALUE = 16
const ORDINARY_WORDS = /^([A-Z]?[a-z]+([-_. ][A-Z]?[a-z]+)*|[A-Z]+([-_. ][A-Z]+)*)$/

/**
 * True if a value is probably a secret: no word, number, path or URL. In doubt false: a word removed from the journal
 * by mistake is lost.
 */
export function isLikelySecret(value: string): boolean {
  if (value.length < MIN_GUESS || /^[/~.]|^\w+:\/\/|^[\d.]+$/.test(value)) return false
  return /\d/.test(value) || (value.length >= LONG_VALUE && !ORDINARY_WORDS.test(value))
}
