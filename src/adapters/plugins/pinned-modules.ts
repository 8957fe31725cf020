/**
 * Imports modules of plugins from the bytes that were hashed, not from the disk. A module of a plugin can import files
 * of the same plugin, packages below its folder, modules of Node, and the program's own `tireless` and `zod`.
 */

import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { isBuiltin, registerHooks } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { TirelessError } from '../../domain/error.ts'
import { pluginLabel } from '../../domain/plugin-manifest.ts'
import { resolvePackageFile } from './resolve-package.ts'

interface PinnedPlugin {
  readonly name: string
  readonly root: string
  readonly files: ReadonlyMap<string, Buffer>
  readonly digest: string
}

/** Addresses of modules that every plugin can import, by name. */
type SharedModules = Readonly<Record<string, string>>

type ResolveHook = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>
type LoadHook = NonNullable<Parameters<typeof registerHooks>[0]['load']>

/** By the value of `MARK` in the addresses of their modules: equal files in two folders are two plugins. */
const pinned = new Map<string, PinnedPlugin>()
/** Folders whose modules import the program's own copies, and anything else as usual. */
const ownerFolders = new Set<string>()
/** Part of the address of a plugin's module: another version of the plugin has other addresses. */
const MARK = 'tireless-plugin'

/** Empty until the first import, which installs the hooks. */
const shared = new Map<string, string>()

function install(modules: SharedModules): void {
  if (shared.size === 0) registerHooks({ resolve: resolveModule, load: loadModule })
  for (const [name, address] of Object.entries(modules)) shared.set(name, address)
}

/** Contract: the exports of the plugin's module; throws what the module throws, or `plugin_invalid` for its imports. */
export async function importPinned(
  plugin: PinnedPlugin,
  entry: string,
  modules: SharedModules,
): Promise<Readonly<Record<string, unknown>>> {
  install(modules)
  pinned.set(markOf(plugin), plugin)
  return import(addressOf(plugin, entry))
}

/** Contract: imports a module of the owner; it and those beside it get the program's own `tireless` and `zod`. */
export async function importOwned(
  file: string,
  folder: string,
  modules: SharedModules,
): Promise<Readonly<Record<string, unknown>>> {
  install(modules)
  ownerFolders.add(folder)
  const { mtimeMs, size } = statSync(file)
  // A changed module has another address, because Node never loads an address twice.
  return import(`${pathToFileURL(file).href}?${mtimeMs}-${size}`)
}

const markOf = ({ root, digest }: PinnedPlugin): string => `${digest}-${hash('sha256', root).slice(0, 12)}`

function addressOf(plugin: PinnedPlugin, path: string): string {
  const address = pathToFileURL(join(plugin.root, path))
  address.searchParams.set(MARK, markOf(plugin))
  return address.href
}

const resolveModule: ResolveHook = (specifier, context, next) => {
  if (pluginAt(specifier)) return { url: specifier, shortCircuit: true }
  const parent = context.parentURL
  const plugin = parent === undefined ? undefined : pluginAt(parent)
  const own = shared.get(specifier)
  if (!plugin || parent === undefined) {
    const isOwners = parent?.startsWith('file:') && [...ownerFolders].some((folder) => isBelow(parent, folder))
    return own !== undefined && isOwners ? { url: own, shortCircuit: true } : next(specifier, context)
  }
  if (isBuiltin(specifier)) return next(specifier, context)
  if (own !== undefined) return { url: own, shortCircuit: true }
  const path = resolveInPlugin(plugin, specifier, parent, context.conditions)
  if (path === undefined) throw outsidePlugin(plugin, specifier, parent)
  return { url: addressOf(plugin, path), shortCircuit: true }
}

const loadModule: LoadHook = (url, context, next) => {
  const plugin = pluginAt(url)
  if (!plugin) return next(url, context)
  const path = pathIn(plugin, url)
  const source = plugin.files.get(path)
  if (!source) throw outsidePlugin(plugin, url, url)
  return { format: formatOf(plugin, path), source, shortCircuit: true }
}

function pluginAt(url: string): PinnedPlugin | undefined {
  if (!url.includes(MARK) || !URL.canParse(url)) return undefined
  return pinned.get(new URL(url).searchParams.get(MARK) ?? '')
}

const isBelow = (url: string, folder: string): boolean => fileURLToPath(url).startsWith(`${folder}/`)

const pathIn = ({ root }: PinnedPlugin, url: string): string => {
  const path = fileURLToPath(url)
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : ''
}

/** Contract: the file of the plugin that the import means; undefined if it has none. */
function resolveInPlugin(
  plugin: PinnedPlugin,
  specifier: string,
  parent: string,
  conditions: readonly string[],
): string | undefined {
  const isRelative = /^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..'
  if (!isRelative && !specifier.startsWith('file:'))
    return resolvePackageFile(plugin.files, specifier, pathIn(plugin, parent), conditions)
  const path = pathIn(plugin, new URL(specifier, parent).href.split('?')[0] ?? '')
  // `require` leaves out the extension, and the name of an index.
  const isRequire = conditions.includes('require')
  const candidates = isRequire ? [path, `${path}.js`, `${path}.cjs`, `${path}.json`, `${path}/index.js`] : [path]
  return candidates.find((candidate) => plugin.files.has(candidate))
}

const FORMATS: Readonly<Record<string, string>> = {
  ...{ '.ts': 'module-typescript', '.mts': 'module-typescript', '.cts': 'commonjs-typescript' },
  ...{ '.mjs': 'module', '.cjs': 'commonjs', '.json': 'json', '.wasm': 'wasm' },
}

/** As Node does it: the extension, then `type` of the nearest package.json. A plugin's own `.js` is an ES module. */
function formatOf({ files }: PinnedPlugin, path: string): string {
  const format = FORMATS[extname(path)]
  if (format !== undefined) return format
  for (let folder = path; folder.includes('/'); ) {
    folder = folder.slice(0, folder.lastIndexOf('/'))
    const about = files.get(`${folder}/package.json`)
    if (about) return typeOf(about) ?? 'commonjs'
  }
  const about = files.get('package.json')
  return (about && typeOf(about)) ?? 'module'
}

function typeOf(about: Buffer): string | undefined {
  try {
    const { type } = JSON.parse(about.toString('utf8')) as { readonly type?: unknown }
    return type === 'module' || type === 'commonjs' ? type : undefined
  } catch {
    return undefined
  }
}

const outsidePlugin = ({ name }: PinnedPlugin, specifier: string, parent: string): TirelessError =>
  new TirelessError('plugin_invalid', {
    ...{ what: 'the plugin imports a file that is not part of it', where: pluginLabel(name) },
    got: `${specifier} in ${fileURLToPath(parent.split('?')[0] ?? '')}`,
    expected: 'a file that you approved with it, a package below its folder, tireless, zod, or a module of Node',
    fix: 'put the file into the folder of the plugin, then run `tireless plugins approve`',
  })
