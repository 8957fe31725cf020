/** Contract test helpers: a scripted behaviour, an app that records its events, a hook that records its calls. */

import type { TestContext } from 'node:test'
import { z } from 'zod'
import type { App, AppOptions } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Behaviour, ProposedDecision } from '../../src/ports/behaviour.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { Env } from '../../src/ports/env.ts'
import { HOOKED_PHASES, type Hook } from '../../src/ports/hook.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { AnyTool, ToolContext } from '../../src/ports/tool.ts'
import type { TaskEnd } from '../../src/run-task/task.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { TraceManifest } from '../../src/trace/manifest.ts'
import { openApp } from './open-app.ts'

export const pokeDecision: ProposedDecision = { kind: 'act', calls: [{ tool: 'poke' }] }
export const finalAnswer = (text = 'all done'): ProposedDecision => ({ kind: 'final', answer: text })

/** Records the item, then returns it, so that a callback can record its return value. */
export function pushAndReturn<T>(list: T[], item: T): T {
  list.push(item)
  return item
}

export type ScriptedState = { readonly task: string; readonly step: number }

/** Takes one decision of the list per successful step and repeats the last one. It never calls a model. */
export function scriptedBehaviour(decisions: readonly ProposedDecision[], more: Partial<Behaviour> = {}): Behaviour {
  return {
    name: 'scripted',
    tools: ['poke'],
    initState: (task) => ({ task, step: 0 }),
    decide: (state) => decisions[Math.min((state as ScriptedState).step, decisions.length - 1)],
    reduce: (state) => ({ ...(state as ScriptedState), step: (state as ScriptedState).step + 1 }),
    buildSystemPrompt: () => 'follow the list',
    ...more,
  }
}

export interface PokeTool extends Omit<AnyTool, 'run'> {
  runs: number
}

/** Tool `poke`: runs `work` and counts its runs. */
export function pokeTool(
  work: (context: ToolContext) => unknown = () => {},
  more: Partial<AnyTool> = {},
): AnyTool & PokeTool {
  const counted = { runs: 0 }
  const tool = defineTool({
    name: 'poke',
    description: 'for tests',
    args: z.strictObject({}),
    effect: () => ({ recovery: 'once', reach: 'workspace' }),
    async run(_args, context) {
      counted.runs += 1
      await work(context)
      return { status: 'ok', content: `poked, number ${counted.runs}` }
    },
  })
  return Object.assign(counted, tool, more)
}

/** Opens an app and records its events. */
export async function openRecordedApp(
  t: TestContext,
  options: AppOptions & { yaml?: string } = {},
): Promise<{ app: App; events: Event[] }> {
  const app = await openApp(t, { model: scriptedModel([]), tools: [pokeTool()], ...options })
  const events: Event[] = []
  app.context.listen((progress) => progress.kind === 'event' && events.push(progress.event))
  return { app, events }
}

export const runScripted = (app: App, input: object = {}): Promise<CommandOutput<'run'>> =>
  app.run('run', { task: 'the task', behaviour: 'scripted', ...input })

export const eventNames = (events: readonly Event[]): string[] => events.map(({ phase, stage }) => `${phase} ${stage}`)

export function findEvent(events: readonly Event[], phase: Event['phase'], stage: string): Event {
  const event = events.find((each) => each.phase === phase && each.stage === stage)
  if (!event) throw new Error(`no ${phase} ${stage} among ${eventNames(events).join(', ')}`)
  return event
}

/** Closes the app first: the manifest is complete only after that. */
export async function manifestOf(app: App, runId: string): Promise<TraceManifest> {
  await app.close()
  return (await app.context.traces.read(runId)).manifest
}

export const issueCodes = ({ issues }: Pick<TaskEnd, 'issues'>): string[] => issues.map(({ code }) => code)

/** Records each hook call but `on_event` as "MOMENT STEP", with " !" after an error. */
export function recordingHook(name = 'recording'): Hook & { readonly moments: string[] } {
  const recorded: string[] = []
  const hookNames = [
    'run_start',
    'run_end',
    'recover',
    ...HOOKED_PHASES.flatMap((phase) => [`before_${phase}`, `after_${phase}`]),
  ]
  const callbacks = hookNames.map((moment) => [
    `on_${moment}`,
    ({ step_id, error }: { step_id: number; error?: string }) =>
      void recorded.push(`${moment} ${step_id}${error === undefined ? '' : ' !'}`),
  ])
  return { name, moments: recorded, ...Object.fromEntries(callbacks) }
}

/** A plugin that replaces the env of each run by `change(env)`. */
export function withEnv(change: (env: Env) => Env | Promise<Env>, name = 'changed env'): Plugin {
  return definePlugin({
    name,
    needs: ['envs'],
    setup(host) {
      const envs = host.get('envs')
      const { open } = envs
      Object.assign(envs, { open: async (...given: Parameters<typeof open>) => change(await open(...given)) })
    },
  })
}
