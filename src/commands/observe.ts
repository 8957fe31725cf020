/** Publishes an observation: to a resident, or as an event to the runs of an agent that wait for it. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import { namedFrontSessionId } from '../domain/reply-to.ts'
import { wakesWait } from '../domain/wait.ts'
import type { BusObservation } from '../ports/bus.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { TERMINAL } from './send.ts'

/** Waiting runs that one event may wake. */
const MAX_WOKEN = 1000

export const observeCommand = defineCommand({
  name: 'observe',
  summary: 'tell a resident what happened, or wake the runs of an agent that wait for an event',
  example: 'observe --agent watcher --type door_opened --payload \'{"door": 2}\'',
  runsIn: 'any_process',
  needs: ['clock', 'draining', 'ids', 'isQueueWorked', 'residents', 'store'],
  input: z.object({
    agent: z.string().trim().min(1).describe('the resident, or the agent whose runs wait'),
    type: z.string().trim().min(1).max(100).describe('user_message, or the name of the event'),
    payload: z.string().max(1_000_000).optional().describe('JSON; for user_message the text, or {"text": …}'),
    key: z.string().min(1).max(200).optional().describe('an observation with a key that was used before is ignored'),
    latest: z.boolean().default(false).describe('keep only the latest value of this type; it causes no look'),
  }),
  output: z.object({
    observation_id: z.string(),
    agent: z.string(),
    latest: z.boolean(),
    duplicate: z.boolean(),
    woken: z.number().describe('waiting runs that the event wakes; residents see it at their next look'),
    kernel_running: z.boolean().describe('false: it is seen after a kernel is started'),
  }),
  async run(context, { agent, type, payload, key, latest }) {
    const { residents, ids, draining, isQueueWorked } = context
    const observation_id = key ?? ids.next()
    const value = payload === undefined ? undefined : parsePayload(payload, type)
    const shared = { observation_id, agent, latest, kernel_running: await isQueueWorked() }
    if (latest) {
      if (!residents.isResident(agent)) throw unknownAgent(context, agent)
      if (!draining()) throw noMemory()
      residents.setSlice([agent], type, value ?? null)
      return { ...shared, duplicate: false, woken: 0 }
    }
    const observation = observationOf(type, value)
    if (!residents.isResident(agent))
      return { ...shared, ...(await wakeRuns(context, agent, observation_id, observation)) }
    const replyTo = observation.type === 'user_message' ? { session: namedFrontSessionId(TERMINAL) } : undefined
    const { duplicate } = await residents.publish({ agents: [agent], id: observation_id, observation, replyTo })
    return { ...shared, duplicate, woken: 0 }
  },
})

const noMemory = (): TirelessError =>
  new TirelessError('not_found', {
    what: 'the latest values are in the memory of a running kernel, and none runs; this one is not kept',
    fix: 'tireless start; or leave out --latest: then it is kept until it is seen',
  })

function parsePayload(text: string, type: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (thrown) {
    if (type === 'user_message') return text
    throw new TirelessError('usage', {
      what: 'the payload is not JSON',
      got: `${text.slice(0, 80)} (${thrown instanceof Error ? thrown.message : ''})`,
      expected: 'JSON, such as \'{"door": 2}\' or \'"text"\'',
    })
  }
}

function observationOf(type: string, value: Json | undefined): BusObservation {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, Json>>
  if (type === 'user_message') {
    const text = typeof value === 'string' ? value : fields.text
    if (typeof text === 'string' && text.trim() !== '') return { type, text }
    throw new TirelessError('usage', {
      ...{
        what: 'a user_message needs a text',
        got: JSON.stringify(value ?? null),
        expected: '--payload \'{"text": "…"}\'',
      },
    })
  }
  // The shape of the bus itself: {"type": "system_event", "name", "payload"}.
  if (type === 'system_event' && typeof fields.name === 'string' && fields.name !== '')
    return { type, name: fields.name, ...(fields.payload === undefined ? {} : { payload: fields.payload }) }
  return { type: 'system_event', name: type, ...(value === undefined ? {} : { payload: value }) }
}

/** Events that wake waiting runs by name. */
async function wakeRuns(
  context: Needs<'clock' | 'ids' | 'residents' | 'store'>,
  agent: string,
  id: string,
  observation: BusObservation,
): Promise<{ readonly duplicate: boolean; readonly woken: number }> {
  const { store, clock, ids } = context
  const now = clock.now()
  const full: Observation = { id, ts: now, ...observation }
  const waiting = await store.dispatches({ status: 'waiting', agent_id: agent, limit: MAX_WOKEN })
  const sessions = waiting.filter(({ wait }) => wait && wakesWait(wait, full)).map(({ session_id }) => session_id)
  if (sessions.length === 0) throw unknownAgent(context, agent)
  const results = await commitOne(
    store,
    sessions.map((session_id) => ({ op: 'publish', session_id, observation: full, successor_id: ids.next(), now })),
  )
  const woken = results.filter(({ duplicate }) => !duplicate).length
  return { duplicate: woken === 0, woken }
}

const unknownAgent = ({ residents }: Needs<'residents'>, agent: string): TirelessError =>
  new TirelessError('not_found', {
    what: 'nothing waits for this: the agent is no resident, and none of its runs waits for such an event',
    got: agent,
    expected: `a resident (${residents.names().join(', ') || 'none is configured'}), or an agent with a waiting run`,
    fix: 'add it to `residents` in the configuration, or write to a session: tireless send',
  })
