/** Named events with a typed payload: a run waits for one, a program sends it, and the behaviour reads it. */

import type { z } from 'zod'
import { APPROVAL_EVENT } from '../domain/approval.ts'
import type { Decision } from '../domain/decision.ts'
import { describeMismatch } from '../domain/describe-issues.ts'
import { readSafely, TirelessError } from '../domain/error.ts'
import { describeValue, type Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import { AGENT_RESULT } from '../domain/sub-agent.ts'

export interface EventType<P = unknown> {
  readonly name: string
  readonly schema: z.ZodType<P>
  /** Contract: the decision to wait for the event; `until`: epoch milliseconds, by default a day later. */
  wait(options?: { readonly reason?: string; readonly until?: number }): Extract<Decision, { kind: 'wait' }>
  /**
   * Contract: the payload of the last such event in the input of a step, or in the observation that is made of it by
   * default; undefined if there is none, or its payload does not match.
   */
  read(from: Observation | readonly Observation[] | Json): P | undefined
}

const NAME = /^[A-Za-z][\w.-]{0,99}$/
/** Events that the runtime itself sends. */
const RESERVED: readonly string[] = [APPROVAL_EVENT, AGENT_RESULT, 'deadline']

/** Contract: throws `usage` for a name that the runtime uses, or that a wait cannot name. */
export function defineEvent<P>(name: string, schema: z.ZodType<P>): EventType<P> {
  if (typeof name !== 'string' || !NAME.test(name) || RESERVED.includes(name))
    throw new TirelessError('usage', {
      what: 'invalid name of an event',
      got: describeValue(name),
      expected: `a letter, then letters, digits, "_", "." and "-"; not ${RESERVED.join(', ')}`,
    })
  if (typeof readSafely('schema', () => schema?.safeParse) !== 'function')
    throw new TirelessError('usage', { what: `event ${name} has no schema`, got: describeValue(schema) })
  return {
    name,
    schema,
    wait: ({ reason = name, until } = {}) => ({
      ...{ kind: 'wait', match: `event:${name}`, reason },
      ...(until === undefined ? {} : { until }),
    }),
    read(from) {
      const all = (Array.isArray(from) ? from : [from]) as readonly Partial<Observation & { payload: Json }>[]
      const found = all.findLast((one) => one?.type === 'system_event' && 'name' in one && one.name === name)
      const checked = found && schema.safeParse(found.payload ?? null)
      return checked?.success ? checked.data : undefined
    },
  }
}

/** Contract: the payload, as the schema takes it; throws `usage` if it does not match. */
export function checkEventPayload<P>({ name, schema }: EventType<P>, payload: unknown): Json {
  const checked = readSafely(name, () => schema.safeParse(payload))
  if (checked.success) return (payload ?? null) as Json
  throw new TirelessError('usage', {
    what: `the payload of event ${name} does not match its schema: ${describeMismatch(checked.error.issues, payload)}`,
  })
}
