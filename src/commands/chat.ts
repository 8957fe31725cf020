/** Says something to the agent and waits for the answer. The command line reads one message after the other. */

import { z } from 'zod'
import { DISPATCH_STATUSES, isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { namedChat } from '../kernel/conversation/front-session.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { CONVERSATION_NEEDS } from './lib/conversation.ts'
import { followMessage, type RunReply, WATCH_NEEDS } from './lib/follow-message.ts'
import { rememberReplies, takeMissedReplies } from './lib/missed-replies.ts'
import type { Progress } from './lib/progress.ts'
import { messageInput, sentOutput, submitOwnerMessage, TERMINAL } from './send.ts'

const replySchema = z.object({
  session_id: z.string(),
  dispatch_id: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  text: z.string().nullable().describe('Markdown: the answer, a question, what waits for approval, or what went wrong'),
  files: z.array(z.string()).describe('files that the run created or changed'),
})

export const chat = defineCommand({
  name: 'chat',
  summary: 'talk with your agent',
  example: 'chat "count the words in the inbox and put the result into REPORT.md"',
  runsIn: 'any_process',
  needs: [...CONVERSATION_NEEDS, ...WATCH_NEEDS],
  positional: ['text'],
  input: z.object({
    text: z.string().trim().min(1).optional().describe('one message; without it, the terminal reads many'),
    ...messageInput,
    follow: z.string().optional().describe('send nothing, wait for this run').meta({ idOf: 'dispatch' }),
    missed: z.boolean().default(false).describe('send nothing; the answers that came since the chat was last open'),
    wait: z.boolean().default(true).describe('wait for the answer'),
  }),
  output: z.object({
    ...sentOutput,
    observation_id: z.string().nullable(),
    answer: z.string().nullable().describe('everything that was said, as Markdown; null: no answer yet'),
    replies: z.array(replySchema).describe('one per run that dealt with the message'),
  }),
  async run(context, { text, follow, missed, wait, ...message }, tell) {
    const front = namedChat(message.chat ?? TERMINAL).front
    if (missed) return readMissed(context, front)
    if (follow !== undefined) return followRun(context, follow, front, tell)
    if (text === undefined)
      throw new TirelessError('usage', {
        what: 'the message is missing',
        fix: 'write, for example: tireless chat "hello"',
      })
    const { reply, ...sent } = await submitOwnerMessage(context, { text, ...message })
    const { session_id, dispatch_id, observation_id } = sent
    if (!wait || session_id === null || dispatch_id === null || sent.duplicate)
      return { ...sent, answer: reply, replies: [] }
    // An answer to an approval is not a message that the run reads.
    const read = reply === null ? { observation_id } : {}
    const replies = await followMessage(context, { session_id, dispatch_id, text, ...read }, tell)
    await rememberReplies(context, front, replies)
    return { ...sent, answer: joined([reply, ...replies.map((one) => one.text)]), replies: replies.map(copyReply) }
  },
  exitCode({ replies }) {
    const last = replies.at(-1)?.status
    return last === undefined || last === 'done' ? 0 : isTerminal(last) ? 1 : 3
  },
})

async function followRun(
  context: Needs<(typeof WATCH_NEEDS)[number] | 'kernelId'>,
  dispatch_id: string,
  front: string,
  tell: (progress: Progress) => void,
) {
  const dispatch = await context.store.dispatch(dispatch_id)
  if (!dispatch)
    throw new TirelessError('not_found', { what: 'no such run', got: dispatch_id, fix: 'run tireless queue list' })
  const { session_id, prompt } = dispatch
  const replies = await followMessage(context, { session_id, dispatch_id, text: prompt }, tell)
  await rememberReplies(context, front, replies)
  const answer = joined(replies.map(({ text }) => text))
  return {
    ...{ observation_id: null, session_id, dispatch_id, duplicate: false },
    answer,
    replies: replies.map(copyReply),
  }
}

async function readMissed(context: Needs<'clock' | 'snapshots' | 'store'>, front: string) {
  const replies = await takeMissedReplies(context, front)
  return {
    ...{ observation_id: null, session_id: null, dispatch_id: null, duplicate: false },
    answer: joined(replies.map(({ text }) => text)),
    replies: replies.map(copyReply),
  }
}

const copyReply = (reply: RunReply) => ({ ...reply, files: [...reply.files] })

const joined = (texts: readonly (string | null)[]): string | null =>
  texts.filter((text) => text !== null).join('\n\n') || null
