/** What looks like a secret, though nobody has said that it is one. For texts that only people read: it may be wrong. */

import type { Named } from './finder.ts'

/** The beginning of a word, also behind the escaped end of a line, as in JSON inside JSON. */
const START = String.raw`(?:\b|(?<=\\[nrt]))`
/** The end of a name and the beginning of its value, bare or quoted, in a header, a URL, a script or JSON inside JSON. */
const IS = String.raw`\\*["']?\s*[:=]\s*\\*["']?`
const VALUE = String.raw`[^\s"'\\,;&<>(){}\[\]]`
const NAMES = '[a-z0-9]_key|(?:api|access|secret|private|auth)-?key|token|secret|password|passwd|credentials?'
/** With a digit in it: what a program's text assigns to a variable of that name is hardly ever a secret otherwise. */
const GUESSED = `(?=${VALUE}{0,80}\\d)${VALUE}{8,}`

/** Contract: `$1` is what is left as it is. */
const LOOKS: readonly RegExp[] = [
  new RegExp(`((?:authorization|api-key|auth-token)${IS}(?:(?:bearer|basic|token|digest)\\s+)?)${VALUE}+`, 'gi'),
  new RegExp(`(cookie${IS}[\\w.-]+=)[^\\s"'\\\\;]+`, 'gi'),
  new RegExp(`(${START}bearer\\s+)[\\w.~+/-]{12,}=*`, 'gi'),
  new RegExp(`((?:${NAMES})${IS})${GUESSED}`, 'gi'),
  /(:\/\/[^\s/:@"']{0,100}:)[^\s/@"']+(?=@)/g,
  new RegExp(`()${START}(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_]){0,2}[A-Za-z0-9_-]{16,}`, 'g'),
  new RegExp(`()${START}(?:gh[pousr]|npm|hf|glpat|github_pat|xox[abeprs])[-_][\\w-]{16,}`, 'g'),
  new RegExp(`()${START}(?:(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\\w-]{30,}|eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]+)`, 'g'),
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?=-----END|$)/g,
]

/** Every look needs one of these: one pass over a text instead of nine. */
const MAY_LOOK =
  /authorization|key|token|cookie|bearer|secret|passw|credential|:\/\/|[spr]k[-_]|gh[pousr]_|npm_|hf_|glpat|_pat|xox|AKIA|ASIA|AIza|eyJ/i

const SHORTEST_LOOK = 8

/** Before a text is cut, so much of what follows has to be looked at. */
export const LONGEST_LOOK = 200

export const HIDDEN = '(secret)'

export function withoutLooks(text: string): string {
  if (text.length < SHORTEST_LOOK || !MAY_LOOK.test(text)) return text
  return LOOKS.reduce((left, look) => left.replace(look, `$1${HIDDEN}`), text)
}

const SPEAKING = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i

/** What variables hold under names that speak of secrets, by these names. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly Named[] {
  return Object.entries(env).flatMap(([name, value]) => (SPEAKING.test(name) && value ? [{ name, value }] : []))
}

const SHORTEST_GUESS = 8
const LONG = 16
const WORDS = /^([A-Z]?[a-z]+([-_. ][A-Z]?[a-z]+)*|[A-Z]+([-_. ][A-Z]+)*)$/

/**
 * Whether a value that nobody has called a secret is one, as likely as not: no word, no number, no place. What the journal holds is the
 * work itself: a word that is taken out of it by mistake is lost.
 */
export function isLikely(value: string): boolean {
  if (value.length < SHORTEST_GUESS || /^[/~.]|^\w+:\/\/|^[\d.]+$/.test(value)) return false
  return /\d/.test(value) || (value.length >= LONG && !WORDS.test(value))
}
