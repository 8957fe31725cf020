/** Sends a message of the owner: into the conversation, or to one session. */

import { z } from 'zod'
import { DEFAULT_AGENT } from '../domain/agent.ts'
import { TirelessError } from '../domain/error.ts'
import { matchExpectation, readExpectations } from '../kernel/conversation/expectations.ts'
import { type Chat, CONVERSATION_PRIORITY, namedChat, publishOp } from '../kernel/conversation/front-session.ts'
import { isOfflineModel } from '../ports/model.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { inChatLog, logOps, readChatLog } from './lib/chat-log.ts'
import { defineCommand } from './lib/command.ts'
import { asksSomething, CONVERSATION_NEEDS, type ConversationNeeds, submitMessage } from './lib/conversation.ts'
import { asksWhatIsPossible } from './lib/offline-help.ts'
import { enqueueTask } from './queue.ts'

/** The chat of a message that names none. */
export const TERMINAL = 'terminal'

export const messageInput = {
  session: z.string().optional().describe('only to this session; default: the agent finds out who it is for').meta({
    idOf: 'session',
  }),
  chat: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe('name of the chat that the message belongs to, and the answer goes to (default: terminal)'),
  key: z.string().min(1).optional().describe('a message with a key that was used before is ignored'),
  route: z.boolean().default(false).describe('with --session: the session first decides what to do with it'),
  rules: z.boolean().default(false).describe('without a model: work on a simple task by rules, as `run` does'),
  answers: z.string().optional().describe('with --session: only if this run still waits for an answer'),
  asked_until: z.number().optional().describe('with --answers: until when the question waits, if another may follow'),
  new: z.boolean().default(false).describe('something new: it does not answer what was asked'),
}

export const sentOutput = {
  observation_id: z.string(),
  session_id: z.string().nullable().describe('the session that got the message'),
  dispatch_id: z.string().nullable(),
  duplicate: z.boolean(),
}

export const send = defineCommand({
  name: 'send',
  summary: 'send a message to your agent, or to one session',
  example: 'send "what did you do today?"',
  runsIn: 'any_process',
  needs: [...CONVERSATION_NEEDS, 'isQueueWorked'],
  positional: ['text'],
  input: z.object({ text: z.string().trim().min(1).describe('the message'), ...messageInput }),
  output: z.object({
    ...sentOutput,
    reply: z.string().nullable().describe('what is said at once; the answer follows later'),
    kernel_running: z.boolean().describe('false: the message is read when a kernel is started'),
  }),
  async run(context, message) {
    const { reply, ...sent } = await submitOwnerMessage(context, message)
    return { ...sent, reply, kernel_running: await context.isQueueWorked() }
  },
})

interface OwnerInput {
  readonly text: string
  readonly session?: string | undefined
  readonly chat?: string | undefined
  readonly key?: string | undefined
  readonly route: boolean
  readonly rules: boolean
  readonly new: boolean
  readonly answers?: string | undefined
  readonly asked_until?: number | undefined
}

/**
 * Contract: the message is on disk when it resolves, and in the log of its chat, by one commit. A key that was used
 * before changes nothing.
 */
export async function submitOwnerMessage(context: ConversationNeeds, message: OwnerInput) {
  const { session, chat, text, key } = message
  const id = key ?? context.ids.next()
  if (session !== undefined && chat === undefined) return deliver(context, message, id, async () => [])
  const { front } = namedChat(chat ?? TERMINAL)
  const at = context.clock.now()
  const log = (became: Became) => logOps(context, front, { id, at, text, ...became })
  return inChatLog(context, front, async () => {
    const sent = await deliver(context, message, id, (became) => log({ ...became, dispatch_id: null }))
    const { session_id, dispatch_id, reply } = sent
    const ops = dispatch_id === null ? [] : await log({ session_id, dispatch_id, reply })
    if (ops.length > 0) await commitOne(context.store, ops)
    return sent
  })
}

interface Became {
  readonly session_id: string | null
  readonly dispatch_id: string | null
  readonly reply: string | null
}

