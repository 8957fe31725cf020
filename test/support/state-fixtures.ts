/** An app whose STATE.md is read and edited. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { renderRuntimeBlock } from '../../src/domain/runtime-block.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp, runTaskIn } from './open-app.ts'

export const BLOCK = renderRuntimeBlock(
  {
    ...{ updated_at: 'now', cycle_id: 'c1', status: 'success', dispatched: 0, succeeded: 0, failed: 0 },
    ...{ failed_agents: [], agent_summary: '', duration_ms: 1, error: null },
  },
  [],
  5,
)

export const OWNER = { author: 'owner', reason: 'test' }

export const YAML = 'kernel: { seed_state: "# seed\\n## plan\\n(none)\\n## notes\\n- a\\n" }\n'

export const editCall = (args: Record<string, string>): ScriptedStep => ({ calls: [{ tool: 'edit_state', args }] })

export async function openWithState(t: TestContext, options: AppOptions & { yaml?: string } = {}) {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: YAML, ...options })
  const file = join(home, 'kernels/default/STATE.md')
  return { home, app, file, documents: app.service('documents'), text: () => fs.readFileSync(file, 'utf8') }
}

/** The results of the tool, one per call. */
export async function runAndGetResults(app: App, model: ReturnType<typeof scriptedModel>): Promise<string[]> {
  const { status } = await runTaskIn(app)
  assert.equal(status, 'done')
  return (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role === 'tool').map(({ text }) => text)
}

export const modelWithSteps = (...steps: readonly ScriptedStep[]) => scriptedModel([...steps, { text: 'done' }])
