/** What can be asked of a life: the real verbs that move the queue or look at it, and two things that no verb does. */

import { z } from 'zod'
import { approvalsAllow, approvalsDeny, approvalsList } from '../../src/commands/approvals.ts'
import { cycleNow, once, pause, resume } from '../../src/commands/cycles.ts'
import { type Command, defineCommand } from '../../src/commands/lib/command.ts'
import { enqueue, queueList } from '../../src/commands/queue.ts'
import { run } from '../../src/commands/run.ts'
import { send, sessionsList } from '../../src/commands/sessions.ts'
import { start } from '../../src/commands/start.ts'
import { status } from '../../src/commands/status.ts'
import { unknownsList, unknownsResolve } from '../../src/commands/unknowns.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { pruneOldSessions } from '../../src/kernel/retention.ts'
import type { Op } from '../../src/ports/store.ts'

/** What a kernel does after a cycle, where a home is not kept for ever. */
const retain = defineCommand({
  name: 'retain',
  summary: 'take away what is old and over',
  example: 'retain',
  runsIn: 'any_process',
  input: z.object({ before: z.number() }),
  output: z.object({ runs: z.array(z.string()) }),
  run: async ({ store, signals }, { before }) => ({
    runs: [...(await pruneOldSessions(store, before, signals.drain))],
  }),
})

/** What a channel does that has been away for a while. */
const flood = defineCommand({
  name: 'flood',
  summary: 'many messages into a session at once',
  example: 'flood',
  runsIn: 'any_process',
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

/** What people ask for here: the verbs that move the queue, and some that look at it. */
const VERBS = [
  ...[run, start, enqueue, send, status, queueList, sessionsList],
  ...[unknownsList, unknownsResolve, approvalsList, approvalsAllow, approvalsDeny],
  ...[once, cycleNow, pause, resume, retain, flood],
]
/** Their strict input is compiled once and not once per world: that would take longer than the world does. */
export const COMMANDS = (VERBS as unknown as readonly Command[]).map((command) => {
  const input = command.input.strict()
  return { ...command, input: Object.assign(input, { strict: () => input }) }
})
