/** Finds exports that no other file imports. A name that is used only in its own file needs no `export`. */

import { posix } from 'node:path'
import { isNode, literalText, type ParsedFile, type SyntaxNode, visitNodes } from './parse.ts'

/** Stands for every name of a file: `import * as x`, `export * from`, or an `import()` that is passed on whole. */
const ALL = '*'

/** By the path of a file: the names that other files import from it. */
type ImportedNames = Map<string, Set<string>>

/**
 * `files`: everything that may import. `folders`: where exports are checked. `published`: files whose exports are for
 * users of the package.
 */
export function needlessExports(
  files: readonly ParsedFile[],
  folders: readonly string[],
  published: readonly string[],
): readonly string[] {
  const imported = importedNames(files)
  return files
    .filter(({ path }) => folders.some((folder) => path.startsWith(folder)) && !published.includes(path))
    .flatMap(({ path, root }) => {
      const used = imported.get(path) ?? new Set()
      const unused = used.has(ALL) ? [] : exportedNames(root).filter((name) => !used.has(name))
      return unused.map((name) => `${path} exports ${name}, which no other file imports; remove the word export`)
    })
}

function exportedNames(root: SyntaxNode): readonly string[] {
  const names = nodesIn(root.body).flatMap((statement) => {
    if (statement.type === 'ExportDefaultDeclaration') return ['default']
    if (statement.type !== 'ExportNamedDeclaration') return []
    const declared = isNode(statement.declaration) ? declaredNames(statement.declaration) : []
    return [...declared, ...nodesIn(statement.specifiers).map(({ exported }) => nameOf(exported))]
  })
  return [...new Set(names)]
}

function declaredNames(declaration: SyntaxNode): readonly string[] {
  if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration.id)]
  return nodesIn(declaration.declarations).flatMap(({ id }) =>
    isNode(id) && id.type === 'ObjectPattern' ? patternKeys(id) : [nameOf(id)],
  )
}

function importedNames(files: readonly ParsedFile[]): ImportedNames {
  const imported: ImportedNames = new Map()
  for (const file of files) {
    const add = (source: unknown, names: readonly string[]): void => {
      const specifier = isNode(source) ? literalText(source) : undefined
      if (!specifier?.startsWith('.')) return
      const target = posix.join(posix.dirname(file.path), specifier)
      imported.set(target, new Set([...(imported.get(target) ?? []), ...names]))
    }
    for (const statement of nodesIn(file.root.body)) addStatement(statement, add)
    // Only the few files with an `import()` are searched whole.
    if (/\bimport\s*\(/.test(file.source))
      visitNodes(file.root, (node, around) => {
        if (node.type === 'ImportExpression') add(node.source, loadedNames(around))
        if (node.type === 'TSImportType')
          add(node.source, [isNode(node.qualifier) ? leftmostName(node.qualifier) : ALL])
      })
  }
  return imported
}

function addStatement(statement: SyntaxNode, add: (source: unknown, names: readonly string[]) => void): void {
  const { type, source, specifiers } = statement
  if (type === 'ExportAllDeclaration') add(source, [ALL])
  if (type === 'ExportNamedDeclaration')
    add(
      source,
      nodesIn(specifiers).map(({ local }) => nameOf(local)),
    )
  if (type === 'ImportDeclaration') add(source, nodesIn(specifiers).map(importedName))
}

function importedName({ type, imported }: SyntaxNode): string {
  if (type === 'ImportSpecifier') return nameOf(imported)
  return type === 'ImportDefaultSpecifier' ? 'default' : ALL
}

/** The names taken from `await import(…)`: by `(await import(…)).name`, or by `const { name } = await import(…)`. */
function loadedNames(around: readonly SyntaxNode[]): readonly string[] {
  const [outer, awaited] = [around.at(-2), around.at(-1)]
  if (awaited?.type !== 'AwaitExpression') return [ALL]
  if (outer?.type === 'MemberExpression' && outer.computed !== true) return [nameOf(outer.property)]
  const isDestructured = outer?.type === 'VariableDeclarator' && isNode(outer.id) && outer.id.type === 'ObjectPattern'
  return isDestructured ? patternKeys(outer.id as SyntaxNode) : [ALL]
}

const patternKeys = (pattern: SyntaxNode): readonly string[] =>
  nodesIn(pattern.properties).map(({ key }) => (key === undefined ? ALL : nameOf(key)))

const leftmostName = (node: SyntaxNode): string => (isNode(node.left) ? leftmostName(node.left) : nameOf(node))

const nodesIn = (value: unknown): readonly SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : [])

const nameOf = (node: unknown): string => (isNode(node) ? String(node.name ?? node.value) : '')
