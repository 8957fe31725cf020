/**
 * Examines the paths that an agent watches (files, folders, git work trees) without a model: whether something changed,
 * and a text that lists the content.
 */

import { hash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { WatchMarks, WatchReport, WatchSpec } from '../../domain/agent.ts'

interface GitWatch {
  /** Contract: a text that changes with every commit and every uncommitted change. */
  fingerprint(folder: string): Promise<string>
  /** Contract: describes the changes since the commit `since`; `head` is the latest commit. */
  describeChanges(folder: string, since: string | undefined): Promise<{ readonly text: string; readonly head: string }>
}

/** A larger file is compared by date and size, not by content. */
const MOST_BYTES = 1024 * 1024
/** Most entries of a folder that are examined; further ones are ignored. */
const MOST_ENTRIES = 5000
/** Folders that are not watched, because tools change them by themselves. */
const IGNORED: readonly string[] = ['.git', 'node_modules']
/** Most files that a survey names. */
const MOST_NAMED = 200

export interface PathWatch {
  /** Contract: a text that changes with every change of the watched paths; never rejects. */
  fingerprint(watched: readonly WatchSpec[]): Promise<string>
  /** Contract: a text that lists the content and marks what is new since `since`; never rejects. */
  survey(watched: readonly WatchSpec[], since: WatchMarks | undefined): Promise<WatchReport>
}

interface Entry {
  readonly path: string
  readonly size: number
  /** When the file was last changed, or moved to this folder; milliseconds since the epoch. */
  readonly at: number
}

/** `base`: the folder that relative paths start from. */
export function createPathWatch(base: string, git: GitWatch): PathWatch {
  const resolvePath = (path: string): string => (isAbsolute(path) ? path : resolve(base, path))
  async function fingerprintOne(watchedItem: WatchSpec): Promise<string> {
    const { path, git: tree, except } = parseWatched(watchedItem)
    if (path !== undefined) return fingerprintPath(resolvePath(path), except)
    if (tree !== undefined) return git.fingerprint(resolvePath(tree))
    return NOTHING
  }
  async function surveyOne(watchedItem: WatchSpec, since: WatchMarks | undefined): Promise<WatchReport> {
    const { path, git: tree, except } = parseWatched(watchedItem)
    if (path !== undefined) return surveyPath(resolvePath(path), except, since?.newest)
    if (tree === undefined) return { text: NOTHING, marks: NO_MARKS }
    const { text, head } = await git.describeChanges(resolvePath(tree), since?.heads[resolvePath(tree)])
    return { text, marks: { newest: 0, heads: { [resolvePath(tree)]: head } } }
  }
  return {
    async fingerprint(watched) {
      const fingerprints = await Promise.all(
        watched.map((watchedItem) => fingerprintOne(watchedItem).catch((thrown) => `not there: ${codeOf(thrown)}`)),
      )
      return hash('sha256', JSON.stringify(fingerprints))
    },
    async survey(watched, since) {
      const surveys = await Promise.all(
        watched.map((watchedItem) =>
          surveyOne(watchedItem, since).catch((thrown) => ({
            text: `${JSON.stringify(watchedItem)} cannot be read: ${codeOf(thrown)}`,
            marks: NO_MARKS,
          })),
        ),
      )
      const marks = surveys.map((each) => each.marks)
      return {
        text: surveys.map(({ text }) => text).join('\n\n'),
        marks: {
          newest: Math.max(since?.newest ?? 0, ...marks.map(({ newest }) => newest)),
          heads: Object.assign({}, since?.heads, ...marks.map(({ heads }) => heads)),
        },
      }
    },
  }
}

const NO_MARKS: WatchMarks = { newest: 0, heads: {} }
const NOTHING = 'nothing to watch: neither a path nor a git work tree is given'

interface ParsedWatched {
  readonly path: string | undefined
  readonly git: string | undefined
  readonly except: readonly string[]
}

function parseWatched(watchedItem: WatchSpec): ParsedWatched {
  const { path, git, except } =
    typeof watchedItem === 'string' ? { path: watchedItem, git: null, except: null } : watchedItem
  return {
    path: typeof path === 'string' ? path : undefined,
    git: typeof git === 'string' ? git : undefined,
    except: [...IGNORED, ...(Array.isArray(except) ? except.map(String) : [])],
  }
}

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? 'unknown'

async function fingerprintPath(path: string, except: readonly string[]): Promise<string> {
  const found = await stat(path)
  if (!found.isDirectory()) return fingerprintFile(path, found.size, found.mtimeMs)
  const entries = await listEntries(path, except)
  return entries.map((entry) => `${entry.path} ${entry.size} ${entry.at}`).join('\n')
}

async function fingerprintFile(path: string, size: number, mtimeMs: number): Promise<string> {
  return size > MOST_BYTES ? `${size} ${mtimeMs}` : hash('sha256', await readFile(path))
}

async function surveyPath(path: string, except: readonly string[], since: number | undefined): Promise<WatchReport> {
  const found = await stat(path)
  const entries = found.isDirectory() ? await listEntries(path, except) : [entryFromStats('', found)]
  const isNew = ({ at }: Entry): boolean => since === undefined || at > since
  // New files come first, so the limit drops old ones.
  const ordered = [...entries.filter(isNew), ...entries.filter((entry) => !isNew(entry))]
  const lines = ordered.slice(0, MOST_NAMED).map((entry) => {
    const name = entry.path === '' ? 'this file' : entry.path
    const mark = isNew(entry) ? 'new or changed: ' : ''
    return `- ${mark}${name}, ${entry.size} bytes, ${new Date(entry.at).toISOString()}`
  })
  const more = ordered.length > MOST_NAMED ? [`- … and ${ordered.length - MOST_NAMED} more`] : []
  const files = `${entries.length} ${entries.length === 1 ? 'file' : 'files'}`
  const count = `${files}, ${entries.filter(isNew).length} new or changed`
  return {
    text: [`${path}: ${count}`, ...lines, ...more].join('\n'),
    // The newest time comes from the files, because the file system's clock may differ from ours.
    marks: { newest: Math.max(0, ...entries.map(({ at }) => at)), heads: {} },
  }
}

async function listEntries(root: string, except: readonly string[]): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  await walk(root, '', except, entries)
  return entries
}

async function walk(root: string, below: string, except: readonly string[], entries: Entry[]): Promise<void> {
  const children = await readdir(join(root, below), { withFileTypes: true })
  for (const entry of children.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(below, entry.name)
    if (entries.length >= MOST_ENTRIES || except.includes(entry.name) || except.includes(path)) continue
    if (entry.isDirectory()) await walk(root, path, except, entries)
    else if (entry.isFile()) entries.push(entryFromStats(path, await stat(join(root, path))))
  }
}

/** Times are rounded up, because stored marks are whole milliseconds. A move changes the ctime, so the file is new. */
const entryFromStats = (path: string, { size, mtimeMs, ctimeMs }: Stats): Entry => ({
  path,
  size,
  at: Math.ceil(Math.max(mtimeMs, ctimeMs)),
})
