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
      ...inMarkup(text),
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

/** Two of them are written in more than one way. */
function inMarkup(text: string): readonly string[] {
  const usual = text.replaceAll(/[&<>"']/g, (character) => MARKUP[character] ?? character)
  return [usual, usual.replaceAll('&#39;', '&#x27;'), usual.replaceAll('&quot;', '&#34;')]
}

const inShell = (text: string): string => text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&')

function percented(text: string): readonly string[] {
  const usual = encodeURIComponent(text)
  const strict = usual.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  const every = Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  // As part of a path, as some leave the one and some the other; and as a parameter of an address that is a parameter itself.
  const paths = [usual.replaceAll('%2F', '/'), usual.replaceAll(/%(?:24|26|2B|3D|3A|40)/g, decodeURIComponent)]
  return [usual, strict, form, every, ...paths, encodeURIComponent(usual)].flatMap((one) => [
    one.replaceAll(/%../g, (code) => code.toUpperCase()),
    one.replaceAll(/%../g, (code) => code.toLowerCase()),
  ])
}

function encoded(bytes: Buffer): readonly string[] {
  const hex = bytes.toString('hex')
  const whole = bytes.toString('base64')
  const inside = [0, 1, 2].map((before) => base64Inside(bytes, before))
  const twice = Buffer.from(whole).toString('base64').replace(/=+$/, '')
  const plain = [whole, whole.replace(/=+$/, ''), ...inside, twice]
  const hexes = [hex, hex.replaceAll(/\B(?=(?:..)+$)/g, ':')].flatMap((one) => [one, one.toUpperCase()])
  const escaped = [hex, hex.toUpperCase()].map((one) => one.replaceAll(/../g, '\\x$&'))
  return [...hexes, ...escaped, ...plain, ...plain.map(forUrls), base32(bytes)]
}

const forUrls = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('')
}

/** What of the base64 of a longer text these bytes alone decide, where so many bytes stand before their first group of three. */
function base64Inside(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes])
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
}
