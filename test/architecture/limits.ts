/**
 * The limits on size: lines of a function and of a file, parameters of a function. A function is counted from its first
 * to its last line, with the functions inside it. The callback of `describe` is a container of tests and not counted.
 */

import { isNode, type ParsedFile, type SyntaxNode, visitNodes } from './parse.ts'

export type Measure = 'function' | 'parameters' | 'file'

export interface Measured {
  readonly measure: Measure
  /** The file, and for a function its line and name. */
  readonly where: string
  readonly size: number
}

export const LIMITS: Readonly<Record<Measure, number>> = { function: 60, parameters: 5, file: 300 }

const UNITS: Readonly<Record<Measure, string>> = { function: 'lines', parameters: 'parameters', file: 'lines' }

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const SIGNATURES = new Set([
  ...FUNCTIONS,
  ...['TSDeclareFunction', 'TSEmptyBodyFunctionExpression', 'TSFunctionType', 'TSConstructorType', 'TSMethodSignature'],
  ...['TSCallSignatureDeclaration', 'TSConstructSignatureDeclaration'],
])

/** Every function, parameter list and file, unordered. */
export function measureFiles(files: readonly ParsedFile[]): readonly Measured[] {
  return files.flatMap((file) => [
    { measure: 'file', where: file.path, size: file.source.replace(/\n$/, '').split('\n').length },
    ...measureFunctions(file),
  ])
}

function measureFunctions({ path, source, root }: ParsedFile): readonly Measured[] {
  const found: Measured[] = []
  const lineAt = lineFinder(source)
  visitNodes(root, (node, around) => {
    if (!SIGNATURES.has(node.type)) return
    const parent = around.at(-1)
    const where = `${path}:${lineAt(node.start)} ${nameOf(node, parent)}`
    if (Array.isArray(node.params)) found.push({ measure: 'parameters', where, size: node.params.length })
    if (!FUNCTIONS.has(node.type) || isDescribe(parent)) return
    const size = lineAt(node.end) - lineAt(startOf(node, parent)) + 1
    found.push({ measure: 'function', where, size })
  })
  return found
}

/** Finds the line of a position, many times faster than `lineAt` of `source.ts` where a file has many of them. */
function lineFinder(source: string): (index: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (index) => {
    let low = 0
    for (let high = starts.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A method starts with its name, not with its parameters. */
function startOf(node: SyntaxNode, parent: SyntaxNode | undefined): number {
  return parent?.type === 'MethodDefinition' || parent?.method === true ? parent.start : node.start
}

function isDescribe(call: SyntaxNode | undefined): boolean {
  return call?.type === 'CallExpression' && isNode(call.callee) && call.callee.name === 'describe'
}

function nameOf(node: SyntaxNode, parent: SyntaxNode | undefined): string {
  const name = [node.id, node.key, parent?.id, parent?.key].find(isNode)?.name
  return typeof name === 'string' ? name : '(anonymous)'
}

export function overLimit(measured: readonly Measured[]): readonly string[] {
  return measured
    .filter(({ measure, size }) => size > LIMITS[measure])
    .map(({ measure, where, size }) => `${where} has ${size} ${UNITS[measure]}; the limit is ${LIMITS[measure]}`)
}

/** One line for each measure: its largest value and where it is. */
export function largest(measured: readonly Measured[]): readonly string[] {
  return (['function', 'parameters', 'file'] as const).map((measure) => {
    const [first] = measured.filter((one) => one.measure === measure).sort((a, b) => b.size - a.size)
    const what = measure === 'parameters' ? 'longest parameter list' : `longest ${measure}`
    return `${what}: ${first?.size ?? 0} ${UNITS[measure]}, ${first?.where ?? 'none'} (limit ${LIMITS[measure]})`
  })
}
