/** Looks at what an agent watches, without a model: files, folders, git work trees. Tells whether something is different, and what is there. */

import { hash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Survey, SurveyMarks, Watched } from '../domain/agent.ts'

export interface GitSight {
  /** Contract: another text whenever there is another commit or another change. */
  sight(folder: string): Promise<string>
  /** Contract: in words, what is new in it since that commit; `head`: the last one there is. */
  news(folder: string, since: string | undefined): Promise<{ readonly text: string; readonly head: string }>
}

/** More than this is looked at by its date and size alone, and no more entries than that at all. */
const MOST_BYTES = 1024 * 1024
const MOST_ENTRIES = 5000
/** Folders that change without anybody's doing. */
const IGNORED: readonly string[] = ['.git', 'node_modules']
/** Files that are named in words. */
const MOST_NAMED = 200

export interface Watch {
  /** Contract: another text whenever something that is watched has changed; never rejects. */
  look(watched: readonly Watched[]): Promise<string>
  /** Contract: what is there in words, with what is new since those marks; never rejects. */
  survey(watched: readonly Watched[], since: SurveyMarks | undefined): Promise<Survey>
}

interface Entry {
  readonly path: string
  readonly size: number
  /** When it came there, or was changed. */
  readonly at: number
}

/** `base`: what relative paths are relative to. */
export function createWatch(base: string, git: GitSight): Watch {
  const at = (path: string): string => (isAbsolute(path) ? path : resolve(base, path))
  async function lookAt(one: Watched): Promise<string> {
    const { path, git: tree, except } = probeOf(one)
    if (path !== undefined) return pathSight(at(path), except)
    if (tree !== undefined) return git.sight(at(tree))
    return NOTHING
  }
  async function tellOf(one: Watched, since: SurveyMarks | undefined): Promise<Survey> {
    const { path, git: tree, except } = probeOf(one)
    if (path !== undefined) return pathNews(at(path), except, since?.newest)
    if (tree === undefined) return { text: NOTHING, marks: NO_MARKS }
    const { text, head } = await git.news(at(tree), since?.heads[at(tree)])
    return { text, marks: { newest: 0, heads: { [at(tree)]: head } } }
  }
  return {
    async look(watched) {
      const seen = await Promise.all(
        watched.map((one) => lookAt(one).catch((thrown) => `not there: ${codeOf(thrown)}`)),
      )
      return hash('sha256', JSON.stringify(seen))
    },
    async survey(watched, since) {
      const told = await Promise.all(
        watched.map((one) =>
          tellOf(one, since).catch((thrown) => ({
            text: `${JSON.stringify(one)} cannot be looked at: ${codeOf(thrown)}`,
            marks: NO_MARKS,
          })),
        ),
      )
      const marks = told.map((each) => each.marks)
      return {
        text: told.map(({ text }) => text).join('\n\n'),
        marks: {
          newest: Math.max(since?.newest ?? 0, ...marks.map(({ newest }) => newest)),
          heads: Object.assign({}, since?.heads, ...marks.map(({ heads }) => heads)),
        },
      }
    },
  }
}

const NO_MARKS: SurveyMarks = { newest: 0, heads: {} }
const NOTHING = 'nothing that can be looked at'

interface Probe {
  readonly path: string | undefined
  readonly git: string | undefined
  readonly except: readonly string[]
}

function probeOf(one: Watched): Probe {
  const { path, git, except } = typeof one === 'string' ? { path: one, git: null, except: null } : one
  return {
    path: typeof path === 'string' ? path : undefined,
    git: typeof git === 'string' ? git : undefined,
    except: [...IGNORED, ...(Array.isArray(except) ? except.map(String) : [])],
  }
}

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? 'unknown'

async function pathSight(path: string, except: readonly string[]): Promise<string> {
  const found = await stat(path)
  if (!found.isDirectory()) return fileSight(path, found.size, found.mtimeMs)
  const seen = await entriesOf(path, except)
  return seen.map((entry) => `${entry.path} ${entry.size} ${entry.at}`).join('\n')
}

async function fileSight(path: string, size: number, mtimeMs: number): Promise<string> {
  return size > MOST_BYTES ? `${size} ${mtimeMs}` : hash('sha256', await readFile(path))
}

async function pathNews(path: string, except: readonly string[], since: number | undefined): Promise<Survey> {
  const found = await stat(path)
  const entries = found.isDirectory() ? await entriesOf(path, except) : [entryOf('', found)]
  const isNew = ({ at }: Entry): boolean => since === undefined || at > since
  // What is new is told first, and whole if need be at the expense of the rest.
  const ordered = [...entries.filter(isNew), ...entries.filter((entry) => !isNew(entry))]
  const lines = ordered.slice(0, MOST_NAMED).map((entry) => {
    const name = entry.path === '' ? 'the file itself' : entry.path
    return `- ${isNew(entry) ? 'new or changed: ' : ''}${name}, ${entry.size} bytes, ${new Date(entry.at).toISOString()}`
  })
  const more = ordered.length > MOST_NAMED ? [`- … and ${ordered.length - MOST_NAMED} more`] : []
  const count = `${entries.length} ${entries.length === 1 ? 'file' : 'files'}, ${entries.filter(isNew).length} new or changed`
  return {
    text: [`${path}: ${count}`, ...lines, ...more].join('\n'),
    // By the files' own clock, which need not be ours.
    marks: { newest: Math.max(0, ...entries.map(({ at }) => at)), heads: {} },
  }
}

async function entriesOf(root: string, except: readonly string[]): Promise<readonly Entry[]> {
  const seen: Entry[] = []
  await walk(root, '', except, seen)
  return seen
}

async function walk(root: string, below: string, except: readonly string[], seen: Entry[]): Promise<void> {
  const entries = await readdir(join(root, below), { withFileTypes: true })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(below, entry.name)
    if (seen.length >= MOST_ENTRIES || except.includes(entry.name) || except.includes(path)) continue
    if (entry.isDirectory()) await walk(root, path, except, seen)
    else if (entry.isFile()) seen.push(entryOf(path, await stat(join(root, path))))
  }
}

/** Whole milliseconds: what is kept between runs is. A file that was moved here is new here, however old it is. */
const entryOf = (path: string, { size, mtimeMs, ctimeMs }: Stats): Entry => ({
  path,
  size,
  at: Math.ceil(Math.max(mtimeMs, ctimeMs)),
})
