/** Documents as files of one folder: read with suspicion, replaced whole or not at all, set aside rather than deleted. */

import { constants } from 'node:fs'
import { chmod, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, iso } from '../../ports/clock.ts'
import { type Found, isSameText, openFound } from './found.ts'
import { createTakenFiles, type Late } from './taken.ts'

/** What is put beside a file, and is part of its name. */
export type Beside = (typeof KINDS)[number]
const KINDS = ['torn', 'conflict', 'reverted'] as const

export interface Files {
  readonly folder: string
  /** Contract: what lies there; throws where that cannot be looked at. */
  read(name: string): Promise<Found>
  /**
   * Contract: on disk when it resolves; false, and nothing of anybody's written over, where something other than `over` lies there by now. What was
   * saved there in the last moment is told by `late`.
   */
  replace(name: string, text: string, over: Found): Promise<boolean>
  /** Contract: what an editor wrote into a file that was replaced, until `keep` of it is called. */
  late(name: string): Promise<Late | undefined>
  /** Contract: moves what lies there; answers with its new name. Undefined where it has become a text by now, which stays. */
  setAside(name: string): Promise<string | undefined>
  /** Contract: a text beside the file; answers with its name. */
  putBeside(name: string, kind: Beside, text: string): Promise<string>
  remove(name: string): Promise<void>
  close(): Promise<void>
}

const MOST_BESIDE = 20

export function diskFiles(folder: string, clock: Clock): Files {
  const at = (name: string): string => join(folder, name)
  const taken = createTakenFiles(folder, clock, async (name, path) => {
    await rename(path, at(await freeName(name, 'torn')))
  })

  async function swap(name: string, temporary: string, over: Found): Promise<boolean> {
    const { found, handle } = await openFound(at(name))
    const mode = handle && (await handle.stat()).mode & 0o777
    await handle?.close()
    if (!isSameText(found, over)) return false
    if (mode !== undefined) await chmod(temporary, mode)
    return taken.exchange(name, temporary, over)
  }

  /** Makes room as well: what lies beside a document stays for a while, not for ever. */
  async function freeName(name: string, kind: Beside): Promise<string> {
    const stampOf = (entry: string): string => entry.slice(entry.indexOf('-', name.length))
    const beside = (await readdir(folder))
      .filter((entry) => KINDS.some((one) => entry.startsWith(`${name}.${one}-`)))
      .sort((a, b) => (stampOf(a) < stampOf(b) ? -1 : 1))
    for (const entry of beside.slice(0, -MOST_BESIDE + 1)) await rm(at(entry), { recursive: true, force: true })
    const wanted = `${name}.${kind}-${iso(clock.now()).replaceAll(':', '-')}`
    let free = wanted
    for (let n = 2; beside.includes(free); n += 1) free = `${wanted}-${n}`
    return free
  }

  return {
    folder,
    read: (name) => found(at(name)),
    async replace(name, text, over) {
      const temporary = at(`.${name}.tmp`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await rm(temporary, { recursive: true, force: true })
      try {
        await writeNew(temporary, text)
        const isReplaced = await swap(name, temporary, over)
        if (isReplaced) await syncFolder(folder)
        return isReplaced
      } finally {
        await rm(temporary, { force: true })
      }
    },
    late: taken.late,
    async setAside(name) {
      const beside = await freeName(name, 'torn')
      await rename(at(name), at(beside))
      const isBack = (await found(at(beside))).kind === 'text' && (await putBack(at(beside), at(name)))
      await syncFolder(folder)
      return isBack ? undefined : beside
    },
    async putBeside(name, kind, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const beside = await freeName(name, kind)
      await writeNew(at(beside), text)
      await syncFolder(folder)
      return beside
    },
    remove: (name) => rm(at(name), { force: true }),
    close: taken.close,
  }
}

async function found(path: string): Promise<Found> {
  const opened = await openFound(path)
  await opened.handle?.close()
  return opened.found
}

/** Contract: false where something lies there by now, or where there are no links; it stays where it is then. */
async function putBack(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
  } catch {
    return false
  }
  await rm(from)
  return true
}

async function writeNew(path: string, text: string): Promise<void> {
  await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  await handle.writeFile(text)
  await handle.sync()
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
