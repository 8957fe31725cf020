/** YAML text → plain data with `${ENV}` expanded, and for each path its place in the file and the variables it came from. */

import type { Alias, ErrorCode, ParsedNode, Scalar, YAMLMap } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Complaint } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { type Expansion, expand, type Variables } from './expand.ts'
import { dotted, key, type Path } from './path.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

export interface Problem extends Complaint {
  readonly place: Place
}

export interface Reading {
  readonly data: Json
  /** Where each path stands, by `key(path)`. */
  readonly places: ReadonlyMap<string, Place>
  /** Which variables a text was made of, by `key(path)`. */
  readonly variables: ReadonlyMap<string, readonly string[]>
  /** Paths whose value is not known, because a variable is missing. */
  readonly faulty: ReadonlySet<string>
  readonly problems: readonly Problem[]
  /** False when the text is not YAML at all: then `data` says nothing. */
  readonly parsed: boolean
}

/** What a reading gathers while it walks the tree. */
interface Gathering {
  readonly env: Variables
  readonly placeAt: (offset: number) => Place
  readonly follow: (alias: Alias.Parsed) => ParsedNode | undefined
  readonly places: Map<string, Place>
  readonly variables: Map<string, readonly string[]>
  readonly faulty: Set<string>
  readonly problems: Problem[]
}

/** An alias may point at aliases: this many in a file, and neither a circle nor an avalanche gets far. */
const MAX_ALIASES = 100

export function readYaml(source: string, env: Variables): Reading {
  const lines = new LineCounter()
  // `prettyErrors` would quote the source, and with it whatever secret stands there.
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    stringKeys: true,
  })
  let aliases = 0
  const gathering: Gathering = {
    env,
    placeAt: (offset) => {
      const { line, col } = lines.linePos(offset)
      return { line, column: col }
    },
    follow: (alias) => {
      aliases += 1
      return aliases > MAX_ALIASES ? undefined : (alias.resolve(document) as ParsedNode | undefined)
    },
    places: new Map(),
    variables: new Map(),
    faulty: new Set(),
    problems: [],
  }
  const stumbles = firstPerLine(
    [...document.errors, ...document.warnings].map((error) => ({
      place: gathering.placeAt(error.pos[0]),
      ...(SYNTAX[error.code] ?? {
        what: `this is not YAML (${error.code})`,
        fix: 'check the text here and just above',
      }),
    })),
  )
  if (stumbles.length > 0) return { ...gathering, data: null, problems: stumbles, parsed: false }
  return { ...gathering, data: dataOf(gathering, document.contents, []), parsed: true }
}

function dataOf(gathering: Gathering, node: ParsedNode | null, path: Path): Json {
  if (node === null) return null
  if (!gathering.places.has(key(path))) gathering.places.set(key(path), gathering.placeAt(node.range[0]))
  if (isAlias(node)) {
    const target = gathering.follow(node)
    if (target) return dataOf(gathering, target, path)
    return refuse(
      gathering,
      node,
      path,
      'an alias that leads nowhere, in a circle or to too much',
      'write the value out',
    )
  }
  if (isSeq(node)) return node.items.map((item, index) => dataOf(gathering, item, [...path, index]))
  if (isMap(node)) return mappingOf(gathering, node.items, path)
  return scalarOf(gathering, node, path)
}

function mappingOf(gathering: Gathering, pairs: YAMLMap.Parsed['items'], path: Path): Json {
  const entries = new Map<string, Json>()
  for (const pair of pairs) {
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    const here = [...path, name]
    const first = gathering.places.get(key(here))
    if (entries.has(name)) {
      tell(gathering, pair.key, here, `the key stands twice, first on line ${first?.line}`, 'keep one of the two')
    } else if (name === '__proto__') {
      refuse(gathering, pair.key, here, 'a reserved word as a key', 'choose another name')
    } else {
      gathering.places.set(key(here), gathering.placeAt(pair.key.range[0]))
      entries.set(name, dataOf(gathering, pair.value, here))
    }
  }
  return Object.fromEntries(entries)
}

function scalarOf(gathering: Gathering, node: Scalar.Parsed, path: Path): Json {
  const { value } = node
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'string') return textOf(gathering, expand(value, gathering.env), node, path)
  return refuse(gathering, node, path, 'neither text, a number, true, false nor null', 'put it in quotes')
}

function textOf(gathering: Gathering, { text, names, faults }: Expansion, node: Scalar.Parsed, path: Path): string {
  if (names.length > 0) gathering.variables.set(key(path), names)
  for (const fault of faults) {
    if (fault.kind === 'malformed')
      refuse(
        gathering,
        node,
        path,
        `a \${ that is no \${NAME} or \${NAME:-default}`,
        `write $\${ for the text \${ itself`,
      )
    else
      refuse(
        gathering,
        node,
        path,
        `the environment variable ${fault.name} is not set`,
        `set ${fault.name}, or write \${${fault.name}:-default}`,
      )
  }
  return text
}

/** The value cannot be known, so the schema's opinion of it is of no interest. */
function refuse(gathering: Gathering, node: ParsedNode, path: Path, what: string, fix: string): null {
  gathering.faulty.add(key(path))
  tell(gathering, node, path, what, fix)
  return null
}

function tell(gathering: Gathering, node: ParsedNode, path: Path, what: string, fix: string): void {
  gathering.problems.push({ place: gathering.placeAt(node.range[0]), what: `${dotted(path)}: ${what}`, fix })
}

/** One slip often makes the parser stumble several times on its line. */
function firstPerLine(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<number>()
  return problems.filter(({ place }) => !seen.has(place.line) && seen.add(place.line))
}

/** In our own words: the parser's quote the source. */
const SYNTAX: { readonly [C in ErrorCode]?: { readonly what: string; readonly fix: string } } = {
  TAB_AS_INDENT: { what: 'a tab is used as indentation', fix: 'indent with spaces' },
  BAD_INDENT: {
    what: 'the indentation does not fit, or a bracket is not closed',
    fix: 'line the entry up with its neighbours, or close the bracket',
  },
  MISSING_CHAR: {
    what: 'a closing quote, a comma, a colon or the space after it is missing',
    fix: 'check the text here and just above',
  },
  BAD_SCALAR_START: { what: 'a value begins with a character that YAML reserves', fix: 'put the value in quotes' },
  BLOCK_AS_IMPLICIT_KEY: {
    what: 'a mapping begins in the middle of a line',
    fix: 'put a value that has ": " in it in quotes, or check the indentation',
  },
  MULTILINE_IMPLICIT_KEY: { what: 'a line has no key', fix: 'write it as "key: value", or check the indentation' },
  BAD_DQ_ESCAPE: {
    what: 'a backslash inside double quotes begins no known escape',
    fix: 'double the backslash, or use single quotes',
  },
  UNEXPECTED_TOKEN: {
    what: 'something stands where YAML does not expect it',
    fix: `put a value that has { } [ ] or a comma in it in quotes: "\${NAME}"`,
  },
  TAG_RESOLVE_FAILED: { what: 'a value begins with ! and is read as a YAML tag', fix: 'put the value in quotes' },
  MULTIPLE_DOCS: { what: 'a second document begins (---)', fix: 'keep one document per file' },
  NON_STRING_KEY: { what: 'a key is not plain text', fix: 'write it as "key: value"' },
}
