/** YAML text → plain data with `${ENV}` expanded; for each path its position in the file and the variables used. */

import type { Alias, ErrorCode, ParsedNode, Scalar, YAMLMap } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { ErrorParts } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { type EnvVariables, type Expansion, expandVariables } from './expand-env.ts'
import { formatPath, type KeyPath, pathKey } from './key-path.ts'

export interface FilePosition {
  readonly line: number
  readonly column: number
}

export interface ConfigProblem extends ErrorParts {
  readonly position: FilePosition
}

export interface YamlReading {
  readonly data: Json
  /** The position of each path, by `pathKey(path)`. */
  readonly positions: ReadonlyMap<string, FilePosition>
  /** The variables used in a text, by `pathKey(path)`. */
  readonly variables: ReadonlyMap<string, readonly string[]>
  /** Paths whose value is unknown, because a variable is missing. */
  readonly faulty: ReadonlySet<string>
  readonly problems: readonly ConfigProblem[]
  /** False if the text is not YAML; then `data` is meaningless. */
  readonly isYaml: boolean
}

/** Results collected while walking the YAML tree. */
interface ReadState {
  readonly env: EnvVariables
  readonly positionAt: (offset: number) => FilePosition
  readonly resolveAlias: (alias: Alias.Parsed) => ParsedNode | undefined
  readonly positions: Map<string, FilePosition>
  readonly variables: Map<string, readonly string[]>
  readonly faulty: Set<string>
  readonly problems: ConfigProblem[]
}

/** Most aliases in one file: stops circular aliases and alias bombs. */
const MAX_ALIASES = 100

export function readYaml(source: string, env: EnvVariables): YamlReading {
  const lines = new LineCounter()
  // `prettyErrors` would quote the source, which may hold a secret.
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    stringKeys: true,
  })
  let aliases = 0
  const state: ReadState = {
    env,
    positionAt: (offset) => {
      const { line, col } = lines.linePos(offset)
      return { line, column: col }
    },
    resolveAlias: (alias) => {
      aliases += 1
      return aliases > MAX_ALIASES ? undefined : (alias.resolve(document) as ParsedNode | undefined)
    },
    positions: new Map(),
    variables: new Map(),
    faulty: new Set(),
    problems: [],
  }
  const syntaxErrors = firstPerLine(
    [...document.errors, ...document.warnings].map((error) => ({
      position: state.positionAt(error.pos[0]),
      ...(SYNTAX[error.code] ?? {
        what: `this is not YAML (${error.code})`,
        fix: 'check the text here and just above',
      }),
    })),
  )
  if (syntaxErrors.length > 0) return { ...state, data: null, problems: syntaxErrors, isYaml: false }
  return { ...state, data: readNode(state, document.contents, []), isYaml: true }
}

function readNode(state: ReadState, node: ParsedNode | null, path: KeyPath): Json {
  if (node === null) return null
  if (!state.positions.has(pathKey(path))) state.positions.set(pathKey(path), state.positionAt(node.range[0]))
  if (isAlias(node)) {
    const target = state.resolveAlias(node)
    if (target) return readNode(state, target, path)
    return markFaulty(state, node, path, 'an alias that is undefined, circular or too large', 'write the value itself')
  }
  if (isSeq(node)) return node.items.map((item, index) => readNode(state, item, [...path, index]))
  if (isMap(node)) return readMapping(state, node.items, path)
  return readScalar(state, node, path)
}

function readMapping(state: ReadState, pairs: YAMLMap.Parsed['items'], path: KeyPath): Json {
  const entries = new Map<string, Json>()
  for (const pair of pairs) {
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    const here = [...path, name]
    const first = state.positions.get(pathKey(here))
    if (entries.has(name)) {
      addProblem(state, pair.key, here, `the key appears twice, first on line ${first?.line}`, 'keep one of the two')
    } else if (name === '__proto__') {
      markFaulty(state, pair.key, here, 'a reserved word as a key', 'choose another name')
    } else {
      state.positions.set(pathKey(here), state.positionAt(pair.key.range[0]))
      entries.set(name, readNode(state, pair.value, here))
    }
  }
  return Object.fromEntries(entries)
}

function readScalar(state: ReadState, node: Scalar.Parsed, path: KeyPath): Json {
  const { value } = node
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'string') return readText(state, expandVariables(value, state.env), node, path)
  return markFaulty(state, node, path, 'neither text, a number, true, false nor null', 'put it in quotes')
}

function readText(state: ReadState, { text, names, faults }: Expansion, node: Scalar.Parsed, path: KeyPath): string {
  if (names.length > 0) state.variables.set(pathKey(path), names)
  for (const fault of faults) {
    if (fault.kind === 'malformed')
      markFaulty(
        state,
        node,
        path,
        `a \${ that is neither \${NAME} nor \${NAME:-default}`,
        `write $\${ for the text \${ itself`,
      )
    else
      markFaulty(
        state,
        node,
        path,
        `the environment variable ${fault.name} is not set`,
        `set ${fault.name}, or write \${${fault.name}:-default}`,
      )
  }
  return text
}

/** Marks the value as unknown, so that schema issues about it are ignored. */
function markFaulty(state: ReadState, node: ParsedNode, path: KeyPath, what: string, fix: string): null {
  state.faulty.add(pathKey(path))
  addProblem(state, node, path, what, fix)
  return null
}

function addProblem(state: ReadState, node: ParsedNode, path: KeyPath, what: string, fix: string): void {
  state.problems.push({ position: state.positionAt(node.range[0]), what: `${formatPath(path)}: ${what}`, fix })
}

/** The first problem of each line: one mistake often causes several parser errors on its line. */
function firstPerLine(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const seen = new Set<number>()
  return problems.filter(({ position }) => !seen.has(position.line) && seen.add(position.line))
}

/** Our own messages for parser errors: the parser's messages quote the source. */
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
    what: 'unexpected text for YAML',
    fix: `put a value that has { } [ ] or a comma in it in quotes: "\${NAME}"`,
  },
  TAG_RESOLVE_FAILED: { what: 'a value begins with ! and is read as a YAML tag', fix: 'put the value in quotes' },
  MULTIPLE_DOCS: { what: 'a second document begins (---)', fix: 'keep one document per file' },
  NON_STRING_KEY: { what: 'a key is not plain text', fix: 'write it as "key: value"' },
}
