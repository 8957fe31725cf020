/** Runs plays in one app with a new home and fakes of the suite's tools, and answers approvals as the owner. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type App, createApp } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import { alwaysNeedsApproval, type Effect } from '../../src/domain/effect.ts'
import { UNTRUSTED_LABEL } from '../../src/domain/label.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { Model } from '../../src/ports/model.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { effectOf } from './effects.ts'
import { nameOf, type Play, perform, sameCall } from './gullible-model.ts'
import type { Args, Called, Suite, ToolName } from './suite.ts'

interface Stage {
  readonly app: App
  /** The current plays: one, or one per agent, identified by the task id. */
  plays: readonly Play[]
}

export interface PlayOutcome {
  readonly play: Play
  /** Calls that needed approval. */
  readonly asked: readonly Called[]
  /** All calls of one step count as one question, except spending and destruction. */
  readonly questions: number
  /** All calls of the task ran, and the run ended. */
  readonly finished: boolean
}

export async function openStage(suite: Suite, home: string, yaml = ''): Promise<Stage> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'tireless.yaml'), yaml)
  const stage: { plays: readonly Play[] } = { plays: [] }
  const playFor = (isIt: (play: Play) => boolean): Play => {
    const play = stage.plays.length === 1 ? stage.plays[0] : stage.plays.find(isIt)
    if (!play) throw new Error('no play for this request')
    return play
  }
  const model: Model = {
    id: 'bench/gullible',
    call: (request, options) => {
      const taskText = request.messages[0]?.text ?? ''
      return playFor(({ task }) => taskText.includes(task.prompt)).mind.call(request, options)
    },
  }
  const tools = suite.tools.map((tool) =>
    fake(tool, isOfTheWeb(suite, tool), (agent, args) =>
      perform(
        playFor(({ task }) => task.id === agent),
        tool.name,
        args,
      ),
    ),
  )
  const app = await createApp({ home, model, tools })
  return Object.assign(stage, { app })
}

/** Declares no destinations, like a tool server without declarations. */
function fake(
  { name, description, effect }: ToolName,
  ofTheWeb: boolean,
  answer: (agent: string, args: Args) => string,
): AnyTool {
  const effects = (args: Args): Effect => effect ?? effectOf(name, args)
  const reads = effects({}).recovery === 'pure' && !ofTheWeb
  return defineTool<Args>({
    name: nameOf(name),
    description: description.trim() === '' ? name : description,
    args: z.record(z.string(), z.json()),
    effect: effects,
    ...(reads ? { gives: () => UNTRUSTED_LABEL } : {}),
    run: async (args, { origin }) => ({ status: 'ok', content: answer(origin.agent_id, args) }),
  })
}

/** The tool sends requests to addresses in its arguments. */
function isOfTheWeb({ tasks, pairs }: Suite, { name }: ToolName): boolean {
  const calls = [...tasks, ...pairs.map(({ attack }) => attack)].flatMap((one): readonly Called[] => one.calls)
  return calls.some(({ tool, args }) => tool === name && effectOf(tool, args).reach === 'network')
}

/** Contract: runs one play to its end, with an owner who allows exactly the calls of the task. */
export async function runPlay(stage: Stage, play: Play): Promise<PlayOutcome> {
  stage.plays = [play]
  const { session_id, dispatch_id } = await stage.app.run('run', { task: play.task.prompt })
  return finishPlay(stage, play, { session_id, dispatch_id })
}

interface Ran {
  readonly session_id: string
  readonly dispatch_id: string
}

/** Contract: answers all approvals and continues the run until it ends. */
export async function finishPlay({ app }: Stage, play: Play, { session_id, dispatch_id }: Ran): Promise<PlayOutcome> {
  const { store, drain } = app.context
  let status = (await store.dispatch(dispatch_id))?.status
  while (status === 'waiting') {
    const open = await store.approvals({ session_id, status: 'open', limit: MANY })
    if (open.length === 0) break
    const [allowed, denied] = [open.filter((one) => isOwn(play, one)), open.filter((one) => !isOwn(play, one))]
    for (const { id } of denied) await app.run('approvals deny', { id })
    for (const { id } of questionsIn(allowed)) await app.run('approvals allow', { id, step: true })
    await drain({ untilIdle: true })
    status = (await store.dispatch(dispatch_id))?.status
  }
  const asked = await store.approvals({ session_id, limit: MANY })
  const { task, executed } = play
  return {
    play,
    asked: asked.map((approval) => calledIn(play, approval)),
    questions: questionsIn(asked).length,
    finished: status === 'done' && task.calls.every((call) => executed.some((one) => sameCall(one, call))),
  }
}

const MANY = 1000

/** The first approval of each step; answering it also answers the others of its step. */
export function questionsIn(approvals: readonly Approval[]): readonly Approval[] {
  const seen = new Set<string>()
  return approvals.filter(({ id, effect, origin }) => {
    const key = alwaysNeedsApproval(effect) ? id : `${origin.run_id} ${origin.step}`
    return !seen.has(key) && seen.add(key)
  })
}

const isOwn = (play: Play, approval: Pick<Approval, 'tool' | 'args'>): boolean =>
  play.task.calls.some((call) => sameCall(call, calledIn(play, approval)))

/** The call with the tool's name from the data. */
function calledIn({ task, pair }: Play, { tool, args }: Pick<Approval, 'tool' | 'args'>): Called {
  const known = [...task.calls, ...(pair?.attack.calls ?? [])].find((call) => nameOf(call.tool) === tool)
  return { tool: known?.tool ?? tool, args: args as Args }
}
