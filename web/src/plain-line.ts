/** Markdown as one line of plain text, for lists in which its marks would only stand in the way. Pure. */

import { oneLine } from './format.ts'

/** More would not fit in any line, and takes long to read. */
const MAX_CHARS = 4000

/** The row of dashes under the head of a table. */
const TABLE_RULE = /\|(?:\s*:?-{2,}:?\s*\|)+/g

const LINES: readonly (readonly [RegExp, string])[] = [
  // Fences of code, rules, and lines under a title.
  [/^[ \t]*(?:```.*|~~~.*|(?:[-*_=][ \t]*){3,})$/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+/gm, ''],
  [/^[ \t]*#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/gm, ''],
]

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/!?\[([^\]\n]*)\]\([^)\s]*(?: "[^"\n]*")?\)/g, '$1'],
  [/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2'],
  [/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/g, '$1'],
  [/(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])/g, '$1'],
  [/\\([\\`*_{}[\]()#+\-.!|~>])/g, '$1'],
]

/** Contract: one line of a Markdown text, without its marks; a table becomes its cells. */
export function plainLine(markdown: string): string {
  const text = markdown.slice(0, MAX_CHARS).replaceAll('\r\n', '\n')
  const withoutTables = text.search(TABLE_RULE) >= 0 ? flattenTables(text) : text
  return oneLine(replaceAll(replaceAll(withoutTables, LINES), WORDS))
}

const replaceAll = (text: string, rules: readonly (readonly [RegExp, string])[]): string =>
  rules.reduce((left, [pattern, by]) => left.replaceAll(pattern, by), text)

/** Also of a table whose lines were joined before. */
const flattenTables = (text: string): string =>
  text
    .replaceAll(TABLE_RULE, '|')
    .replaceAll(/\|(?:\s*\|)+/g, ';')
    .replaceAll(/^[ \t]*\||\|[ \t]*$/gm, '')
    .replaceAll(/(?<=[:：])\s*\|\s*/g, ' ')
    .replaceAll(/\s*\|\s*/g, ' · ')
    .replaceAll(/\s*;(?:\s*;)*\s*/g, '; ')
