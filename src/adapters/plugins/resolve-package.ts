/** Resolves packages among the files of a plugin, as Node does it on a disk. Pure. */

type Files = ReadonlyMap<string, Buffer>

/** Contract: the path of the file; undefined if the plugin has no such package, or the package no such file. */
export function resolvePackageFile(
  files: Files,
  specifier: string,
  from: string,
  conditions: readonly string[],
): string | undefined {
  const [, name = '', below = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? []
  const folder = foldersAbove(from)
    .map((above) => `${above}node_modules/${name}`)
    .find((candidate) => [...files.keys()].some((path) => path.startsWith(`${candidate}/`)))
  if (folder === undefined) return undefined
  const about = readAbout(files, `${folder}/package.json`)
  const wanted = about.exports === undefined ? undefined : exported(about.exports, `.${below}`, conditions)
  if (about.exports !== undefined) return existing(files, folder, wanted)
  if (below !== '') return existing(files, folder, `.${below}`, conditions)
  return existing(files, folder, typeof about.main === 'string' ? about.main : 'index.js', conditions)
}

/** The folders that contain the file, nearest first, each with a slash at its end. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return [...parts.map((_, i) => `${parts.slice(0, parts.length - i).join('/')}/`), '']
}

function readAbout(files: Files, path: string): { readonly exports?: unknown; readonly main?: unknown } {
  try {
    return JSON.parse(files.get(path)?.toString('utf8') ?? '{}')
  } catch {
    return {}
  }
}

function existing(files: Files, folder: string, file: string | undefined, conditions: readonly string[] = []) {
  if (file === undefined) return undefined
  const path = `${folder}/${file.replace(/^\.\//, '')}`
  const isLoose = conditions.length > 0
  return [path, ...(isLoose ? [`${path}.js`, `${path}.cjs`, `${path}/index.js`] : [])].find((at) => files.has(at))
}

/** The target of a subpath in `exports`: conditions in their order, subpaths, and patterns with one `*`. */
function exported(exports: unknown, subpath: string, conditions: readonly string[]): string | undefined {
  const isMap = isMapping(exports) && Object.keys(exports).some((key) => key.startsWith('.'))
  if (!isMap) return subpath === '.' ? target(exports, conditions, '') : undefined
  if (Object.hasOwn(exports, subpath)) return target(exports[subpath], conditions, '')
  for (const [key, value] of Object.entries(exports)) {
    const [start, end, ...more] = key.split('*')
    if (start === undefined || end === undefined || more.length > 0) continue
    if (subpath.startsWith(start) && subpath.endsWith(end) && subpath.length >= start.length + end.length)
      return target(value, conditions, subpath.slice(start.length, subpath.length - end.length))
  }
  return undefined
}

function target(value: unknown, conditions: readonly string[], star: string): string | undefined {
  if (typeof value === 'string') return value.replaceAll('*', star)
  if (Array.isArray(value))
    return value.map((each) => target(each, conditions, star)).find((each) => each !== undefined)
  if (!isMapping(value)) return undefined
  for (const [condition, inner] of Object.entries(value))
    if (condition === 'default' || conditions.includes(condition)) {
      const found = target(inner, conditions, star)
      if (found !== undefined) return found
    }
  return undefined
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
