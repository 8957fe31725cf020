/** The subset of XML that the XML protocol needs: opening tags, bodies, CDATA and entities. */

import { matchAt, skipSpace } from './json-scanner.ts'
import { refuseAnswer } from './parser-base.ts'

interface OpeningTag {
  readonly attributes: ReadonlyMap<string, string>
  /** True for `<x/>`, a tag without a body. */
  readonly closed: boolean
  readonly end: number
}

/** `from`: index after the tag's name. */
export function readOpeningTag(text: string, from: number, name: string): OpeningTag {
  const attributes = new Map<string, string>()
  let at = skipSpace(text, from)
  for (;;) {
    const end = matchAt(/\/?>/y, text, at)
    if (end !== undefined) return { attributes, closed: end === '/>', end: at + end.length }
    const attribute = matchAt(/[\p{L}_][\p{L}\p{N}_-]*\s*=\s*(?:"[^"]*"|'[^']*')/uy, text, at)
    if (attribute === undefined) return refuseAnswer('retries/unreadable-xml.md#tag_open', { tag: name })
    const equals = attribute.indexOf('=')
    const key = attribute.slice(0, equals).trim().toLowerCase()
    if (attributes.has(key)) refuseAnswer('retries/unreadable-xml.md#attribute_repeated', { tag: name, key })
    attributes.set(
      key,
      decodeEntities(
        attribute
          .slice(equals + 1)
          .trim()
          .slice(1, -1),
      ),
    )
    at = skipSpace(text, at + attribute.length)
  }
}

/**
 * Reads up to the first closing tag outside CDATA. If a tag of `forbiddenTags` comes first, the tag `name` was never
 * closed, and the answer is refused.
 */
export function readTagBody(
  text: string,
  from: number,
  name: string,
  forbiddenTags: readonly string[] = [],
): { text: string; end: number } {
  const forbidden = forbiddenTags.map((tag) => `|<${tag}(?=[\\s>/])`).join('')
  const marks = new RegExp(`<!\\[CDATA\\[|</${name}\\s*>${forbidden}`, 'gi')
  const parts: { text: string; verbatim: boolean }[] = []
  let at = from
  for (;;) {
    marks.lastIndex = at
    const mark = marks.exec(text)
    if (!mark) return refuseAnswer('retries/unreadable-xml.md#tag_unclosed', { tag: name })
    parts.push({ text: text.slice(at, mark.index), verbatim: false })
    if (mark[0].startsWith('</')) return { text: joinParts(parts), end: marks.lastIndex }
    if (!mark[0].startsWith('<![')) refuseAnswer('retries/unreadable-xml.md#tag_inside', { inner: mark[0], tag: name })
    const end = text.indexOf(']]>', marks.lastIndex)
    if (end < 0) return refuseAnswer('retries/unreadable-xml.md#cdata_open')
    parts.push({ text: text.slice(marks.lastIndex, end), verbatim: true })
    at = end + 3
  }
}

/** Joins the parts of a body. White space around CDATA is dropped. */
function joinParts(parts: readonly { text: string; verbatim: boolean }[]): string {
  const mixed = parts.some((part) => part.verbatim)
  return parts
    .filter((part) => part.verbatim || !mixed || part.text.trim() !== '')
    .map((part) => (part.verbatim ? part.text : decodeEntities(part.text)))
    .join('')
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes in one pass, so that `&amp;lt;` becomes `&lt;`. Entities that XML does not define (`&nbsp;`) stay. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g,
    (whole, name, decimal, hex) => {
      if (name !== undefined) return NAMED[name] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10)
      const character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      return character ? String.fromCodePoint(code) : whole
    },
  )
}
