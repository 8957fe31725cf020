/** A workspace whose commands run in the sandbox. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type ProcessResult, requireOps } from '../../src/ports/env.ts'
import { makeWorkspace } from '../sandbox/escapes.ts'

export const isRoot = process.getuid?.() === 0

interface SandboxedWorkspace {
  readonly base: string
  readonly root: string
  run(command: string, options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<ProcessResult>
}

export async function sandboxedWorkspace(
  t: TestContext,
  prepare: (root: string) => void = makeWorkspace,
): Promise<SandboxedWorkspace> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-sandbox-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'ws')
  mkdirSync(root)
  prepare(root)
  const { launcher } = createSandbox({
    folder: join(base, 'sandbox'),
    hidden: [],
    env: process.env,
    clock: systemClock,
  })
  const env = await hostEnvs({ callsDir: join(base, 'calls'), clock: systemClock, env: process.env, launcher }).open(
    root,
  )
  const { signal } = new AbortController()
  return {
    base,
    root,
    run: (command, options) =>
      requireOps(env, 'process').run('call', command, { timeoutMs: 60_000, signal, ...options }),
  }
}
