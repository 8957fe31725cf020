/** Asks npm for the package: which version there is, and to install one. npm's own settings say from which registry. */

import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { ENTRY, MAIN, packageIn, readManifest } from './installation.ts'
import { lastWords, type ProgramOptions, type RunProgram } from './run-program.ts'

const NAME = 'tireless'
const INSTALL_MS = 15 * 60_000
const ASK_MS = 60_000

/** What npm is to install: a file, or a version in the registry. */
export interface PackageSource {
  readonly spec: string
  readonly isFile: boolean
}

/** `from`: a tarball, a version or a tag; undefined: the newest version in the registry. */
export function packageSource(from: string | undefined): PackageSource {
  const looksLikeFile = from !== undefined && (/\.(tgz|tar\.gz)$/i.test(from) || /[/\\]/.test(from))
  if (!looksLikeFile) {
    if (from !== undefined && !/^[\w.+-]+$/.test(from))
      throw new TirelessError('usage', {
        ...{ what: 'this is neither a tarball nor a version', where: '--from', got: from },
        expected: 'a file such as tireless-0.2.0.tgz, or a version such as 0.2.0',
      })
    return { spec: `${NAME}@${from ?? 'latest'}`, isFile: false }
  }
  const file = resolve(from)
  if (existsSync(file)) return { spec: file, isFile: true }
  throw new TirelessError('not_found', {
    ...{ what: 'there is no such tarball', where: '--from', got: file },
    fix: 'name the .tgz file that you downloaded or packed',
  })
}

/** Contract: the version that `source` would install; throws if npm cannot tell. */
export async function availableVersion(
  source: PackageSource,
  run: RunProgram,
  options: ProgramOptions,
): Promise<string> {
  const args = source.isFile
    ? ['pack', source.spec, '--dry-run', '--json', '--ignore-scripts']
    : ['view', source.spec, 'version', '--json']
  const result = await run('npm', args, { ...options, timeoutMs: ASK_MS })
  if (result.exit !== 0) throw npmFailed('npm could not read the package', lastWords(result))
  const read: unknown = JSON.parse(result.stdout || 'null')
  const version = source.isFile ? (read as { version?: unknown }[] | null)?.[0]?.version : read
  if (typeof version === 'string') return version
  throw npmFailed('npm named no version', result.stdout.trim() || 'nothing')
}

/** Contract: the version that now stands in `folder`; throws if that is not a complete package of this program. */
export async function installPackage(
  { spec }: PackageSource,
  folder: string,
  run: RunProgram,
  options: ProgramOptions,
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--omit=dev', '--loglevel=error']
  // Scripts of packages are not needed, and would run before the copy of the home was tried.
  const args = ['install', '--global=false', '--prefix', folder, '--ignore-scripts', ...quiet, spec]
  const result = await run('npm', args, { ...options, timeoutMs: INSTALL_MS })
  if (result.exit !== 0) throw npmFailed('npm could not install the new version', lastWords(result))
  const manifest = readManifest(packageIn(folder))
  const isComplete = [ENTRY, MAIN].every((file) => existsSync(join(packageIn(folder), file)))
  if (manifest?.name === NAME && typeof manifest.version === 'string' && isComplete) return manifest.version
  throw npmFailed('the package is not this program, or not complete', spec)
}

const npmFailed = (what: string, got: string): TirelessError =>
  new TirelessError('conflict', {
    ...{ what: `${what}; nothing was changed`, got },
    fix: 'check the file or the version, the network, npm and the free disk space, then run it again',
  })

/** Contract: whether version `a` comes after `b`; a pre-release comes before its release. */
export function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => {
    const [numbers = '', suffix] = (version.split('+')[0] ?? '').split(/-(.*)/s)
    return { numbers: numbers.split('.').map(Number), suffix }
  })
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.numbers[i] ?? 0) - (right?.numbers[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  if (left?.suffix === undefined || right?.suffix === undefined)
    return left?.suffix === undefined && right?.suffix !== undefined
  return left.suffix.localeCompare(right.suffix, 'en', { numeric: true }) > 0
}
