/** Fake tools, behaviours and models that do what the test says and record their input; and queries on journals. */

import { z } from 'zod'
import type { App } from '../../src/app.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import type { CancelMode } from '../../src/domain/dispatch.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Json } from '../../src/domain/json.ts'
import { type Behaviour, defineBehaviour } from '../../src/ports/behaviour.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { Model } from '../../src/ports/model.ts'
import type { AnyTool, Tool, ToolContext } from '../../src/ports/tool.ts'
import type { ScriptedModel } from '../../src/testing/scripted-model.ts'
import { dispatchOf, journalOf } from './open-app.ts'

const ONCE: Effect = { recovery: 'once', reach: 'workspace' }
export const PURE: Effect = { recovery: 'pure', reach: 'none' }

type Args = { readonly [name: string]: Json }
type FakeToolOptions = Partial<Omit<Tool<Args>, 'run' | 'effect'>> & {
  readonly effect?: Effect
  readonly run?: (args: Args, context: ToolContext) => unknown
}

/** `receivedArgs`: the arguments of each run, in order. */
export type RecordingTool = AnyTool & { readonly receivedArgs: Args[] }

/** A tool that takes any arguments. `run` returns a whole result, or only its content. */
export function fakeTool({ effect = ONCE, run = () => 'poked', ...more }: FakeToolOptions = {}): RecordingTool {
  const receivedArgs: Args[] = []
  const tool = defineTool<Args>({
    name: 'poke',
    description: 'for tests',
    args: z.record(z.string(), z.json()),
    ...more,
    effect: () => effect,
    async run(args, context) {
      receivedArgs.push(args)
      const returned = await run(args, context)
      return isResult(returned) ? returned : { status: 'ok', content: String(returned) }
    },
  })
  return { ...tool, receivedArgs }
}

function isResult(value: unknown): value is CallResult {
  return typeof value === 'object' && value !== null && 'status' in value && 'content' in value
}

/** The behaviour `own`: without tools or decisions, except what `more` adds. */
export function fakeBehaviour(more: Partial<Behaviour> = {}): Behaviour {
  return defineBehaviour({
    name: 'own',
    tools: [],
    initState: () => null,
    buildSystemPrompt: () => 'be brief',
    ...more,
  })
}

/** A model that streams `text` and then hangs until its signal aborts. */
export function hangingModel(text = ''): Model & { readonly aborted: boolean } {
  const model = {
    id: 'scripted/hanging',
    aborted: false,
    call: (_request: unknown, { signal, onText }: Parameters<Model['call']>[1]) =>
      new Promise<never>((_, reject) => {
        onText?.(text)
        signal.addEventListener('abort', () => {
          model.aborted = true
          reject(new Error('the connection was closed'))
        })
      }),
  }
  return model
}

/** The `run` of a tool that hangs until its signal aborts. */
export const untilAborted = (_: unknown, { signal }: ToolContext): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error('stopped by the signal'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })

/** The last message of the model's nth request, counted from 0. */
export const lastMessageIn = ({ requests }: ScriptedModel, nth: number): string =>
  JSON.stringify(requests[nth]?.messages.at(-1) ?? null)

export async function resultsOf(app: App, sessionId: string): Promise<CallResult[]> {
  return (await recordsOf(app, sessionId, 'call_settled')).map(({ result }) => result)
}

export async function recordsOf<K extends JournalRecord['kind']>(
  app: App,
  sessionId: string,
  kind: K,
): Promise<Extract<JournalRecord, { kind: K }>[]> {
  const journal = await journalOf(app, sessionId)
  return journal.filter((record): record is Extract<JournalRecord, { kind: K }> => record.kind === kind)
}

export interface QueuedTask {
  readonly dispatch_id: string
  readonly session_id: string
}

export const enqueue = async (app: App, input: object = {}): Promise<QueuedTask> =>
  await app.run('enqueue', { prompt: 'the task', ...input })

export interface CancelResult {
  readonly items: readonly { readonly dispatch_id: string; readonly was: string; readonly status: string }[]
}

export const cancelDispatch = async (app: App, { dispatch_id }: QueuedTask, how?: CancelMode): Promise<CancelResult> =>
  await app.run('queue cancel', { id: dispatch_id, ...(how === undefined ? {} : { how }) })

export const statusOf = async (app: App, { dispatch_id }: QueuedTask): Promise<string> =>
  (await dispatchOf(app, dispatch_id)).status

export const hasRecord = async (app: App, { session_id }: QueuedTask, kind: JournalRecord['kind']): Promise<boolean> =>
  (await recordsOf(app, session_id, kind)).length > 0

export const stopReasonsOf = async (app: App, { session_id }: QueuedTask): Promise<readonly string[]> =>
  (await recordsOf(app, session_id, 'run_ended')).map(({ stop_reason }) => stop_reason)
