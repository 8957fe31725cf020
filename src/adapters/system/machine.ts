/** Facts about the machine: Node version, programs on the PATH, disks, file permissions. */

import { accessSync, constants, statSync } from 'node:fs'
import { chmod, lstat, statfs } from 'node:fs/promises'
import { delimiter, dirname, join, resolve } from 'node:path'

/** Equals `engines` in package.json; a test compares them. */
export const REQUIRED_NODE = '24.16'

export function checkNodeVersion(): { readonly got: string; readonly needed: string; readonly ok: boolean } {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = REQUIRED_NODE.split('.').map(Number)
  const ok = major > neededMajor || (major === neededMajor && minor >= neededMinor)
  return { got: process.versions.node, needed: REQUIRED_NODE, ok }
}

/** Contract: the program's file; undefined if it is not on `path`. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return statSync(file).isFile()
      } catch {
        return false
      }
    })
}

/** Contract: expands `~/x` with the folder `user`; resolves other paths from `base`. */
export function expandPath(path: string, base: string, user: string): string {
  return path === '~' || path.startsWith('~/') ? join(user, path.slice(1)) : resolve(base, path)
}

/** Contract: the root of the git work tree that contains the folder. */
export async function findWorkTree(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await lstat(join(at, '.git')).catch(() => undefined)
    if (found) return at
    if (dirname(at) === at) return undefined
  }
}

/** Network file systems by their magic number on Linux; other systems use other numbers. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x73757245, 'Coda'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
])

/** Contract: `network` names a network file system; undefined if the file system is local or unknown. */
export async function readDisk(
  folder: string,
): Promise<{ readonly freeBytes: number; readonly network: string | undefined }> {
  const { bavail, bsize, type } = await statfs(folder)
  return { freeBytes: bavail * bsize, network: process.platform === 'linux' ? NETWORK.get(type >>> 0) : undefined }
}

interface ExposedPath {
  readonly path: string
  readonly mode: number
  readonly wanted: number
  /** True if another user owns the path. */
  readonly foreign: boolean
}

/** Contract: the existing paths that other users can access or own. */
export async function findExposedPaths(
  parts: readonly { readonly path: string; readonly mode: number }[],
): Promise<readonly ExposedPath[]> {
  const ownUid = process.getuid?.()
  const found = await Promise.all(
    parts.map(async ({ path, mode: wanted }) => {
      const stat = await lstat(path).catch(() => undefined)
      return stat && { path, mode: stat.mode & 0o777, wanted, foreign: ownUid !== undefined && stat.uid !== ownUid }
    }),
  )
  return found.filter((part) => part !== undefined).filter(({ mode, foreign }) => (mode & 0o077) !== 0 || foreign)
}

export async function restrictMode({ path, wanted }: ExposedPath): Promise<void> {
  await chmod(path, wanted)
}
