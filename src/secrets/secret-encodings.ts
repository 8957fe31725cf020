/** The encodings in which a secret may appear: plain, escaped, encoded, reversed. Pure. */

/** Contract: returns all encodings without duplicates; the secret itself comes first. */
export function encodingsOf(secret: string): readonly string[] {
  const text = secret.toWellFormed()
  const json = escapeJson(text)
  const bodies = [...new Set([text, json])]
  return [
    ...new Set([
      text,
      json,
      escapeJson(json),
      escapeNonAscii(json, 'lower'),
      escapeNonAscii(json, 'upper'),
      ...escapeHtmlVariants(text),
      escapeShell(text),
      [...text].reverse().join(''),
      ...bodies.flatMap(percentEncodings),
      ...bodies.flatMap((body) => binaryEncodings(Buffer.from(body))),
    ]),
  ]
}

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The JSON of programs that escape all non-ASCII characters. */
function escapeNonAscii(json: string, letters: 'lower' | 'upper'): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${letters === 'lower' ? code : code.toUpperCase()}`
  })
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The two quotation marks have two common escapes each. */
function escapeHtmlVariants(text: string): readonly string[] {
  const usual = text.replaceAll(/[&<>"']/g, (character) => HTML_ESCAPES[character] ?? character)
  return [usual, usual.replaceAll('&#39;', '&#x27;'), usual.replaceAll('&quot;', '&#34;')]
}

const escapeShell = (text: string): string => text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&')

function percentEncodings(text: string): readonly string[] {
  const usual = encodeURIComponent(text)
  const strict = usual.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  const every = Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  // `paths`: programs differ in what they escape in path segments. Encoded twice: a URL inside a parameter of another
  // URL.
  const paths = [usual.replaceAll('%2F', '/'), usual.replaceAll(/%(?:24|26|2B|3D|3A|40)/g, decodeURIComponent)]
  return [usual, strict, form, every, ...paths, encodeURIComponent(usual)].flatMap((one) => [
    one.replaceAll(/%../g, (code) => code.toUpperCase()),
    one.replaceAll(/%../g, (code) => code.toLowerCase()),
  ])
}

function binaryEncodings(bytes: Buffer): readonly string[] {
  const hex = bytes.toString('hex')
  const whole = bytes.toString('base64')
  const inside = [0, 1, 2].map((before) => base64Inside(bytes, before))
  const twice = Buffer.from(whole).toString('base64').replace(/=+$/, '')
  const plain = [whole, whole.replace(/=+$/, ''), ...inside, twice]
  const hexes = [hex, hex.replaceAll(/\B(?=(?:..)+$)/g, ':')].flatMap((one) => [one, one.toUpperCase()])
  const escaped = [hex, hex.toUpperCase()].map((one) => one.replaceAll(/../g, '\\x$&'))
  return [...hexes, ...escaped, ...plain, ...plain.map(toBase64Url), base32(bytes)]
}

const toBase64Url = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('')
}

/**
 * The base64 characters that depend only on these bytes if they are part of a longer text. `before`: their offset in
 * that text, modulo 3.
 */
function base64Inside(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes])
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
}
