/**
 * Stores blobs and trees in git's format without running git: no process is started, and git settings in the workspace
 * have no effect. The folder is a bare repository, so `git --git-dir` can show and compare snapshots. Writes are
 * synchronous: for small files the thread pool costs more than the write, and sessions that finish a step at the same
 * time can still share one database commit.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync, inflate } from 'node:zlib'

type EntryMode = '100644' | '100755' | '120000' | '40000'

export interface TreeEntry {
  readonly mode: EntryMode
  readonly name: Buffer
  readonly id: string
}

export interface ObjectStore {
  writeBlob(content: Buffer): string
  writeTree(entries: readonly TreeEntry[]): string
  readBlob(id: string): Promise<Buffer>
  readTree(id: string): Promise<readonly TreeEntry[]>
  /** Contract: removes every object that is not reachable from a tree in `roots`. */
  prune(roots: readonly string[]): Promise<void>
}

const FAST_COMPRESSION = { level: 1 }
const decompress = promisify(inflate)

export async function openObjectStore(folder: string): Promise<ObjectStore> {
  await mkdir(join(folder, 'objects'), { recursive: true, mode: 0o700 })
  await mkdir(join(folder, 'refs'), { recursive: true, mode: 0o700 })
  if (!existsSync(join(folder, 'HEAD'))) await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  const fileOf = (id: string): string => join(folder, 'objects', id.slice(0, 2), id.slice(2))

  function write(kind: 'blob' | 'tree', content: Buffer): string {
    const object = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])
    const id = createHash('sha1').update(object).digest('hex')
    const file = fileOf(id)
    if (existsSync(file)) return id
    if (!existsSync(dirname(file))) mkdirSync(dirname(file), { mode: 0o700 })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, deflateSync(object, FAST_COMPRESSION), { mode: 0o600 })
    renameSync(draft, file)
    return id
  }

  async function read(id: string): Promise<Buffer> {
    const object = await decompress(await readFile(fileOf(id)))
    return object.subarray(object.indexOf(0) + 1)
  }

  async function readTree(id: string): Promise<readonly TreeEntry[]> {
    return decodeTree(await read(id))
  }

  async function markReachable(id: string, reached: Set<string>): Promise<void> {
    if (reached.has(id)) return
    reached.add(id)
    for (const entry of await readTree(id)) {
      if (entry.mode === '40000') await markReachable(entry.id, reached)
      else reached.add(entry.id)
    }
  }

  return {
    writeBlob: (content) => write('blob', content),
    writeTree: (entries) => write('tree', encodeTree(entries)),
    readBlob: read,
    readTree,
    async prune(roots) {
      const reached = new Set<string>()
      for (const root of roots) await markReachable(root, reached)
      const objects = join(folder, 'objects')
      for (const start of await readdir(objects)) {
        for (const rest of await readdir(join(objects, start)))
          if (!reached.has(start + rest)) await rm(join(objects, start, rest), { force: true })
      }
    },
  }
}

function encodeTree(entries: readonly TreeEntry[]): Buffer {
  // Git sorts a folder as if its name ended with a slash.
  const key = ({ mode, name }: TreeEntry): Buffer => (mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name)
  const sorted = entries.toSorted((a, b) => Buffer.compare(key(a), key(b)))
  const parts = sorted.flatMap(({ mode, name, id }) => [
    Buffer.from(`${mode} `),
    name,
    Buffer.from([0]),
    Buffer.from(id, 'hex'),
  ])
  return Buffer.concat(parts)
}

function decodeTree(body: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at)
    const nul = body.indexOf(0, blank)
    const mode = body.toString('latin1', at, blank) as EntryMode
    entries.push({ mode, name: body.subarray(blank + 1, nul), id: body.toString('hex', nul + 1, nul + 21) })
    at = nul + 21
  }
  return entries
}
