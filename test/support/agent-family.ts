/** Apps whose scripted model plays a run and its sub-agents, and what became of them. */

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import type { Json } from '../../src/domain/json.ts'
import { AGENT_RESULT } from '../../src/domain/sub-agent.ts'
import type { WorkspaceAccess } from '../../src/ports/env.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour } from './fake-tools.ts'
import { journalOf, openApp } from './open-app.ts'

/** The turns of one role; beyond its end it says that it is done. A function sees the request. */
export type Role = readonly (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[]

export const calling = (tool: string, args: Json = {}): ScriptedAnswer => ({ calls: [{ tool, args }] })
export const spawning = (...tasks: readonly (string | { readonly [key: string]: Json })[]): ScriptedAnswer => ({
  calls: tasks.map((task) => ({ tool: 'spawn_agent', args: typeof task === 'string' ? { task } : task })),
})
export const WAIT_FOR_AGENTS = calling('wait', { for: 'agents' })
export const finishing = (answer: string): ScriptedAnswer => calling('finish', { answer })

/** Roles are found by the first word of the task: `lead …`, `writer …`. */
export function familyModel(roles: Readonly<Record<string, Role>>): ScriptedModel {
  return scriptedModel((request, turn) => {
    const role = roles[roleOf(request)]
    const step = role?.[turn] ?? finishing(`${roleOf(request)} is done`)
    return typeof step === 'function' ? step(request) : step
  })
}

const roleOf = ({ messages }: ModelRequest): string => {
  const first = messages.find(({ role }) => role === 'user')
  return first && 'text' in first ? (first.text.split(/\s/)[0] ?? '') : ''
}

/** The behaviour of the run that spawns. */
export const LEAD_TOOLS = ['spawn_agent', 'create_file', 'edit_file', 'view_file', 'list_files', 'wait', 'finish']

export interface Family {
  readonly app: App
  readonly model: ScriptedModel
  run(task?: string): Promise<CommandOutput<'run'>>
  children(): Promise<readonly Dispatch[]>
}

interface FamilyOptions extends Omit<AppOptions, 'tools' | 'behaviours'> {
  readonly yaml?: string
  /** The tools of the lead. */
  readonly tools?: readonly string[]
  readonly toolsToAdd?: readonly AnyTool[]
  readonly access?: WorkspaceAccess
}

export async function openFamily(
  t: TestContext,
  roles: Readonly<Record<string, Role>>,
  options: FamilyOptions = {},
): Promise<Family> {
  const { tools = LEAD_TOOLS, toolsToAdd = [], access, model = familyModel(roles), ...rest } = options
  const lead = fakeBehaviour({ name: 'lead', tools, ...(access === undefined ? {} : { access }) })
  const app = await openApp(t, { ...rest, model, tools: toolsToAdd, behaviours: [lead] })
  return {
    app,
    model: model as ScriptedModel,
    run: (task = 'lead the work') => app.run('run', { task, behaviour: 'lead' }),
    children: async () =>
      (await app.service('store').dispatches({ limit: 100 })).filter(({ parent_id }) => parent_id !== null).reverse(),
  }
}

/** The results that a session has read, in order. */
export async function resultsRead(app: App, sessionId: string): Promise<readonly { readonly [key: string]: Json }[]> {
  const journal = await journalOf(app, sessionId)
  return journal.flatMap((record) =>
    record.kind === 'input_bound'
      ? record.input.flatMap((seen) =>
          seen.type === 'system_event' && seen.name === AGENT_RESULT
            ? [seen.payload as { readonly [key: string]: Json }]
            : [],
        )
      : [],
  )
}

export async function workspaceOf(app: App, sessionId: string, ...path: readonly string[]): Promise<string> {
  return join((await app.service('store').session(sessionId))?.workspace ?? '', ...path)
}
