/** Workspaces with everything that could lead out of a copy, for tests of copies and read-only mounts. */

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createWorkspaceEnvs } from '../../src/adapters/envs/envs.ts'
import { makeCommandHome } from '../../src/adapters/envs/sandbox/launch-bubblewrap.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type Env, requireOps, type WorkspaceAccess } from '../../src/ports/env.ts'
import { freshFolder } from '../support/open-app.ts'

export function git(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  return execFileSync('git', ['-C', folder, '-c', 'user.name=o', '-c', 'user.email=o@w', ...args], {
    ...{ env, encoding: 'utf8', stdio: 'pipe' },
  })
}

interface CopyPlace {
  readonly base: string
  readonly ws: string
  /** A folder beside the workspace that must not change either. */
  readonly beside: string
  open(workspace: string, access: WorkspaceAccess): Promise<Env>
}

/** A repository with a linked worktree, a submodule, an alternate, and links of every kind. */
export function makePlace(
  t: TestContext,
  sandboxed: boolean,
  copyLimits?: { files: number; bytes: number },
): CopyPlace {
  const base = fs.realpathSync(freshFolder(t, 'copies'))
  const [ws, beside] = [join(base, 'ws'), join(base, 'beside')]
  for (const folder of [ws, beside, join(ws, 'sub/deep')]) fs.mkdirSync(folder, { recursive: true })
  git(ws, 'init', '-q', '-b', 'main')
  fs.writeFileSync(join(ws, 'file'), 'original\n')
  fs.writeFileSync(join(ws, 'run.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 })
  fs.writeFileSync(join(beside, 'secret'), 'secret\n')
  fs.linkSync(join(beside, 'secret'), join(ws, 'hard'))
  fs.symlinkSync(join(beside, 'secret'), join(ws, 'out'))
  fs.symlinkSync('../beside', join(ws, 'outdir'))
  fs.symlinkSync(join(ws, 'file'), join(ws, 'sub/absolute'))
  fs.symlinkSync('../..', join(ws, 'sub/deep/up'))
  fs.symlinkSync('sub/deep/up/../../../beside/secret', join(ws, 'winding'))
  git(ws, 'add', '-A')
  git(ws, 'commit', '-qm', 'first')
  git(ws, 'worktree', 'add', '-q', '-b', 'side', join(base, 'linked'))
  const options = { clock: systemClock, env: { PATH: process.env.PATH } }
  const folder = join(base, 'sandbox')
  const sandbox = sandboxed ? createSandbox({ ...options, folder, hidden: [] }) : undefined
  const envs = createWorkspaceEnvs({
    ...{ ...options, callsDir: join(base, 'calls'), copiesDir: join(base, 'copies') },
    ...{ launcher: sandbox?.launcher, findCommandHome: (root) => makeCommandHome(folder, root) },
    ...(copyLimits && { copyLimits }),
  })
  return { base, ws, beside, open: (workspace, access) => envs.open(workspace, undefined, access) }
}

/** Names, types, modes and contents of everything in the folders. */
export function contentsOf(...folders: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const walk = (path: string): void => {
    const stats = fs.lstatSync(path)
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isSymbolicLink()) found[path] = `link ${fs.readlinkSync(path)}`
    else if (stats.isFile()) found[path] = `${mode} ${fs.readFileSync(path, 'base64')}`
    else if (stats.isDirectory()) {
      found[path] = mode
      for (const name of fs.readdirSync(path)) walk(join(path, name))
    }
  }
  for (const folder of folders) walk(folder)
  return found
}

export const runIn = (env: Env, command: string, call = 'call') =>
  requireOps(env, 'process').run(call, command, { timeoutMs: 60_000, signal: new AbortController().signal })
