/** A real repository with its env. */

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createWorkspaceEnvs } from '../../src/adapters/envs/envs.ts'
import { requireOps } from '../../src/ports/env.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

export const { PATH } = process.env

export const NOW = Date.UTC(2030, 0, 2, 3, 4, 5)

/** Git for the test itself; it ignores the user's configuration too. */
export function git(folder: string, ...args: string[]): string {
  const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const identity = ['-c', 'user.name=tester', '-c', 'user.email=tester@localhost', '-c', 'protocol.file.allow=always']
  return execFileSync('git', ['-C', folder, ...identity, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim()
}

export function makeRepository(t: TestContext, more: Record<string, string> = {}) {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-repository-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const ws = join(base, 'ws')
  fs.mkdirSync(ws)
  git(ws, 'init', '-q', '-b', 'main')
  const clock = new FakeClock({ now: NOW })
  const envs = createWorkspaceEnvs({ callsDir: join(base, 'calls'), clock, env: { PATH, ...more } })
  const write = (path: string, text: string) => {
    fs.mkdirSync(join(ws, path, '..'), { recursive: true })
    fs.writeFileSync(join(ws, path), text)
  }
  const openEnv = () => envs.open(ws, 'repository')
  return { base, ws, write, openEnv, ops: async () => requireOps(await openEnv(), 'git') }
}
