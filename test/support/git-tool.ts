/** Repositories and calls of the git tool. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { inGit } from '../tools/git-remote.ts'
import { freshFolder } from './open-app.ts'
import { WITHOUT_SANDBOX } from './sandbox-available.ts'
import { callStep } from './serve-pages.ts'

/** A repository with one commit. */
export function repository(t: TestContext): string {
  const folder = join(freshFolder(t, 'git'), 'repo')
  mkdirSync(folder)
  inGit(folder, 'init', '-q', '-b', 'main')
  writeFileSync(join(folder, 'a.txt'), 'one\n')
  inGit(folder, 'add', '-A')
  inGit(folder, 'commit', '-qm', 'first')
  return folder
}

export const git = (...args: string[]) => callStep('git', { args })

/** Options of tests that run git: they are skipped without a sandbox. */
export const NEEDS_SANDBOX = { skip: WITHOUT_SANDBOX }
