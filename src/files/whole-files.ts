/**
 * Writes files whole or not at all. A reader finds the old content or the new one, also after a kill, a power cut or
 * on a full disk; what the caller is told is what is on disk.
 *
 * A draft is written beside the file and flushed, then takes its place by one rename. A kill may leave a draft, which
 * the next write of the same file removes.
 */

import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { threadId } from 'node:worker_threads'
import { describeDiskError, TirelessError } from '../domain/error.ts'

interface WriteOptions {
  /** Permission bits. Without them a replaced file keeps its own, and a new one is its owner's alone (0600). */
  readonly mode?: number
  /**
   * False: for content that can be made again. Nothing waits for the disk, and a power cut may bring the old content
   * back.
   */
  readonly isFlushed?: boolean
}

/**
 * Contract: the new content is on disk when this returns; throws `not_written` otherwise, and the file is as it was.
 * A link stays one: the file that it leads to is replaced. Mode and owner stay, unless `mode` is given.
 */
export function replaceFile(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  orNotWritten(path, () => {
    const file = followLinks(path)
    const before = statSync(file, { throwIfNoEntry: false })
    if (before && !before.isFile()) throw notRegular(path)
    publishDraft(file, content, { ...options, before }, (draft) => renameSync(draft, file))
  })
}

/** Contract: as `replaceFile`, for a new file; throws `conflict` if something has this name, also a link. */
export function writeNewFile(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  orNotWritten(path, () => {
    publishDraft(path, content, options, (draft) => moveToUnused(draft, path))
  })
}

/** Contract: throws `not_written` if the file may not be replaced, and changes nothing. */
export function assertReplaceable(path: string): void {
  orNotWritten(path, () => publishDraft(followLinks(path), '', {}, (draft) => rmSync(draft)))
}

/**
 * Contract: the text is at the end of the file, and on disk, when this returns; throws `not_written` otherwise, and
 * nothing is added. Only one process may write to the file.
 */
export function appendToFile(path: string, text: string): void {
  orNotWritten(path, () => {
    const handle = openSync(path, 'a', 0o600)
    try {
      const { size } = fstatSync(handle)
      try {
        writeAll(handle, text)
        fsyncSync(handle)
      } catch (thrown) {
        ftruncateSync(handle, size)
        throw thrown
      }
    } finally {
      closeSync(handle)
    }
  })
}

/**
 * Writes in place. One call of `write` may write a part only, for example on a nearly full disk, and says so by its
 * result alone.
 * Contract: every byte is written when this returns. `position`: by default, where the handle is.
 */
export function writeAll(handle: number, content: string | Uint8Array, position: number | null = null): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done
    const written = writeSync(handle, bytes, done, bytes.length - done, at)
    if (written === 0) throw new TirelessError('not_written', { what: 'the disk took no more bytes' })
    done += written
  }
}

/** Whether this is the name of a file that is being written, or that a kill left unfinished. */
export const isDraft = (name: string): boolean => /^\..+\.\d+-\d+-\d+\.draft$/.test(name)

/** Makes a whole file beside `file` and passes it to `publish`; whatever happens, the draft is gone afterwards. */
function publishDraft(
  file: string,
  content: string | Uint8Array,
  { mode, isFlushed = true, before }: WriteOptions & { readonly before?: Stats | undefined },
  publish: (draft: string) => void,
): void {
  removeLeftDrafts(file)
  const { draft, handle } = openDraft(file)
  try {
    try {
      writeAll(handle, content)
      if (before) copyOwner(handle, before)
      fchmodSync(handle, mode ?? (before ? before.mode & 0o7777 : 0o600))
      if (isFlushed) fsyncSync(handle)
    } finally {
      // Some file systems report a full disk only here.
      closeSync(handle)
    }
    publish(draft)
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw thrown
  }
  if (isFlushed) flushFolder(dirname(file))
}

/** Long names are shortened: a draft's name must not be too long where the file's own is not. */
const MAX_STEM = 50

const draftPrefix = (file: string): string => `.${basename(file).slice(0, MAX_STEM)}.`

/** Opened exclusively: neither a link of this name nor a draft of another process or thread is written to. */
function openDraft(file: string): { readonly draft: string; readonly handle: number } {
  for (let count = 0; ; count += 1) {
    const draft = join(dirname(file), `${draftPrefix(file)}${process.pid}-${threadId}-${count}.draft`)
    try {
      return { draft, handle: openSync(draft, 'wx', 0o600) }
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown
    }
  }
}

interface DraftWriter {
  readonly process: number
  readonly thread: number
}

function processOfDraft(name: string, file: string): DraftWriter | undefined {
  const prefix = draftPrefix(file)
  if (!name.startsWith(prefix)) return undefined
  const found = /^(\d+)-(\d+)-\d+\.draft$/.exec(name.slice(prefix.length))
  return found ? { process: Number(found[1]), thread: Number(found[2]) } : undefined
}

/** Writes of one thread never overlap, so a draft with its own number is of an earlier process with this number. */
function removeLeftDrafts(file: string): void {
  const folder = dirname(file)
  for (const name of namesIn(folder)) {
    const writer = processOfDraft(name, file)
    if (!writer) continue
    const isOwn = writer.process === process.pid
    if (isOwn ? writer.thread === threadId : !isRunning(writer.process)) rmSync(join(folder, name), { force: true })
  }
}

/** None if the folder cannot be listed: a left draft harms nothing, and files in the folder may be writable still. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (thrown) {
    return errnoOf(thrown) === 'EPERM'
  }
}

/** The file that a path leads to, also if the last link leads to a file that is not there yet. */
function followLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown
    const folder = realpathSync(dirname(path))
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? followLinks(resolve(folder, readlinkSync(path))) : join(folder, basename(path))
  }
}

/** Only root may change the owner; for other users the new file is theirs. */
function copyOwner(handle: number, before: Stats): void {
  const { uid, gid } = fstatSync(handle)
  if (uid === before.uid && gid === before.gid) return
  try {
    fchownSync(handle, before.uid, before.gid)
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EPERM') throw thrown
  }
}

/** Uses a hard link, which unlike a rename fails if the name is in use. */
function moveToUnused(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST' || lstatSync(path, { throwIfNoEntry: false })) throw nameInUse(path)
    if (!NO_HARD_LINKS.includes(errnoOf(thrown) ?? '')) throw thrown
    // A file that another process creates in these microseconds would be replaced.
    renameSync(draft, path)
  }
  rmSync(draft, { force: true })
}

const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** The rename is done: what fails here (Windows cannot open a folder) must not look like a failed write. */
function flushFolder(path: string): void {
  try {
    const handle = openSync(path, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // The file system decides when the rename is on disk; until then a power cut brings the old content back.
  }
}

function orNotWritten(path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    if (cause instanceof TirelessError) throw cause
    throw new TirelessError('not_written', { ...describeDiskError(cause), what: NOT_WRITTEN, where: path }, { cause })
  }
}

const NOT_WRITTEN = 'the file was not written; nothing in it changed'

const notRegular = (where: string): TirelessError =>
  new TirelessError('not_written', {
    ...{ what: NOT_WRITTEN, where, got: 'a folder, a device or a pipe', expected: 'a regular file' },
    fix: 'move it away, or choose another path',
  })

const nameInUse = (where: string): TirelessError =>
  new TirelessError('conflict', { what: 'there is a file of this name', where, fix: 'choose another name, or move it' })

const errnoOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code
