/** Small file systems for tests, mounted in a mount namespace of their own, so that nothing of them stays. */

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export type DiskKind = 'tmpfs' | 'ext4'

/** Run a program behind these words: it may mount file systems, which end with it. */
export const OWN_MOUNTS = process.getuid?.() === 0 ? ['unshare', '-m'] : ['unshare', '-Urm']

/** Why a test with this file system cannot run here; false: it can. */
export function whyNoDisk(kind: DiskKind): string | false {
  const [program = '', ...words] = OWN_MOUNTS
  const needed =
    kind === 'tmpfs' ? 'mount -t tmpfs tmpfs /mnt' : 'test $(id -u) = 0 && mkfs.ext4 -V && test -e /dev/loop-control'
  const { status } = spawnSync(program, [...words, 'sh', '-c', needed])
  return status === 0
    ? false
    : kind === 'tmpfs'
      ? 'nothing can be mounted here'
      : 'no root, no mkfs.ext4 or no loop device'
}

const SIZE_MB = 24

/** Contract: `at` is an empty file system with blocks of 4 KB (tmpfs) or 1 KB (ext4). Call it behind OWN_MOUNTS. */
export function mountSmallDisk(kind: DiskKind, at: string): void {
  if (kind === 'tmpfs') {
    run('mount', '-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', at)
    return
  }
  const image = `${at}.image`
  run('truncate', '-s', `${SIZE_MB}M`, image)
  run('mkfs.ext4', '-q', '-b', '1024', '-m', '0', image)
  run('mount', '-o', 'loop', image, at)
}

function run(program: string, ...words: readonly string[]): void {
  const { status, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
}

const FILLER = 'filler'

/** Fills the disk until only `free` bytes are left; call the result to free it again. */
export function fillDisk(disk: string, free: number): () => void {
  const file = join(disk, FILLER)
  const handle = openSync(file, 'w')
  const left = (): number => {
    const { bavail, bsize } = statfsSync(disk)
    return bavail * bsize
  }
  try {
    for (let blocks = Buffer.alloc(64 * 1024); left() > free && blocks.length > 0; )
      if (left() - free < blocks.length) blocks = blocks.subarray(0, Math.floor(blocks.length / 2))
      else writeSync(handle, blocks)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown
  } finally {
    closeSync(handle)
  }
  return () => rmSync(file)
}
