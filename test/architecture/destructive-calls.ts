/** Finds every place of the source that deletes or replaces something stored: docs/losses.md explains each. */

import { isNode, literalText, type ParsedFile, type SyntaxNode, visitNodes } from './parse.ts'

/** Functions of `node:fs` and of the program that remove or replace files. */
const CALLS = new Set([
  ...['rm', 'rmSync', 'unlink', 'unlinkSync', 'rmdir', 'rmdirSync', 'rename', 'renameSync'],
  ...['truncateSync', 'ftruncate', 'ftruncateSync', 'replaceFile', 'replaceKeptFile'],
])
const SQL = /\b(?:DELETE\s+FROM|DROP\s+TABLE|TRUNCATE)\s+["\w$…{]/

/** Contract: `path:function` of each place, sorted, once; `path` without `src/`. */
export function destructiveSites(files: readonly ParsedFile[]): readonly string[] {
  const sites = new Set<string>()
  for (const { path, root } of files) {
    if (!path.startsWith('src/') || path.endsWith('.test.ts') || path.startsWith('src/testing/')) continue
    visitNodes(root, (node, around) => {
      if (isDestructive(node)) sites.add(`${path.slice('src/'.length)}:${nameAround(around)}`)
    })
  }
  return [...sites].toSorted()
}

function isDestructive(node: SyntaxNode): boolean {
  if (node.type === 'CallExpression' && isNode(node.callee)) {
    const { callee } = node
    const named = callee.type === 'MemberExpression' ? callee.property : callee
    // A parameter or member of another kind, such as `map.rename`, is no call of node:fs, but reads like one.
    return isNode(named) && typeof named.name === 'string' && CALLS.has(named.name)
  }
  const text = literalText(node)
  return text !== undefined && SQL.test(text)
}

/** The outermost named function, class member or constant that contains the place. */
function nameAround(around: readonly SyntaxNode[]): string {
  const names = around.flatMap((node) => {
    if (node.type === 'ClassDeclaration') return []
    const name = [node.id, node.key].find(isNode)?.name
    return typeof name === 'string' ? [name] : []
  })
  return names[0] ?? '(file)'
}

/** Contract: the sites that the last column of the table names. */
export function explainedSites(page: string): readonly string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'))
  return rows.flatMap((row) => {
    const last = row.split(' | ').at(-1) ?? ''
    return [...last.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
  })
}
