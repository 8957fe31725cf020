/**
 * The one writer to the terminal. What is shown there was written by anybody: pages, mail, models. Characters that move the cursor, fill the clipboard,
 * turn the writing around or take no room are shown as what they are. Our own colours carry a mark that nobody can know beforehand.
 */

import { domainToASCII } from 'node:url'
import { styleText } from 'node:util'
import { newSecret } from '../adapters/ids.ts'

export type Format = Parameters<typeof styleText>[0]

const ESCAPE = '\x1b'
const GAP = '\0'
const MARK = `⟦${newSecret()}⟧`

export function style(format: Format, text: string, stream?: NodeJS.WriteStream): string {
  const [before = '', after = ''] = styleText(format, GAP, stream && { stream }).split(GAP)
  return `${before.replaceAll(ESCAPE, MARK)}${text}${after.replaceAll(ESCAPE, MARK)}`
}

/** Contract: `text` as it is, but for what a terminal would obey or hide. */
export function print(stream: NodeJS.WritableStream, text: string): void {
  stream.write(visible(text).replaceAll(MARK, ESCAPE))
}

/** The same value, spelled so that no terminal does anything but show it. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSEEN, (unseen) =>
    /^[\n\t]$/.test(unseen) ? unseen : Array.from({ length: unseen.length }, (_, i) => jsonEscape(unseen, i)).join(''),
  )
}

const jsonEscape = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`

/** Joiners that belong to a script, or hold a picture together. */
const JOINING = String.raw`(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Sinhala}])[\u200c\u200d]`
const UNSEEN = new RegExp(
  String.raw`(?!${JOINING})(?:(?![\n\t])\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|(?!\ufe0f)\p{DI}|[\u1680\u2000-\u200a\u205f\u2800])`,
  'gu',
)
const codePoint = (unseen: string): string => `\\u{${(unseen.codePointAt(0) ?? 0).toString(16)}}`

/** Controls, characters that change the direction of writing, those that take no room, and blanks that are none. */
export const visible = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(UNSEEN, codePoint)

/** On one line: what somebody wrote does not begin another. */
export const showOnOneLine = (text: string): string =>
  visible(text).replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`)

/** Letters that pass for those of another script. */
const ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u
const WORD = /[\p{L}\p{N}\p{M}_.+-]+/gu

/** For whoever has to decide: also blanks that are not the plain one, and letters that are not what they look like. */
export function showExactly(text: string): string {
  return visible(text)
    .replaceAll(/[\u00a0\u202f\u3000]/gu, codePoint)
    .replaceAll(WORD, (word) => {
      if (/^[\x20-\x7e]*$/.test(word)) return word
      const isMixed = /\p{Script=Latin}/u.test(word) && ALIKE.test(word)
      const shown = word.replaceAll(/\P{ASCII}/gu, (char) =>
        (isMixed && ALIKE.test(char)) || /^[a-z0-9]$/i.test(char.normalize('NFKC')) ? codePoint(char) : char,
      )
      const host = word.includes('.') ? word : ''
      const ascii = shown === word && host !== '' ? domainToASCII(host) : host
      return ascii === host || ascii === '' ? shown : `${shown} (${ascii})`
    })
}
