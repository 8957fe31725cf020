/** Texts made fit for the log: no secret in any form in which it travels, and no more than a beginning. */

const HIDDEN = '(secret)'

/** Contract: at most so many characters of the text, without the secrets; what the cut would halve is taken out before. */
export function cutter(secrets: readonly string[]): (text: string, most: number) => string {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form !== '').sort((a, b) => b.length - a.length)
  const longest = forms[0]?.length ?? 0
  const redacted = (text: string): string => forms.reduce((left, form) => left.replaceAll(form, HIDDEN), text)
  return (text, most) => {
    const told = redacted(text.slice(0, most + longest))
    return text.length > most || told.length > most ? `${told.slice(0, most)}…` : told
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
