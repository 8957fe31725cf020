/**
 * Changes single keys in the text of a YAML file. Every byte outside the changed key stays: comments, order, quotes,
 * blank lines, line ends, the byte order mark. Each change is checked: the new text says what was asked, nothing else.
 */

import { isDeepStrictEqual } from 'node:util'
import {
  type CST,
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { formatPath, type KeyPath } from './key-path.ts'

export interface KeyChange {
  readonly path: KeyPath
  /** undefined: remove the key. */
  readonly value: Json | undefined
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Contract: pure; throws `config_invalid` if a change cannot be made without changing something else. */
export function editYaml(source: string, changes: readonly KeyChange[], file = 'the file'): string {
  const mark = source.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  return mark + changes.reduce((text, change) => applyChange(text, change, file), source.slice(mark.length))
}

/** Contract: pure; the value as it is written, with references to variables; undefined if there is none. */
export const keyInFile = (source: string, path: KeyPath): unknown => parseDocument(source).getIn(path) ?? undefined

/**
 * Contract: pure; the text of the mapping at `path` as a file of its own, with the comments in and directly above it.
 * If it refers to other parts of the file, its values are written out, and its text follows as a comment.
 */
export function yamlTextAt(source: string, path: KeyPath): string {
  const { text, document } = parseText(source)
  const { place, rest, above, index } = findPlace(document, path)
  const collection = above?.node
  if (rest.length > 0 || !isFilled(place.node) || !collection || !isCollection(collection)) return ''
  const [start, end] = [place.node.range?.[0] ?? 0, endOfNode(place.node)]
  const isBlock = isCollection(place.node) && place.node.flow !== true
  const lineStart = startOfLine(text, start)
  const column = start - lineStart
  const lines = (
    isBlock ? ' '.repeat(column) + text.slice(start, endOfInner(text, end, column - 1)) : text.slice(start, end)
  )
    .split(/\r?\n/)
    .map((line) => (isBlock && line.slice(0, column).trim() === '' ? line.slice(column) : line))
  const own = `${lines.join('\n')}\n`
  const itemLine = startOfLine(text, startOfItem(collection, index))
  const comments = text
    .slice(startOfComments(text, itemLine), itemLine)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join('\n')
  const data = valueAt(document.toJS() as Json, path)
  if (isDeepStrictEqual(tryData(own), data)) return comments + own
  return `${comments}${stringify(data, PRINTING)}${own.replaceAll(/^(?=.)/gm, '# ')}`
}

function applyChange(text: string, { path, value }: KeyChange, file: string): string {
  const { document } = parseText(text)
  const [problem] = document.errors
  if (problem) throw new TirelessError('config_invalid', { ...NOT_YAML, where: file })
  const before = document.toJS() as Json
  const wanted = withValue(before, path, value)
  if (isDeepStrictEqual(before, wanted)) return text
  const changed = spliceChange(text, document, path, value)
  if (changed !== undefined && isDeepStrictEqual(tryData(changed), wanted)) return changed
  throw new TirelessError('config_invalid', {
    what: `${formatPath(path)} cannot be changed by a command without changing other parts of the file`,
    where: file,
    got: 'an anchor, an alias or another rare form of YAML there; nothing was changed',
    fix: 'change it in the file with an editor',
  })
}

const NOT_YAML = {
  what: 'the file is not YAML; nothing was changed',
  fix: 'run tireless config check, then correct it',
}

function parseText(source: string): { readonly text: string; readonly document: Document.Parsed } {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source
  return { text, document: parseDocument(text, { keepSourceTokens: true, prettyErrors: false }) as Document.Parsed }
}

/** Contract: undefined if the text is not YAML, or has an alias without its anchor. */
function tryData(text: string): unknown {
  const { document } = parseText(text)
  try {
    return document.errors.length > 0 ? undefined : document.toJS()
  } catch {
    return undefined
  }
}

const isMapping = (data: Json | undefined): data is { readonly [key: string]: Json } =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

const valueAt = (data: Json, path: KeyPath): Json =>
  path.reduce<Json>((inner, step) => (inner as Readonly<Record<string | number, Json>>)[step] ?? null, data)

/** A key with a missing or scalar value (`budget:`) gets a mapping. Nothing is made in order to remove a key in it. */
function withValue(data: Json, [step, ...rest]: KeyPath, value: Json | undefined): Json {
  if (step === undefined) return value ?? null
  if (typeof step === 'number') {
    const items = Array.isArray(data) ? data : []
    if (value !== undefined) return items.toSpliced(step, 1, withValue(items[step] ?? null, rest, value))
    if (items[step] === undefined) return data
    return rest.length === 0 ? items.toSpliced(step, 1) : items.with(step, withValue(items[step], rest, value))
  }
  const entries = isMapping(data) ? data : {}
  if (value !== undefined) return { ...entries, [step]: withValue(entries[step] ?? null, rest, value) }
  if (!Object.hasOwn(entries, step)) return data
  if (rest.length > 0) return { ...entries, [step]: withValue(entries[step] ?? null, rest, value) }
  const { [step]: _, ...others } = entries
  return others
}

/** Where a value stands, or would stand. */
interface Place {
  readonly node: Node | null
  /** Offset after the colon or the dash; 0 for the value of the whole file. */
  readonly after: number
  /** Column of the lines of the value, if it has several. */
  readonly indent: number
  readonly in: 'file' | 'block_map' | 'block_seq' | 'flow'
  /** Whether a colon or a dash stands before `after`. */
  readonly hasMark: boolean
}

interface FoundPlace {
  /** The deepest place on the path that exists. */
  readonly place: Place
  /** The part of the path that does not exist there. */
  readonly rest: KeyPath
  /** The place of the collection with the item at `place`; undefined for the whole file. */
  readonly above: Place | undefined
  readonly index: number
}

function findPlace(document: Document.Parsed, path: KeyPath): FoundPlace {
  let place: Place = { node: document.contents, after: 0, indent: 0, in: 'file', hasMark: false }
  let above: Place | undefined
  let index = -1
  for (const [depth, step] of path.entries()) {
    const { node } = place
    const at = isMap(node)
      ? node.items.findIndex(({ key }) => isScalar(key) && String(key.value) === step)
      : isSeq(node) && typeof step === 'number' && step < node.items.length
        ? step
        : -1
    if (at < 0 || !isCollection(node)) return { place, rest: path.slice(depth), above, index }
    above = place
    index = at
    place = placeOfItem(above, node, at)
  }
  return { place, rest: [], above, index }
}

function placeOfItem(above: Place, collection: YAMLMap | YAMLSeq, index: number): Place {
  const item = collection.items[index]
  const isFlow = collection.flow === true
  const indent = isFlow ? above.indent : columnOf(collection) + 2
  if (isPair(item)) {
    const node = item.value as Node | null
    const mark = findToken((item as Pair & ItemTokens).srcToken?.sep, 'map-value-ind')
    const after = mark === undefined ? endOfNode(item.key as Node) : mark.offset + 1
    return { node, after, indent, in: isFlow ? 'flow' : 'block_map', hasMark: mark !== undefined }
  }
  const node = item as Node
  if (isFlow) return { node, after: node.range?.[0] ?? 0, indent, in: 'flow', hasMark: true }
  return { node, after: startOfItem(collection, index) + 1, indent, in: 'block_seq', hasMark: true }
}

interface ItemTokens {
  readonly srcToken?: { readonly sep?: readonly CST.SourceToken[] }
}

const findToken = (tokens: readonly CST.SourceToken[] | undefined, type: CST.SourceToken['type']) =>
  tokens?.find((token) => token.type === type)

const columnOf = (collection: YAMLMap | YAMLSeq): number => (collection.srcToken as CST.BlockMap).indent

/** Contract: undefined if the change cannot be made in place. */
function spliceChange(text: string, document: Document.Parsed, path: KeyPath, value: Json | undefined) {
  const { place, rest, above, index } = findPlace(document, path)
  const [step, ...deeper] = rest
  if (step === undefined) return value === undefined ? removeItem(text, above, index) : replaceValue(text, place, value)
  const nested = deeper.reduceRight<Json>((inner, key) => ({ [key]: inner }), value ?? null)
  const { node } = place
  if (isCollection(node) && node.items.length > 0) return insertItem(text, node as YAMLMap | YAMLSeq, step, nested)
  return replaceValue(text, place, typeof step === 'number' ? [nested] : { [step]: nested })
}

function replaceValue(text: string, place: Place, value: Json): string {
  const { node, after, indent } = place
  if (place.in === 'flow') {
    const range = isFilled(node) ? ([node.range?.[0] ?? 0, endOfNode(node)] as const) : ([after, after] as const)
    const lead = isFilled(node) ? '' : place.hasMark ? ' ' : ': '
    return splice(text, range, lead + printFlow(value))
  }
  const eol = lineEndOf(text)
  const old = isFilled(node) ? node : null
  if (place.in === 'file' && !old) {
    const lead = text === '' || text.endsWith('\n') ? '' : eol
    return `${text}${lead}${printBlock(value, null).rest.join(eol)}${eol}`
  }
  const start = old?.range?.[0] ?? after
  const lead = text.slice(after, start)
  const { first, rest } = printBlock(value, old)
  // Comments and spaces between the key and its value stay, and so does the line on which the value begins.
  const stays = place.in === 'file' || lead.trim() !== '' || (first !== '' && lead !== '' && !lead.includes('\n'))
  const isOnOwnLine = stays && (place.in === 'file' || lead.includes('\n'))
  const column = isOnOwnLine && first === '' ? start - startOfLine(text, start) : indent
  const lines = rest.map((line) => (line === '' ? '' : ' '.repeat(column) + line))
  // The first line of a collection begins where the value began, or beside the dash.
  if (first !== '') lines.unshift(stays ? first : ` ${first}`)
  else if (isOnOwnLine) lines[0] = lines[0]?.trimStart() ?? ''
  else if (place.in === 'block_seq' && !stays) lines[0] = ` ${lines[0]?.trimStart() ?? ''}`
  else lines.unshift('')
  const { end, tail } = endAndTail(text, old, after)
  const [top = '', ...others] = lines
  return splice(text, [stays ? start : after, end], [top + tail, ...others].join(eol))
}

/** Where a replaced value ends, and what follows it on its first line and stays there: a comment. */
function endAndTail(text: string, old: Node | null, after: number): { readonly end: number; readonly tail: string } {
  const end = old ? endOfNode(old) : after
  const lineEnd = endOfLine(text, end)
  // The comments in a collection go with it.
  if (isCollection(old) && old.flow !== true) return { end: lineEnd, tail: '' }
  if (isScalar(old) && (old.type === 'BLOCK_LITERAL' || old.type === 'BLOCK_FOLDED')) {
    const start = old.range?.[0] ?? 0
    const [, tail = ''] = /^\S+(\s+#.*)?$/.exec(text.slice(start, endOfLine(text, start))) ?? []
    return { end, tail }
  }
  return { end: lineEnd, tail: text.slice(end, lineEnd).trimEnd() }
}

function insertItem(
  text: string,
  collection: YAMLMap | YAMLSeq,
  step: string | number,
  value: Json,
): string | undefined {
  if (isSeq(collection) !== (typeof step === 'number')) return undefined
  const last = endOfItem(collection, collection.items.length - 1)
  if (collection.flow === true) {
    const item = typeof step === 'number' ? printFlow(value) : `${printKey(step)}: ${printFlow(value)}`
    return splice(text, [last, last], `, ${item}`)
  }
  const column = columnOf(collection)
  const { first, rest } = printBlock(value, null)
  const inner = rest.map((line) => (line === '' ? '' : ' '.repeat(column + 2) + line))
  const mark = typeof step === 'number' ? '-' : `${printKey(step)}:`
  const isCompact = first === '' && mark === '-'
  const lines = isCompact
    ? [`${mark} ${inner[0]?.trimStart() ?? ''}`, ...inner.slice(1)]
    : [first === '' ? mark : `${mark} ${first}`, ...inner]
  const eol = lineEndOf(text)
  const at = endOfInner(text, last, column)
  return splice(text, [at, at], lines.map((line, nth) => eol + (nth === 0 ? ' '.repeat(column) : '') + line).join(''))
}

function removeItem(text: string, above: Place | undefined, index: number): string | undefined {
  const collection = above?.node
  if (!above || !(isMap(collection) || isSeq(collection))) return undefined
  if (collection.items.length === 1) return replaceValue(text, above, isMap(collection) ? {} : [])
  const [start, end] = [startOfItem(collection, index), endOfItem(collection, index)]
  const next = index + 1 < collection.items.length ? startOfItem(collection, index + 1) : undefined
  if (collection.flow === true)
    return index > 0
      ? splice(text, [endOfItem(collection, index - 1), end], '')
      : splice(text, [start, next ?? end], '')
  const lineStart = startOfLine(text, start)
  const innerEnd = endOfInner(text, end, columnOf(collection))
  // The item begins beside the dash of a list: the next one moves there, unless comments stand between them.
  if (text.slice(lineStart, start).trim() !== '') {
    const isNextBelow = next !== undefined && text.slice(end, next).trim() === ''
    return splice(text, [start, isNextBelow ? next : endOfLine(text, end)], '')
  }
  // What is written above the first item may be about all of them.
  const from = index === 0 ? lineStart : startOfComments(text, lineStart)
  const [lineEnd] = /^\r?\n/.exec(text.slice(innerEnd)) ?? []
  if (lineEnd !== undefined) return splice(text, [from, innerEnd + lineEnd.length], '')
  // The last line of a file without a line end at its end.
  const before = /\r?\n$/.exec(text.slice(0, from))?.[0].length ?? 0
  return splice(text, [from - before, innerEnd], '')
}

const splice = (text: string, [from, to]: readonly [number, number], inserted: string): string =>
  text.slice(0, from) + inserted + text.slice(to)

const lineEndOf = (text: string): string => (/^[^\n]*\r\n/.test(text) ? '\r\n' : '\n')

const startOfLine = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** Before the line end. */
function endOfLine(text: string, at: number): number {
  const found = text.indexOf('\n', at)
  if (found < 0) return text.length
  return found > at && text[found - 1] === '\r' ? found - 1 : found
}

/** The end of the line, or of comment lines below it that are indented deeper than `column`. */
function endOfInner(text: string, at: number, column: number): number {
  let end = endOfLine(text, at)
  for (;;) {
    const [line, spaces = ''] = /^\r?\n( *)#[^\r\n]*/.exec(text.slice(end)) ?? []
    if (line === undefined || spaces.length <= column) return end
    end += line.length
  }
}

/** The start of the comment lines directly above a line, if they begin at its column. */
function startOfComments(text: string, lineStart: number): number {
  const column = /^ */.exec(text.slice(lineStart))?.[0].length ?? 0
  let from = lineStart
  while (from > 0) {
    const above = startOfLine(text, from - 1)
    const spaces = /^( *)#/.exec(text.slice(above, from))?.[1]
    if (spaces?.length !== column) return from
    from = above
  }
  return from
}

const isFilled = (node: Node | null | undefined): node is Node =>
  node !== null && node !== undefined && (node.range?.[1] ?? 0) > (node.range?.[0] ?? 0)

/** Where the text of a node ends, without what follows: comments, blank lines, the last line end of a block text. */
function endOfNode(node: Node): number {
  const [start = 0, end = 0] = node.range ?? []
  if (isCollection(node) && node.flow !== true) return endOfItem(node as YAMLMap | YAMLSeq, node.items.length - 1)
  if (!isScalar(node) || (node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED')) return end
  const { source = '' } = (node.srcToken ?? {}) as Partial<CST.BlockScalar>
  const lineEnd = /\r?\n$/.exec(source)?.[0].length ?? 0
  return Math.max(start, end - lineEnd)
}

function endOfItem(collection: YAMLMap | YAMLSeq, index: number): number {
  const item = collection.items[index]
  if (!isPair(item)) return isFilled(item as Node) ? endOfNode(item as Node) : startOfItem(collection, index) + 1
  if (isFilled(item.value as Node | null)) return endOfNode(item.value as Node)
  const mark = findToken((item as Pair & ItemTokens).srcToken?.sep, 'map-value-ind')
  return mark === undefined ? endOfNode(item.key as Node) : mark.offset + 1
}

/** The offset of the key, or of the dash. */
function startOfItem(collection: YAMLMap | YAMLSeq, index: number): number {
  const item = collection.items[index]
  if (isPair(item)) return (item.key as Node).range?.[0] ?? 0
  if (collection.flow === true) return (item as Node).range?.[0] ?? 0
  const items = (collection.srcToken as CST.BlockSequence).items
  const dashes = items.flatMap(({ start }) => findToken(start, 'seq-item-ind') ?? [])
  return dashes[index]?.offset ?? 0
}

/** No line is folded, so that a text stays as it was given. */
const PRINTING = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }

/** `first`: what stands beside the key, empty for a collection; `rest`: the lines below it, not indented. */
function printBlock(value: Json, old: Node | null): { readonly first: string; readonly rest: string[] } {
  const document = new Document({ k: value })
  const node = document.get('k', true) as unknown
  if (isScalar(old) && isScalar(node) && typeof value === 'string' && typeof old.value === 'string')
    keepStyle(node, old)
  visit(document, {
    Collection(_, collection) {
      if (collection.items.length === 0) collection.flow = true
    },
  })
  const [top = '', ...rest] = document.toString(PRINTING).replace(/\n$/, '').split('\n')
  return { first: top.slice('k:'.length).trimStart(), rest: rest.map((line) => line.slice(2)) }
}

/** Quotes stay around a text of one line, and a block text stays one. */
function keepStyle(node: Scalar, { type }: Scalar): void {
  const isQuoted = type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE'
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED'
  const fits = String(node.value).includes('\n') ? isBlock : isQuoted
  if (type !== undefined && fits) node.type = type
}

const printKey = (key: string): string => (isPlainWord(key) ? key : JSON.stringify(key))

const isPlainWord = (text: string): boolean => /^[\p{L}_][\p{L}\p{N}_./*@+-]*$/u.test(text) && tryData(text) === text

function printFlow(value: Json): string {
  if (typeof value === 'string') return printKey(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item: Json) => printFlow(item)).join(', ')}]`
  const pairs = Object.entries(value).map(([key, inner]) => `${printKey(key)}: ${printFlow(inner)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}
