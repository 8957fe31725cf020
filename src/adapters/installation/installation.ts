/**
 * Where this program is installed, and which of its versions runs. npm installs one version; `upgrade` puts others
 * into `versions/` of that package's folder. The file `versions/current.json` selects one of them, by a rename.
 */

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { replaceFile } from '../../files/whole-files.ts'

/** In a checkout, `git pull` upgrades the program; only a package has versions. */
export type Installation =
  | { readonly kind: 'checkout'; readonly root: string; readonly version: string }
  | {
      readonly kind: 'package'
      /** The package's folder as npm made it. */
      readonly root: string
      readonly versions: string
      /** Folder in `versions` of the version that runs now; null: the version that npm installed. */
      readonly folder: string | null
      readonly version: string
    }

export type InstalledPackage = Extract<Installation, { kind: 'package' }>

const NAME = 'tireless'
export const ENTRY = join('bin', 'tireless.cjs')

/** The folder of the running program; it is the same from the sources and from the compiled package. */
const OWN_ROOT = join(import.meta.dirname, '../../..')

export function findInstallation(ownRoot = OWN_ROOT): Installation {
  const version = String(readManifest(ownRoot)?.version ?? 'unknown')
  if (!existsSync(join(ownRoot, ENTRY))) return { kind: 'checkout', root: ownRoot, version }
  const folder = dirname(dirname(ownRoot))
  const versions = dirname(folder)
  const isUpgraded = basename(versions) === 'versions' && readManifest(dirname(versions))?.name === NAME
  return isUpgraded
    ? { kind: 'package', root: dirname(versions), versions, folder: basename(folder), version }
    : { kind: 'package', root: ownRoot, versions: join(ownRoot, 'versions'), folder: null, version }
}

interface Manifest {
  readonly name?: unknown
  readonly version?: unknown
}

/** Contract: undefined if there is no readable package.json. */
export function readManifest(folder: string): Manifest | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return typeof read === 'object' && read !== null ? read : undefined
  } catch {
    return undefined
  }
}

/** Contract: the words that start the selected version of this installation, also after later upgrades. */
export function programWords(installation: Installation, node: string): readonly string[] {
  return installation.kind === 'checkout'
    ? [join(installation.root, 'bin', NAME)]
    : [node, join(installation.root, ENTRY)]
}

/** The folder of the package inside an entry of `versions`. */
export const packageIn = (folder: string): string => join(folder, 'node_modules', NAME)

export const MAIN = join('lib', 'cli', 'main.js')

/**
 * Contract: arguments of Node that run exactly this version. The start file of the version that npm installed would
 * run the selected one instead.
 */
export function nodeArguments({ root, versions }: InstalledPackage, folder: string | null): readonly string[] {
  return folder === null
    ? ['--disable-warning=ExperimentalWarning', join(root, MAIN)]
    : [join(packageIn(join(versions, folder)), ENTRY)]
}

/** The content of `versions/current.json`. The start file of the package reads `folder`. */
export interface Selection {
  /** Null: the version that npm installed. */
  readonly folder: string | null
  readonly version: string
  readonly switched_at: string
  /** What the last upgrade replaced; null: there is nothing to go back to. */
  readonly previous: PreviousVersion | null
}

interface PreviousVersion {
  readonly folder: string | null
  readonly version: string
  /** The newest schema of a database that this version can open. */
  readonly schema: number
  readonly home: string
  /** Backup of that home, made by this version; null: the home did not exist. */
  readonly backup: string | null
}

const selectionFile = (versions: string): string => join(versions, 'current.json')

export function readSelection(versions: string): Selection | undefined {
  try {
    return JSON.parse(readFileSync(selectionFile(versions), 'utf8')) as Selection
  } catch {
    return undefined
  }
}

/** Contract: all or nothing, also if the machine loses power. */
export function writeSelection(versions: string, selection: Selection): void {
  replaceFile(selectionFile(versions), `${JSON.stringify(selection, null, 2)}\n`, { mode: 0o644 })
}
