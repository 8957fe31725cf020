/** Moves the folder of a deleted agent away, where nothing reads it and one command brings it back. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { writeNewFile } from '../files/whole-files.ts'

/** No id of an agent begins with a dot. */
const DELETED = '.deleted'

/** Contract: a folder that does not exist; copies of agents with the same id are numbered. */
export function deletedAgentFolder(agents: string, id: string): string {
  const name = (nth: number): string => join(agents, DELETED, nth === 1 ? id : `${id}-${nth}`)
  let nth = 1
  while (lstatSync(name(nth), { throwIfNoEntry: false })) nth += 1
  return name(nth)
}

/** Contract: moves the folder of an agent that is described there; of a linked one, only the link. */
export function moveAgentFolder(from: string, to: string): void {
  mkdirSync(join(to, '..'), { recursive: true, mode: 0o700 })
  if (!lstatSync(from).isSymbolicLink()) {
    renameSync(from, to)
    return
  }
  // A relative link leads elsewhere from another folder.
  symlinkSync(realpathSync(from), to)
  unlinkSync(from)
}

/** Contract: the description of an agent that stood in tireless.yaml, in a folder of its own, on disk. */
export function writeAgentCopy(to: string, text: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  writeNewFile(join(to, 'agent.yaml'), text)
}

/** Contract: moves the other files of an agent whose description was copied to `to`; of a linked folder, the links. */
export function moveAgentFiles(from: string, to: string): void {
  if (!existsSync(from)) return
  const isLink = lstatSync(from).isSymbolicLink()
  const real = realpathSync(from)
  for (const name of readdirSync(real)) {
    if (isLink) symlinkSync(join(real, name), join(to, name))
    else renameSync(join(from, name), join(to, name))
  }
  if (isLink) unlinkSync(from)
  else rmdirSync(from)
}
