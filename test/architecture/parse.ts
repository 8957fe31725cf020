/**
 * The syntax tree of a source file, for checks that need more than the scanner of `source.ts`. Vite's parser is used,
 * because TypeScript 7 has no compiler API in its main export.
 */

import { parseSync } from 'vite'
import type { Tree } from './check.ts'

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface ParsedFile {
  readonly path: string
  readonly source: string
  readonly root: SyntaxNode
  readonly comments: readonly string[]
}

/** Contract: throws if a file has a syntax error. */
export function parseTree(tree: Tree): readonly ParsedFile[] {
  return [...tree].map(([path, source]) => {
    const { program, comments, errors } = parseSync(path, source)
    if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`)
    const root: unknown = program
    if (!isNode(root)) throw new TypeError(`${path}: the parser returned no tree`)
    return { path, source, root, comments: comments.map(({ value }) => value) }
  })
}

/** Calls `visit` for `node` and each node below it. `around`: the nodes that contain it, the nearest last. */
export function visitNodes(
  node: SyntaxNode,
  visit: (node: SyntaxNode, around: readonly SyntaxNode[]) => void,
  around: SyntaxNode[] = [],
): void {
  visit(node, around)
  around.push(node)
  for (const name in node) {
    const value = node[name]
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) visitNodes(child, visit, around)
    } else if (isNode(value)) visitNodes(value, visit, around)
  }
  around.pop()
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The text of a string or template literal, with `…` for each expression in it. */
export function literalText(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return undefined
  return node.quasis.map(({ value }) => String(value.cooked)).join('…')
}
