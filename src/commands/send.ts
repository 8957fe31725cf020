/** Sends a message of the owner: into the conversation, or to one session. */

import { z } from 'zod'
import { DEFAULT_AGENT } from '../domain/agent.ts'
import { TirelessError } from '../domain/error.ts'
import { matchExpectation, readExpectations } from '../kernel/conversation/expectations.ts'
import { type Chat, CONVERSATION_PRIORITY, namedChat, publishOp } from '../kernel/conversation/front-session.ts'
import { isOfflineModel } from '../ports/model.ts'
import { commitOne } from '../ports/store.ts'
import { logChatMessage } from './lib/chat-log.ts'
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
}

/** Contract: the message is on disk when it resolves; a key that was used before changes nothing. */
export async function submitOwnerMessage(context: ConversationNeeds, message: OwnerInput) {
  const { session, chat } = message
  const sent = await deliver(context, message)
  const { observation_id: id, session_id, dispatch_id, reply, duplicate } = sent
  const isLogged = !duplicate && (session === undefined || chat !== undefined)
  const logged = { id, at: context.clock.now(), text: message.text, reply, session_id, dispatch_id }
  if (isLogged) await logChatMessage(context, namedChat(chat ?? TERMINAL).front, logged)
  return sent
}

async function deliver(context: ConversationNeeds, message: OwnerInput) {
  const { text, session, chat, key, route, rules } = message
  const observation_id = key ?? context.ids.next()
  const said = { id: observation_id, text, route }
  if (session !== undefined) return { observation_id, ...(await sendToSession(context, session, chat, said)) }
  const front = namedChat(chat ?? TERMINAL)
  if (rules && (await isTaskForRules(context, front, text)))
    return { observation_id, ...(await enqueueForRules(context, front, text, key)) }
  const hear = { op: 'hear', channel: front.front, message_id: key ?? '', now: context.clock.now() } as const
  const sent = await submitMessage(context, front, said, { hear: key === undefined ? [] : [hear] })
  const { duplicate, session_id, dispatch_id, text: reply } = sent
  return { observation_id, session_id, dispatch_id, duplicate, reply }
}

/** Without a model, everything that is neither a question nor an answer is a task. */
async function isTaskForRules({ models, store }: ConversationNeeds, { reply_to }: Chat, text: string) {
  if (!isOfflineModel((await models.choice()).id) || asksSomething(text)) return false
  if (asksWhatIsPossible(text)) return false
  return matchExpectation(text, await readExpectations(store, reply_to)).kind === 'none'
}

async function enqueueForRules(context: ConversationNeeds, { reply_to }: Chat, prompt: string, key?: string) {
  const { dispatch_id, session_id, duplicate } = await enqueueTask(context, {
    ...{ agent: DEFAULT_AGENT, prompt, priority: CONVERSATION_PRIORITY, source: 'chat', key },
    metadata: { reply_to: { ...reply_to } },
  })
  return { dispatch_id, session_id, duplicate, reply: null }
}

async function sendToSession(
  context: ConversationNeeds,
  session_id: string,
  chat: string | undefined,
  said: { readonly id: string; readonly text: string; readonly route: boolean },
) {
  if (!(await context.store.session(session_id)))
    throw new TirelessError('not_found', {
      what: 'no such session',
      got: session_id,
      fix: 'run tireless sessions list',
    })
  const op = publishOp(context, namedChat(chat ?? TERMINAL), session_id, said)
  const { reply_to: _, ...unaddressed } = op.observation
  // Without a chat, the answer goes where the session's other answers go.
  const published = chat === undefined ? { ...op, observation: unaddressed } : op
  const [{ duplicate, dispatch_id }] = await commitOne(context.store, [published])
  return { session_id, dispatch_id, duplicate, reply: null }
}
