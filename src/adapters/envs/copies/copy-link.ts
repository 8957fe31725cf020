/** Copies symbolic links of a workspace, so that none leads from the copy to the original or to other files. */

import { lstat, readlink, realpath, rm, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { isInside } from '../host/split-path.ts'
import { isInSystem } from '../sandbox/bubblewrap-command-line.ts'

/**
 * `keep`: links stay as they are: the sandbox shows the copy at the path of the original, and nothing outside. `cut`: a
 * link to a place inside leads to the same place in the copy; one that leads outside leads to nothing, unless it leads
 * to an installed program.
 */
export type LinkRules = 'keep' | 'cut'

interface LinkToCopy {
  /** A path of the link. */
  readonly source: string
  /** Its path relative to the workspace. */
  readonly path: string
  readonly from: string
  readonly to: string
}

export const CUT_LINK_TARGET = '/nonexistent/outside-the-workspace'

/** Contract: the target of the copied link; undefined if the link vanished. */
export async function copyLink(rules: LinkRules, { source, path, from, to }: LinkToCopy): Promise<string | undefined> {
  const original = await readlink(source).catch(() => undefined)
  if (original === undefined) return undefined
  const at = resolve(from, dirname(path))
  const leadsTo = resolve(at, original)
  let target = original
  if (rules === 'cut' && isInside(from, leadsTo) && isAbsolute(original)) target = relative(at, leadsTo) || '.'
  else if (rules === 'cut' && !isInside(from, leadsTo) && !isInSystem(leadsTo)) target = CUT_LINK_TARGET
  await symlink(target, join(to, path))
  return target
}

/**
 * Contract: cuts the links of a copy that lead outside through other links. `links`: their paths in the copy. Called
 * after everything is copied.
 */
export async function cutEscapingLinks(root: string, links: readonly string[]): Promise<void> {
  for (const path of links) {
    const link = join(root, path)
    const leadsTo = await realpath(link).catch(() => undefined)
    if (leadsTo === undefined || isInside(root, leadsTo) || isInSystem(leadsTo)) continue
    if (!(await lstat(link)).isSymbolicLink()) continue
    await rm(link)
    await symlink(CUT_LINK_TARGET, link)
  }
}
