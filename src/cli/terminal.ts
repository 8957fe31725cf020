/**
 * The only writer to the terminal. Output contains text from web pages, mail and models, so control characters,
 * invisible characters and characters that change the writing direction are shown as escapes. Our own colour codes
 * carry a random mark that such text cannot guess.
 */

import { domainToASCII } from 'node:url'
import { styleText } from 'node:util'
import { newSecret } from '../adapters/system/ids.ts'

export type Format = Parameters<typeof styleText>[0]

const ESCAPE = '\x1b'
const GAP = '\0'
const MARK = `⟦${newSecret()}⟧`

export function style(format: Format, text: string, stream?: NodeJS.WriteStream): string {
  const [before = '', after = ''] = styleText(format, GAP, stream && { stream }).split(GAP)
  return `${before.replaceAll(ESCAPE, MARK)}${text}${after.replaceAll(ESCAPE, MARK)}`
}

/** Contract: writes `text`, with characters escaped that a terminal would obey or hide. */
export function printSafely(stream: NodeJS.WritableStream, text: string): void {
  stream.write(escapeInvisible(text).replaceAll(MARK, ESCAPE))
}

/** JSON of `value`; characters that a terminal would obey or hide are written as \u escapes. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSAFE, (unsafe) =>
    /^[\n\t]$/.test(unsafe) ? unsafe : Array.from({ length: unsafe.length }, (_, i) => jsonEscape(unsafe, i)).join(''),
  )
}

const jsonEscape = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`

/** Scripts in which the invisible joiners U+200C and U+200D are ordinary letters, so they are not escaped. */
const JOINED_SCRIPTS = ['Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Sinhala']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('')
const JOINING = [
  String.raw`(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=[${JOINED_SCRIPTS}])[\u200c\u200d]`,
].join('|')
const UNSAFE = new RegExp(
  [
    String.raw`(?!${JOINING})(?:(?![\n\t])\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}`,
    String.raw`(?!\ufe0f)\p{DI}|[\u1680\u2000-\u200a\u205f\u2800])`,
  ].join('|'),
  'gu',
)
const codePoint = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`

/** Escapes control, direction and zero-width characters, and unusual blanks. */
export const escapeInvisible = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, codePoint)

/** Also escapes line breaks and tabs, so that foreign text cannot fake another line of the output. */
export const escapeToOneLine = (text: string): string =>
  escapeInvisible(text).replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`)

/** Letters of scripts that contain letters which look like Latin ones. */
const LOOKALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u
const WORD = /[\p{L}\p{N}\p{M}_.+-]+/gu

/** For decisions such as approvals: also escapes unusual blanks and lookalike letters. */
export function escapeLookalikes(text: string): string {
  return escapeInvisible(text)
    .replaceAll(/[\u00a0\u202f\u3000]/gu, codePoint)
    .replaceAll(WORD, (word) => {
      if (/^[\x20-\x7e]*$/.test(word)) return word
      const isMixed = /\p{Script=Latin}/u.test(word) && LOOKALIKE.test(word)
      const shown = word.replaceAll(/\P{ASCII}/gu, (char) =>
        (isMixed && LOOKALIKE.test(char)) || /^[a-z0-9]$/i.test(char.normalize('NFKC')) ? codePoint(char) : char,
      )
      const host = word.includes('.') ? word : ''
      const ascii = shown === word && host !== '' ? domainToASCII(host) : host
      return ascii === host || ascii === '' ? shown : `${shown} (${ascii})`
    })
}
