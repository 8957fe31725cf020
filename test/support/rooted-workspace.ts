/** A workspace next to a folder that must never be read or written. */

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { createRootedFiles } from '../../src/adapters/envs/host/rooted-files.ts'
import { createRootedFolders } from '../../src/adapters/envs/host/rooted-folders.ts'

/** A workspace `ws` beside `ws-evil`, which must never be read or written. */
export function makeWorkspace() {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-files-')))
  const root = join(base, 'ws')
  const evil = join(base, 'ws-evil')
  fs.mkdirSync(root)
  fs.mkdirSync(evil)
  fs.writeFileSync(join(evil, 'secret'), 'secret')
  return { base, root, evil, [Symbol.dispose]: () => fs.rmSync(base, { recursive: true, force: true }) }
}

export const sha = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

/** With open folders through /proc, and by plain paths as on systems without it. */
export const VARIANTS = [
  { name: 'anchored', of: (root: string) => createRootedFiles(root), skip: !fs.existsSync('/proc/self/fd') },
  { name: 'by path', of: (root: string) => createRootedFiles(root, createRootedFolders(root, false)), skip: false },
]
