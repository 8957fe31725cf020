/** The rules, read from the two tables of ARCHITECTURE.md: which folder may import which, and which file owns what. */

export interface Owned {
  readonly what: string
  /** As written in the table: `process.env`, `new Date()`, `import node:sqlite`. */
  readonly looks: readonly string[]
  readonly owners: readonly string[]
}

export interface Rules {
  /** By unit (see `unitOf`); `adapters/*` stands for each adapter. */
  readonly arrows: ReadonlyMap<string, readonly string[]>
  readonly owned: readonly Owned[]
  /** Files that may run code when they are loaded. */
  readonly entries: readonly string[]
}

export function readRules(markdown: string): Rules {
  const arrows = new Map<string, readonly string[]>()
  for (const [folders = '', allowed = ''] of table(markdown, ['folder', 'may import'])) {
    for (const folder of names(folders)) arrows.set(folder, allowed === 'nothing' ? [] : names(allowed))
  }
  const rows = table(markdown, ['what', 'looks like', 'owner'])
  const owned = rows.map(([what = '', looks = '', owners = '']) => ({
    what,
    looks: [...looks.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    owners: names(owners),
  }))
  return {
    arrows,
    owned: owned.filter(({ looks }) => looks.length > 0),
    entries: owned.filter(({ looks }) => looks.length === 0).flatMap(({ owners }) => owners),
  }
}

function names(cell: string): readonly string[] {
  return cell.split(',').map((name) => name.replaceAll('`', '').trim())
}

function table(markdown: string, header: readonly string[]): readonly (readonly string[])[] {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => cells(line).join('|') === header.join('|'))
  if (start < 0) throw new Error(`ARCHITECTURE.md has no table with the columns ${header.join(', ')}`)
  const body = lines.slice(start + 2)
  const end = body.findIndex((line) => !line.startsWith('|'))
  return body.slice(0, end < 0 ? body.length : end).map(cells)
}

function cells(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

/** The unit of a file of src: its top folder, its own name at the top level, and one level more for adapters. */
export function unitOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  const room = (name: string): string => name.replace(/\.ts$/, '')
  return first === 'adapters' ? `adapters/${room(second)}` : room(first)
}

/** `folder/` owns everything below it, `*-main.ts` every file of that name pattern, anything else one file. */
export function isAmong(path: string, owners: readonly string[]): boolean {
  return owners.some((owner) => {
    if (owner.endsWith('/')) return path.startsWith(owner)
    return owner.startsWith('*') ? path.endsWith(owner.slice(1)) : path === owner
  })
}

export const isTest = (path: string): boolean => path.endsWith('.test.ts')
