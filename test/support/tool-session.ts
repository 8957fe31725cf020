/** A session that calls built-in tools on real files. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { builtinTools } from '../../src/adapters/tools/tools.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import type { Json } from '../../src/domain/json.ts'
import { CLEAN_LABEL } from '../../src/domain/label.ts'
import { noteViewed, type ViewedPart } from '../../src/domain/viewed-files.ts'
import { requireOps } from '../../src/ports/env.ts'
import type { AnyTool, ProbeResult, ToolContext } from '../../src/ports/tool.ts'

/** Calls tools like the engine: parses arguments and remembers the file versions that were seen. */
export async function session(t: TestContext) {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-tools-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const env = await hostEnvs({
    callsDir: join(base, 'calls'),
    clock: systemClock,
    env: { PATH: process.env.PATH },
  }).open(join(base, 'ws'))
  const seen = new Map<string, string>()
  const viewedParts = new Map<string, readonly ViewedPart[]>()
  const abort = new AbortController()
  const startedAt = Date.now()
  const contextOf = (name: string): ToolContext => ({
    env,
    ops(group) {
      assert.ok(tool(name).needs?.includes(group), `Q8: ${name} uses the group ${group} without declaring it`)
      return requireOps(env, group)
    },
    clock: systemClock,
    signal: abort.signal,
    call: 's/1/0',
    state: null,
    behaviour: 'solo',
    origin: { agent_id: 'default', session_id: 'session', turn: 1 },
    intendedAt: startedAt,
    cwd: '',
    say: () => {},
    seen,
    viewedParts,
    label: CLEAN_LABEL,
  })
  const parsed = (name: string, args: Json) => tool(name).args.parse(args)
  return {
    root: env.root,
    calls: join(base, 'calls'),
    env,
    seen,
    abort,
    path: (name: string) => join(env.root, name),
    async call(name: string, args: Json): Promise<CallResult> {
      const result = await tool(name).run(parsed(name, args), contextOf(name))
      const facts = result.facts as { seen?: Record<string, string>; partly?: Record<string, ViewedPart> } | undefined
      for (const [path, digest] of Object.entries(facts?.seen ?? {}))
        noteViewed({ digests: seen, parts: viewedParts }, path, digest, facts?.partly?.[path])
      return result
    },
    before: (name: string, args: Json): Promise<Json> =>
      defined(tool(name).before)(parsed(name, args), contextOf(name)),
    probe: (name: string, args: Json, before: Json): Promise<ProbeResult> =>
      defined(tool(name).probe)(parsed(name, args), before, contextOf(name)),
    remains: (name: string, args: Json): Promise<string> =>
      defined(tool(name).remains)(parsed(name, args), contextOf(name)),
    settled: (name: string): Promise<void> => defined(tool(name).settled)(contextOf(name)),
  }
}

export function tool(name: string): AnyTool {
  return defined(builtinTools().find((one) => one.name === name))
}

function defined<T>(value: T | undefined): T {
  assert.ok(value !== undefined)
  return value
}

export function assertRefused(result: CallResult, what: RegExp): void {
  assert.equal(result.status, 'error')
  assert.match(result.content, what)
  assert.equal(result.facts, undefined)
}
