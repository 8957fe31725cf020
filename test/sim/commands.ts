/** The commands of a simulated process: real verbs that change or read the queue, and two for the simulator only. */

import { z } from 'zod'
import { approvalsAllow, approvalsDeny, approvalsList } from '../../src/commands/approvals.ts'
import { cycleNow, once, pause, resume } from '../../src/commands/cycles.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { type Command, defineCommand } from '../../src/commands/lib/command.ts'
import type { CommandContext } from '../../src/commands/lib/context.ts'
import { CONVERSATION_NEEDS } from '../../src/commands/lib/conversation.ts'
import { observeCommand } from '../../src/commands/observe.ts'
import { enqueue, queueCancel } from '../../src/commands/queue.ts'
import { queueList } from '../../src/commands/queue-list.ts'
import { run } from '../../src/commands/run.ts'
import { send } from '../../src/commands/send.ts'
import { sessionsList } from '../../src/commands/sessions.ts'
import { start } from '../../src/commands/start.ts'
import { status } from '../../src/commands/status.ts'
import { undo } from '../../src/commands/undo.ts'
import { unknownsList, unknownsResolve } from '../../src/commands/unknowns.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { pruneOldSessions } from '../../src/kernel/retention.ts'
import type { Op } from '../../src/ports/store.ts'
import { CHANNEL } from './talk-plan.ts'

/** The pruning that a kernel does after a cycle when retention is configured. */
const retain = defineCommand({
  name: 'retain',
  summary: 'delete finished sessions that are old enough',
  example: 'retain',
  runsIn: 'any_process',
  needs: ['signals', 'store'],
  input: z.object({ before: z.number() }),
  output: z.object({ runs: z.array(z.string()) }),
  run: async ({ store, signals }, { before }) => ({
    runs: [...(await pruneOldSessions(store, before, signals.drain))],
  }),
})

/** A channel that delivers a backlog at once after an outage. */
const flood = defineCommand({
  name: 'flood',
  summary: 'many messages into a session at once',
  example: 'flood',
  runsIn: 'any_process',
  needs: ['clock', 'ids', 'store'],
  input: z.object({ session: z.string(), of: z.string(), count: z.number() }),
  output: z.object({ observation_ids: z.array(z.string()) }),
  async run({ store, clock, ids }, { session: session_id, of, count }) {
    const [now, successor_id] = [clock.now(), ids.next()]
    const texts = Array.from(
      { length: count },
      (_, i) => `${of}m${i} is one of many messages, none of which may be lost`,
    )
    const publish = (text: string): Op => {
      const observation = { id: text.split(' ', 1)[0] ?? '', type: 'user_message', text, ts: now } as const
      return { op: 'publish', session_id, observation, successor_id, now }
    }
    const outcomes = await store.commit(texts.map((text) => ({ ops: [publish(text)] })))
    const refused = outcomes.find((outcome) => !outcome.ok)
    if (refused && !refused.ok) throw new TirelessError(refused.code, refused.message)
    return { observation_ids: texts.map((text) => text.split(' ', 1)[0] ?? '') }
  },
})

/** A channel delivers a message, at least once. */
const say = defineCommand({
  name: 'say',
  summary: 'a message in a chat of a channel',
  example: 'say',
  runsIn: 'any_process',
  needs: [...CONVERSATION_NEEDS, 'channels', 'settings', 'notifier'],
  input: z.object({ chat: z.string(), message_id: z.string(), text: z.string() }),
  output: z.object({ duplicate: z.boolean() }),
  run: (context, { chat: chat_id, ...said }) =>
    handleChatMessage(context as CommandContext, { channel: CHANNEL, chat_id, user_id: 'owner', ...said }),
})

/** A channel that a resident listens to delivers a message, at least once. */
const bring = defineCommand({
  name: 'bring',
  summary: 'a message of a chat to a resident',
  example: 'bring',
  runsIn: 'any_process',
  needs: ['residents'],
  input: z.object({ agent: z.string(), id: z.string(), text: z.string(), chat: z.string() }),
  output: z.object({ duplicate: z.boolean() }),
  run: ({ residents }, { agent, id, text, chat }) =>
    residents.publish({
      ...{ agents: [agent], id, observation: { type: 'user_message', text } },
      replyTo: { channel: CHANNEL, chat },
    }),
})

/** The verbs that change the queue, and some that read it. */
const VERBS = [
  ...[run, start, enqueue, send, status, queueList, queueCancel, sessionsList],
  ...[unknownsList, unknownsResolve, approvalsList, approvalsAllow, approvalsDeny],
  ...[once, cycleNow, pause, resume, retain, flood, say, undo],
  ...[observeCommand, bring],
]
/** The strict input schema is compiled once: compiling it per world would take longer than the world itself. */
export const COMMANDS = (VERBS as unknown as readonly Command[]).map((command) => {
  const input = command.input.strict()
  return { ...command, input: Object.assign(input, { strict: () => input }) }
})
