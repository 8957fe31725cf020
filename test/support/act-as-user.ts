/** Lets a test act as a user who may not read every file, because root may. */

import { chownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/**
 * Contract: returns what `work` returns; meanwhile the whole process has no rights of root, and the folder is its own.
 * The test file must have a process of its own, and its runner must have opened its files: an app that was opened
 * before sees to that.
 */
export async function actAsUser<T>(folder: string, work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work()
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, path), NOBODY, NOBODY)
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
