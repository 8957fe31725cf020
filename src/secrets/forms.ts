/** The forms in which a secret travels: as it is, escaped, encoded, backwards. Pure; knows nobody's secrets. */

/** Contract: each once; the secret itself first. */
export function formsOf(secret: string): readonly string[] {
  const text = secret.toWellFormed()
  const json = quoted(text)
  const bodies = [...new Set([text, json])]
  return [
    ...new Set([
      text,
      json,
      quoted(json),
      ascii(json, 'lower'),
      ascii(json, 'upper'),
      inMarkup(text),
      inShell(text),
      [...text].reverse().join(''),
      ...bodies.flatMap(percented),
      ...bodies.flatMap((body) => encoded(Buffer.from(body))),
    ]),
  ]
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As programs write JSON that keep to ASCII. */
function ascii(json: string, letters: 'lower' | 'upper'): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${letters === 'lower' ? code : code.toUpperCase()}`
  })
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const inMarkup = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => MARKUP[character] ?? character)

const inShell = (text: string): string => text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&')

function percented(text: string): readonly string[] {
  const usual = encodeURIComponent(text)
  const strict = usual.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  const every = Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  return [usual, strict, form, every].flatMap((one) => [
    one.replaceAll(/%../g, (code) => code.toUpperCase()),
    one.replaceAll(/%../g, (code) => code.toLowerCase()),
  ])
}

function encoded(bytes: Buffer): readonly string[] {
  const hex = bytes.toString('hex')
  const whole = bytes.toString('base64')
  const inside = [0, 1, 2].map((before) => base64Inside(bytes, before))
  const plain = [whole, whole.replace(/=+$/, ''), ...inside]
  return [hex, hex.toUpperCase(), ...plain, ...plain.map(forUrls)]
}

const forUrls = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

/** What of the base64 of a longer text these bytes alone decide, where so many bytes stand before their first group of three. */
function base64Inside(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes])
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
}
