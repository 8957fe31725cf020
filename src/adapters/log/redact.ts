/** Texts made fit for files: no secret in any form in which it travels, and nothing that looks like one. */

const HIDDEN = '(secret)'

export interface Redactor {
  redact(text: string): string
  /** Contract: at most so many characters of the text, without the secrets; what the cut would halve is taken out before. */
  cut(text: string, most: number): string
}

/** A secret that is shorter is no secret: it would be found in every other word, and what is left could not be read. */
const SHORTEST_SECRET = 4

export function redactor(secrets: readonly string[]): Redactor {
  const known = secrets.filter(({ length }) => length >= SHORTEST_SECRET)
  const forms = [...new Set(known.flatMap(formsOf))].sort((a, b) => b.length - a.length)
  const margin = Math.max(forms[0]?.length ?? 0, LONGEST_LOOK)
  const shortest = Math.min(SHORTEST_LOOK, forms.at(-1)?.length ?? SHORTEST_LOOK)
  // Names and words come back with every record: those with nothing to hide are looked at once.
  const clean = new Set<string>()
  const redact = (text: string): string => {
    if (text.length < shortest || clean.has(text)) return text
    let left = text
    for (const form of forms) if (form.length <= left.length) left = left.replaceAll(form, HIDDEN)
    if (MAY_LOOK.test(left)) left = withoutLooks(left)
    if (left === text && text.length <= LONGEST_WORD && clean.size < MOST_WORDS) clean.add(text)
    return left
  }
  return {
    redact,
    cut(text, most) {
      const told = redact(text.slice(0, most + margin))
      return text.length > most || told.length > most ? `${told.slice(0, most)}…` : told
    },
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
}

const LONGEST_LOOK = 200

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
const LONGEST_WORD = 32
const MOST_WORDS = 2000

function withoutLooks(text: string): string {
  return LOOKS.reduce((left, look) => left.replace(look, `$1${HIDDEN}`), text)
}

/** What a machine's variables hold under names that speak of secrets; nobody has said that they are, so they have to be longer. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i.test(name) && value !== undefined && value.length >= SHORTEST_GUESS
      ? [value]
      : [],
  )
}

const SHORTEST_GUESS = 8