/** Contract: operations for the commit that accepts the message. */
type LogDelivery = (became: Omit<Became, 'dispatch_id'>) => Promise<readonly Op[]>

async function deliver(context: ConversationNeeds, message: OwnerInput, observation_id: string, log: LogDelivery) {
  const { text, session, key, route, rules, new: isNew } = message
  const said = { id: observation_id, text, route, isNew }
  if (session !== undefined) return { observation_id, ...(await sendToSession(context, session, message, said, log)) }
  const front = namedChat(message.chat ?? TERMINAL)
  if (rules && (await isTaskForRules(context, front, said)))
    return { observation_id, ...(await enqueueForRules(context, front, message, log)) }
  const hear = { op: 'hear', channel: front.front, message_id: key ?? '', now: context.clock.borneOut() } as const
  const delivery = { hear: key === undefined ? [] : [hear], log }
  const { duplicate, session_id, dispatch_id, text: reply } = await submitMessage(context, front, said, delivery)
  return { observation_id, session_id, dispatch_id, duplicate, reply }
}

/** Without a model, everything that is neither a question nor an answer is a task. */
async function isTaskForRules(
  { models, store }: ConversationNeeds,
  { reply_to }: Chat,
  { text, isNew }: { readonly text: string; readonly isNew: boolean },
) {
  if (!isOfflineModel((await models.choice()).id) || asksSomething(text)) return false
  if (asksWhatIsPossible(text)) return false
  return isNew || matchExpectation(text, await readExpectations(store, reply_to)).kind === 'none'
}

async function enqueueForRules(
  context: ConversationNeeds,
  { reply_to }: Chat,
  { text, key }: OwnerInput,
  log: LogDelivery,
) {
  const { dispatch_id, session_id, duplicate } = await enqueueTask(context, {
    ...{ agent: DEFAULT_AGENT, prompt: text, priority: CONVERSATION_PRIORITY, source: 'chat', key },
    metadata: { reply_to: { ...reply_to } },
    also: (to) => log({ session_id: to, reply: null }),
  })
  return { dispatch_id, session_id, duplicate, reply: null }
}

async function sendToSession(
  context: ConversationNeeds,
  session_id: string,
  { chat, answers, asked_until }: OwnerInput,
  said: { readonly id: string; readonly text: string; readonly route: boolean },
  log: LogDelivery,
) {
  if (!(await context.store.session(session_id)))
    throw new TirelessError('not_found', {
      what: 'no such session',
      got: session_id,
      fix: 'run tireless sessions list',
    })
  if (answers !== undefined) await refuseIfAnswered(context, { answers, asked_until, chat, id: said.id })
  const op = publishOp(context, namedChat(chat ?? TERMINAL), session_id, said)
  const { reply_to: _, ...unaddressed } = op.observation
  // Without a chat, the answer goes where the session's other answers go.
  const published = chat === undefined ? { ...op, observation: unaddressed } : op
  const ops = [published, ...(await log({ session_id, reply: null }))] as const
  const [{ duplicate, dispatch_id }] = await commitOne(context.store, ops)
  return { session_id, dispatch_id, duplicate, reply: null }
}

interface AnswerTo {
  readonly answers: string
  readonly asked_until: number | undefined
  readonly chat: string | undefined
  /** The message; it may have been accepted before. */
  readonly id: string
}

/** The question may have been answered in another window, or another one asked since. */
async function refuseIfAnswered(context: ConversationNeeds, { answers, asked_until, chat, id }: AnswerTo) {
  const dispatch = await context.store.dispatch(answers)
  const { until } = dispatch?.wait ?? {}
  if (dispatch?.status === 'waiting' && (asked_until === undefined || asked_until === until)) return
  const log = await readChatLog(context, namedChat(chat ?? TERMINAL).front)
  if (log.some((one) => one.id === id)) return
  throw new TirelessError('conflict', {
    what: 'the question is no longer open, so the answer was not sent',
    got: `run ${answers}, which is ${dispatch?.status ?? 'unknown'}`,
    expected: 'a run that waits for the answer to this question',
    fix: 'look at the run; write to its session without naming the question',
  })
}
