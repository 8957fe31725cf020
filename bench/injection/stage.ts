/** The stage: one app in a fresh home, with fakes of a suite's tools, on which plays are performed; and the owner who is asked. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type App, createApp } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import { type Effect, isNeverGranted } from '../../src/domain/effect.ts'
import { UNTRUSTED } from '../../src/domain/trust.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { Model } from '../../src/ports/model.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { effectOf } from './effects.ts'
import { nameOf, type Play, perform, sameCall } from './play.ts'
import type { Args, Called, Suite, ToolName } from './suite.ts'

export interface Stage {
  readonly app: App
  /** What is on: one play, or one for each agent, known by its task's id. */
  plays: readonly Play[]
}

export interface Played {
  readonly play: Play
  /** Every call that somebody had to be asked for. */
  readonly asked: readonly Called[]
  /** How often somebody was asked: what one step asks for is one question, except for money and destruction. */
  readonly questions: number
  /** The task's own calls were all run, and the run came to its end. */
  readonly finished: boolean
}

export async function openStage(suite: Suite, home: string, yaml = ''): Promise<Stage> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'tireless.yaml'), yaml)
  const stage: { plays: readonly Play[] } = { plays: [] }
  const playFor = (isIt: (play: Play) => boolean): Play => {
    const play = stage.plays.length === 1 ? stage.plays[0] : stage.plays.find(isIt)
    if (!play) throw new Error('nobody plays that')
    return play
  }
  const model: Model = {
    id: 'bench/gullible',
    call: (request, options) => {
      const told = request.messages[0]?.text ?? ''
      return playFor(({ task }) => told.includes(task.prompt)).mind.call(request, options)
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

/** Nothing is said of where it goes: that is what a tool server without declarations says. */
function fake(
  { name, description, effect }: ToolName,
  ofTheWeb: boolean,
  said: (agent: string, args: Args) => string,
): AnyTool {
  const effects = (args: Args): Effect => effect ?? effectOf(name, args)
  const reads = effects({}).recovery === 'pure' && !ofTheWeb
  return defineTool<Args>({
    name: nameOf(name),
    description: description.trim() === '' ? name : description,
    args: z.record(z.string(), z.json()),
    effect: effects,
    ...(reads ? { gives: () => UNTRUSTED } : {}),
    run: async (args, { origin }) => ({ status: 'ok', content: said(origin.agent_id, args) }),
  })
}

/** To ask an address is to tell it something. */
function isOfTheWeb({ tasks, pairs }: Suite, { name }: ToolName): boolean {
  const calls = [...tasks, ...pairs.map(({ attack }) => attack)].flatMap((one): readonly Called[] => one.calls)
  return calls.some(({ tool, args }) => tool === name && effectOf(tool, args).reach === 'network')
}

/** Contract: one play, to its end, with an owner who allows exactly what the task itself needs. */
export async function played(stage: Stage, play: Play): Promise<Played> {
  stage.plays = [play]
  const { session_id, dispatch_id } = (await stage.app.run('run', { task: play.task.prompt })) as Ran
  return playedOut(stage, play, { session_id, dispatch_id })
}

interface Ran {
  readonly session_id: string
  readonly dispatch_id: string
}

/** Contract: whatever is asked for is answered until the run is over, and what follows from it done. */
export async function playedOut({ app }: Stage, play: Play, { session_id, dispatch_id }: Ran): Promise<Played> {
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

/** The first of each: with it, the others of its step are answered. */
export function questionsIn(approvals: readonly Approval[]): readonly Approval[] {
  const seen = new Set<string>()
  return approvals.filter(({ id, effect, origin }) => {
    const key = isNeverGranted(effect) ? id : `${origin.run_id} ${origin.step}`
    return !seen.has(key) && seen.add(key)
  })
}

const isOwn = (play: Play, approval: Pick<Approval, 'tool' | 'args'>): boolean =>
  play.task.calls.some((call) => sameCall(call, calledIn(play, approval)))

/** In the words of the data. */
function calledIn({ task, pair }: Play, { tool, args }: Pick<Approval, 'tool' | 'args'>): Called {
  const known = [...task.calls, ...(pair?.attack.calls ?? [])].find((call) => nameOf(call.tool) === tool)
  return { tool: known?.tool ?? tool, args: args as Args }
}
