/** What the library does to one task. As commands, so that input, output and secrets are handled as everywhere. */

import { z } from 'zod'
import { isTerminal } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { commitOne } from '../../ports/store.ts'
import { deliver, describeRun, runInput, runOutput, START_NEEDS, startRun } from '../run.ts'
import { defineCommand } from './command.ts'
import { typedAs } from './output-schemas.ts'

const KEY = z.string().min(1).max(1000)

/** Starts a task, or finds the one that was started with the same key. */
export const taskStart = defineCommand({
  name: 'run',
  summary: 'start a task without waiting for it',
  example: 'run "summarize the README in three sentences"',
  runsIn: 'own_process',
  needs: START_NEEDS,
  input: runInput.extend({ key: KEY.optional() }),
  output: z.object({
    dispatch_id: z.string(),
    session_id: z.string(),
    workspace: z.string(),
    duplicate: z.boolean(),
  }),
  run: (context, { key, ...input }, tell) => startRun(context, input, { source: 'library', key }, tell),
})

const idInput = z.object({ id: z.string().meta({ idOf: 'dispatch' }) })

/** Tells people what the task waits for; returns what has come of it so far. */
export const taskState = defineCommand({
  name: 'run',
  summary: 'what has come of a task so far',
  example: 'run "summarize the README in three sentences"',
  runsIn: 'own_process',
  needs: ['kernel', 'listen', 'notifier', 'signals', 'snapshots', 'store'],
  input: idInput,
  output: runOutput,
  async run(context, { id }, tell) {
    const { store } = context
    const dispatch = await store.dispatch(id)
    const session = dispatch && (await store.session(dispatch.session_id))
    if (!dispatch || !session)
      throw new TirelessError('not_found', { what: 'no such task', got: id, fix: 'run tireless queue list' })
    await deliver(context, tell)
    return describeRun(context, { dispatch_id: id, session_id: session.session_id, workspace: session.workspace }, tell)
  },
})

/** Sends a named event to a task that has not ended. */
export const taskEvent = defineCommand({
  name: 'send',
  summary: 'send a named event to a task',
  example: 'send "now"',
  runsIn: 'own_process',
  needs: ['clock', 'ids', 'store'],
  input: idInput.extend({ name: z.string(), payload: typedAs<Json>(z.json()) }),
  output: z.null(),
  async run({ clock, ids, store }, { id, name, payload }) {
    const { status, session_id } = (await store.dispatch(id)) ?? {}
    if (status === undefined || session_id === undefined || isTerminal(status))
      throw new TirelessError('conflict', { what: 'the task has ended', got: status ?? 'no such task' })
    const now = clock.now()
    const observation = { id: ids.next(), ts: now, type: 'system_event', name, payload } as const
    await commitOne(store, [{ op: 'publish', session_id, observation, successor_id: ids.next(), now }])
    return null
  },
})
