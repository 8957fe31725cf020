/** Checks a tree of sources against the rules. Pure: the tree is a map from path (below src) to text. */

import { posix } from 'node:path'
import { isAmong, isTest, type Rules, unitOf } from './rules.ts'
import { codeOnly, importsOf, lineAt, topLevelEffects, withoutTypes } from './source.ts'

export type Tree = ReadonlyMap<string, string>

/** Folders whose files open with a comment: their job, what they must not know, and their invariants. */
const WITH_HEADER = ['kernel/', 'engine/', 'host/', 'policy/']

export function violations(tree: Tree, rules: Rules): readonly string[] {
  const sources = [...tree].filter(([path]) => !isTest(path))
  const whole = sources.filter(([, source]) => syntaxViolations(source))
  return [
    ...sources.filter(([, source]) => !syntaxViolations(source)).map(([path]) => `${path}: is not erasable TypeScript`),
    ...unknownNames(rules),
    ...sources.flatMap(([path, source]) => importViolations(path, source, rules)),
    ...whole.flatMap(([path, source]) => ownershipViolations(path, source, rules)),
    ...whole.flatMap(([path, source]) => effects(path, source, rules)),
    ...sources.flatMap(([path, source]) => missingHeader(path, source)),
    ...cycles(new Map(whole)),
    ...[...tree].flatMap(([path, source]) => moduleMocks(path, source)),
  ]
}

function syntaxViolations(source: string): boolean {
  try {
    withoutTypes(source)
    return true
  } catch {
    return false
  }
}

function unknownNames({ arrows }: Rules): readonly string[] {
  const named = [...arrows].flatMap(([folder, allowed]) => allowed.map((name) => ({ folder, name })))
  return named
    .filter(({ name }) => !isNamed(name, [...arrows.keys()]))
    .map(({ folder, name }) => `ARCHITECTURE.md: ${folder} may import "${name}", which has no row of its own`)
}

/** `adapters/*`, for `adapters/clock`. */
const familyOf = (unit: string): string => unit.replace(/\/.*/, '/*')

const isNamed = (unit: string, names: readonly string[]): boolean =>
  names.includes(unit) || names.includes(familyOf(unit))

function importViolations(path: string, source: string, { arrows }: Rules): readonly string[] {
  const from = unitOf(path)
  const allowed = arrows.get(from) ?? arrows.get(familyOf(from))
  if (allowed === undefined) return [`${path}: "${from}" has no row in the table of ARCHITECTURE.md`]
  return importsOf(source).flatMap(({ specifier, line }) => {
    const at = `${path}:${line} imports ${specifier}`
    if (!specifier.startsWith('.')) return arrows.get(from)?.length === 0 ? [`${at}; ${from} may import nothing`] : []
    const target = posix.join(posix.dirname(path), specifier)
    if (target.startsWith('../')) return [`${at}, which is outside src`]
    if (isTest(target)) return [`${at}, which is a test`]
    const to = unitOf(target)
    if (to === from || isNamed(to, allowed)) return []
    return [`${at}; ${from} may import ${allowed.join(', ') || 'nothing'}`]
  })
}

function ownershipViolations(path: string, source: string, { owned }: Rules): readonly string[] {
  const code = codeOnly(withoutTypes(source)).replace(/\b(?:globalThis|crypto)\s*\.\s*/g, (match) =>
    ' '.repeat(match.length),
  )
  const imports = importsOf(source)
  return owned
    .filter(({ owners }) => !isAmong(path, owners))
    .flatMap(({ what, looks, owners }) =>
      looks.flatMap((look) => {
        const lines = look.startsWith('import ')
          ? imports
              .filter(({ specifier }) => isPackage(belowSrc(path, specifier), look.slice('import '.length)))
              .map(({ line }) => line)
          : [...code.matchAll(patternOf(look))].map(({ index }) => lineAt(code, index))
        return lines.map((line) => `${path}:${line} uses ${look}; ${what} belongs to ${owners.join(', ')}`)
      }),
    )
}

/** `@scope/*` means all of a scope; a package's name means its sub-paths too. */
/** A relative import as the path below src; a package as it is. */
const belowSrc = (path: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier

function isPackage(specifier: string, name: string): boolean {
  const stem = name.replace(/\/\*$/, '')
  return specifier === stem || specifier.startsWith(`${stem}/`)
}

function patternOf(look: string): RegExp {
  const words = look.replaceAll('()', ' ( )').split(/(\.|\s+|\(|\))/)
  const parts = words.filter((word) => word.trim() !== '').map((word) => word.replace(/[.()$]/g, '\\$&'))
  // A look that starts with a dot is a method, of whatever object.
  const before = look.startsWith('.') ? '' : '(?<![.\\w$])'
  return new RegExp(`${before}${parts.join('\\s*')}(?![\\w$])`, 'g')
}

function effects(path: string, source: string, { entries }: Rules): readonly string[] {
  if (isAmong(path, entries)) return []
  const bare = importsOf(source).filter(({ form }) => form === 'bare')
  return [
    ...bare.map(({ specifier, line }) => `${path}:${line} imports ${specifier} for its effects`),
    ...topLevelEffects(source).map((line) => `${path}:${line} runs code when the file is loaded`),
  ]
}

function missingHeader(path: string, source: string): readonly string[] {
  if (!isAmong(path, WITH_HEADER) || /^\s*\/[/*]/.test(source)) return []
  return [`${path}: does not open with a comment that states its job`]
}

function moduleMocks(path: string, source: string): readonly string[] {
  const mocks = [...codeOnly(source).matchAll(/\bmock\s*\.\s*module\b/g)]
  return mocks.map(({ index }) => `${path}:${lineAt(source, index)} mocks a module; add a port instead`)
}

/** Imports that exist at run time. `import()` runs later, so it closes no import cycle. */
function cycles(tree: Tree): readonly string[] {
  const found = new Set<string>()
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const seen = trail.indexOf(path)
    if (seen >= 0) found.add(`import cycle: ${[...trail.slice(seen), path].join(' → ')}`)
    if (seen >= 0 || done.has(path)) return
    for (const target of valueImports(path, tree.get(path) ?? '')) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of tree.keys()) visit(path, [])
  return [...found]
}

function valueImports(path: string, source: string): readonly string[] {
  return importsOf(withoutTypes(source))
    .filter(({ specifier, form }) => specifier.startsWith('.') && form !== 'dynamic')
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
}
