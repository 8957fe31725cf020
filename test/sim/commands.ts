/** The commands of a simulated process: real verbs that change or read the queue, and two for the simulator only. */

import { z } from 'zod'
import { approvalsAllow, approvalsDeny, approvalsList } from '../../src/commands/approvals.ts'
import { cycleNow, once, pause, resume } from '../../src/commands/cycles.ts'
import { type Command, defineCommand } from '../../src/commands/lib/command.ts'
import { enqueue, queueList } from '../../src/commands/queue.ts'
import { run } from '../../src/commands/run.ts'
import { send } from '../../src/commands/send.ts'
import { sessionsList } from '../../src/commands/sessions.ts'
import { start } from '../../src/commands/start.ts'
import { status } from '../../src/commands/status.ts'
import { unknownsList, unknownsResolve } from '../../src/commands/unknowns.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { pruneOldSessions } from '../../src/kernel/retention.ts'
import type { Op } from '../../src/ports/store.ts'

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

/** The verbs that change the queue, and some that read it. */
const VERBS = [
  ...[run, start, enqueue, send, status, queueList, sessionsList],
  ...[unknownsList, unknownsResolve, approvalsList, approvalsAllow, approvalsDeny],
  ...[once, cycleNow, pause, resume, retain, flood],
]
/** The strict input schema is compiled once: compiling it per world would take longer than the world itself. */
export const COMMANDS = (VERBS as unknown as readonly Command[]).map((command) => {
  const input = command.input.strict()
  return { ...command, input: Object.assign(input, { strict: () => input }) }
})
