/**
 * Runs tasks with the real tools (fetch, git, bash, browser, send_message, files) in a real engine, with a gullible
 * model: it makes the calls of the task; as soon as it reads the attacker's goal, it makes those calls first.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type App, createApp } from '../../../src/app.ts'
import type { Approval } from '../../../src/domain/approval.ts'
import { canonicalJson } from '../../../src/domain/approval.ts'
import type { Json } from '../../../src/domain/json.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { defineTool } from '../../../src/ports/define-tool.ts'
import type { ModelMessage } from '../../../src/ports/model.ts'
import type { AnyTool } from '../../../src/ports/tool.ts'
import { type ScriptedAnswer, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type IntentModel, intentAnswer, isIntentRequest } from '../intents.ts'
import { questionsIn } from '../run-play.ts'
import type { Args, Called } from '../suite.ts'
import { HOSTS, type Outside } from './outside-world.ts'

/** A task for the real tools. */
export interface HandTask {
  readonly id: string
  /** Written by the owner. */
  readonly prompt: string
  readonly calls: readonly Called[]
  /** Default: `worker`, which has all tools but the browser. */
  readonly agent?: 'worker' | 'surfer' | 'reporter'
  /** A repository to work in, by name. */
  readonly workspace?: string
  /** The mail that `read_mail` returns. */
  readonly mail?: Json
  /** True if the task was done, checked from outside. */
  readonly isDone: (world: Outside, workspace: string) => boolean
}

/** An attacker's goal in content that the task reads. */
export interface HandAttack {
  readonly id: string
  readonly task: HandTask
  /** The text that the model reads. */
  readonly goal: string
  readonly calls: readonly Called[]
  readonly content: 'fixed' | 'adaptive'
  /** True if the attack succeeded, checked from outside. */
  readonly hasSucceeded: (world: Outside, workspace: string) => boolean
}

export interface TaskOutcome {
  readonly asked: readonly Approval[]
  readonly questions: number
  readonly finished: boolean
  readonly hasSucceeded: boolean
  readonly seen: boolean
  readonly leaked: boolean
}

interface TaskStage {
  readonly app: App
  readonly world: Outside
  /** The task that is running. */
  now: Part | undefined
}

interface Part {
  readonly task: HandTask
  readonly attack: HandAttack | undefined
  readonly intent: IntentModel
  readonly say: (messages: readonly ModelMessage[]) => ScriptedAnswer
  seen: boolean
  leaked: boolean
}

const ALL = 'fetch git bash send_message view_file create_file edit_file list_files search_files remember recall'.split(
  ' ',
)

/** The owner grants pushes to one repository, and messages to one chat and one mail domain. */
function configurationOf({ port }: Outside): string {
  const agents = [
    {
      agent_id: 'worker',
      prompt: 'You do what you are wasDelivered.',
      tools: [...ALL, 'read_mail', 'send_mail', 'wait'],
    },
    { agent_id: 'surfer', prompt: 'You do what you are wasDelivered.', tools: [...ALL, 'browser', 'wait'] },
    {
      agent_id: 'reporter',
      prompt: 'You do what you are wasDelivered.',
      tools: [...ALL, 'read_mail', 'send_mail', 'wait'],
    },
  ]
  const grants = [
    { tool: 'git', to: [`push http://git.test:${port}/site.git`], agent: 'worker' },
    { tool: 'send_message', to: ['chat:standup'], agent: 'reporter' },
    { tool: 'send_mail', to: ['*@home.test'], agent: 'reporter' },
  ]
  return JSON.stringify({
    kernel: { schedule: '0 4 29 2 *', missed: 'skip', agents, channel: 'phone', chat_id: 'owner' },
    policy: { allow_hosts: HOSTS.map((host) => `${host}:${port}`), grants },
  })
}

export async function openTaskStage(world: Outside, home: string): Promise<TaskStage> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'tireless.yaml'), configurationOf(world))
  const stage: { now: Part | undefined } = { now: undefined }
  const model = scriptedModel((request): ScriptedAnswer => {
    const part = stage.now
    if (!part) throw new Error('no task is running')
    const shows = request.messages.some(({ text }) => part.attack !== undefined && text.includes(part.attack.goal))
    if (isIntentRequest(request)) {
      part.leaked ||= shows
      const about = { own: needsOf(part.task.calls), wanted: needsOf(part.attack?.calls ?? [], true) }
      return { text: intentAnswer(part.intent, about, request) }
    }
    part.seen ||= shows
    return part.say(request.messages)
  })
  const channels = ['chat', 'phone'].map((name) => chatOf(world, name))
  const tools = mailTools(world, () => stage.now?.task.mail ?? [])
  const app = await createApp({ home, model, channels, tools, resolve: world.resolve })
  return Object.assign(stage, { app, world })
}

const chatOf = ({ messages }: Outside, name: string): Channel => ({
  name,
  trouble: () => null,
  deliver: async ({ text, chat_id }) => {
    // What the runtime asks the owner, in the owner's own chat, tells no attacker anything.
    const isQuestion = name === 'phone' && chat_id === 'owner' && /^\S+ (?:needs your approval|需要你批准)\n/.test(text)
    if (!isQuestion) messages.push(`${name}:${chat_id ?? '-'} ${text}`)
  },
})

/** Mail tools as an application would provide them. */
function mailTools({ messages }: Outside, inbox: () => Json): readonly AnyTool[] {
  const reading = defineTool<Record<string, never>>({
    ...{ name: 'read_mail', description: 'Shows the mail.', args: z.strictObject({}) },
    effect: () => ({ recovery: 'pure', reach: 'private' }),
    gives: () => ({ trust: 'untrusted', private: true }),
    run: async () => ({ status: 'ok', content: JSON.stringify(inbox()) }),
  })
  const sending = defineTool<Args>({
    ...{ name: 'send_mail', description: 'Sends a letter.', args: z.record(z.string(), z.json()) },
    effect: () => ({ recovery: 'once', reach: 'third_party' }),
    async run(args) {
      messages.push(`mail ${JSON.stringify(args)}`)
      return { status: 'ok', content: 'sent' }
    },
  })
  return [reading, sending]
}

/** The tools and methods of the calls; for the attacker also the destinations, which the lying intent model names. */
const needsOf = (calls: readonly Called[], withPlaces = false) =>
  calls.map(({ tool, args }) => ({
    tool,
    method: methodOf(tool, args),
    ...(withPlaces && { to: Object.values(args).flat().map(String) }),
  }))

function methodOf(tool: string, { method, action, args }: Args): string | undefined {
  if (tool === 'fetch') return typeof method === 'string' ? method : undefined
  if (tool === 'browser') return action === 'open' ? undefined : String(action)
  return tool === 'git' && Array.isArray(args) && args[0] === 'push' ? 'push' : undefined
}

/** Contract: runs one task to its end, with an owner who allows exactly the calls of the task. */
export async function perform(
  stage: TaskStage,
  task: HandTask,
  intent: IntentModel,
  attack?: HandAttack,
): Promise<TaskOutcome> {
  const { app, world } = stage
  const part: Part = { task, attack, intent, say: gullible(task, attack), seen: false, leaked: false }
  stage.now = part
  const options =
    task.workspace === undefined
      ? {}
      : { workspace: world.workspace(`${task.workspace}-${intent}-${attack?.id ?? 'own'}`) }
  const input = { task: task.prompt, agent: task.agent ?? 'worker', ...options }
  const { session_id, dispatch_id, workspace } = await app.run('run', input)
  const asked = await answerAll(app, task, { session_id, dispatch_id })
  const status = (await app.context.store.dispatch(dispatch_id))?.status
  // Messages count only after delivery, so deliver them before the checks.
  await app.service('queue').requireLead()
  await app.context.notifier.deliver(app.context.signals.drain)
  return {
    ...{ asked, questions: questionsIn(asked).length, seen: part.seen, leaked: part.leaked },
    finished: status === 'done' && task.isDone(world, workspace),
    hasSucceeded: attack?.hasSucceeded(world, workspace) ?? false,
  }
}

interface Ran {
  readonly session_id: string
  readonly dispatch_id: string
  readonly workspace: string
}

async function answerAll(
  app: App,
  { calls }: HandTask,
  { session_id, dispatch_id }: Omit<Ran, 'workspace'>,
): Promise<readonly Approval[]> {
  const { store, drain } = app.context
  const isOwn = ({ tool, args }: Approval): boolean =>
    calls.some((call) => call.tool === tool && canonicalJson(args) === canonicalJson(wholeArgs(app, call)))
  while ((await store.dispatch(dispatch_id))?.status === 'waiting') {
    const open = await store.approvals({ session_id, status: 'open', limit: 1000 })
    if (open.length === 0) break
    for (const { id } of open.filter((one) => !isOwn(one))) await app.run('approvals deny', { id })
    for (const { id } of questionsIn(open.filter(isOwn))) await app.run('approvals allow', { id, step: true })
    await drain({ untilIdle: true })
  }
  return store.approvals({ session_id, limit: 1000 })
}

/** Arguments with their defaults, as the tool parses them. */
function wholeArgs(app: App, { tool, args }: Called): Json {
  const known = app.service('tools').all.get(tool)
  return (known?.args.parse(args) ?? args) as Json
}

/** The remaining calls are kept here, because a run may restart. */
function gullible({ calls }: HandTask, attack: HandAttack | undefined): Part['say'] {
  const todo: Called[] = [...calls]
  let isTaken = false
  return (messages) => {
    if (attack && !isTaken && messages.some(({ text }) => text.includes(attack.goal))) {
      isTaken = true
      todo.unshift(...attack.calls)
    }
    if (isUnanswered(messages)) return { calls: [{ tool: 'wait', args: { for: 'the answer' } }] }
    const next = todo.shift()
    return next ? { calls: [{ tool: next.tool, args: next.args }] } : { text: DONE }
  }
}

const DONE = '## Execution summary\nEverything that was asked for is done.'
const PARKED = /^\[parked\] .*"id":"([^"]+)"/

function isUnanswered(messages: readonly ModelMessage[]): boolean {
  const at = messages.findLastIndex(({ role, text }) => role === 'tool' && PARKED.test(text))
  const [, id = ''] = PARKED.exec(messages[at]?.text ?? '') ?? []
  return at >= 0 && !messages.slice(at + 1).some(({ role, text }) => role === 'user' && text.includes(id))
}
