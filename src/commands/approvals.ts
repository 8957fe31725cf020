/** Calls that a person has to allow first, and the owner's word on them. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { APPROVAL_STATUSES, type Approval, canonical } from '../domain/approval.ts'
import { isNeverGranted } from '../domain/effect.ts'
import { TirelessError } from '../domain/error.ts'
import { type Grant, grantText } from '../domain/grant.ts'
import type { Json } from '../domain/json.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import { approvalShape, grantShape } from './shapes.ts'

const id = z.string().describe('id from approvals list')
const step = z
  .boolean()
  .default(false)
  .describe('also what the same step has asked for beside it; money, destruction and credentials one at a time')
const reason = z.string().trim().min(1).optional().describe('a word to the agent with it')

export const approvalsList = command({
  name: 'approvals list',
  summary: 'calls that somebody has to allow first; open ones first',
  runsIn: 'any_process',
  input: z.object({
    session: z.string().optional().describe("only this session's"),
    status: z.enum(APPROVAL_STATUSES).optional().describe('only those'),
    limit: z.int().positive().default(100).describe('at most so many'),
  }),
  output: z.object({ items: z.array(approvalShape) }),
  run: async ({ store }, { session, status, limit }) => ({
    items: [...(await store.approvals({ session_id: session, status, limit }))],
  }),
})

export const approvalsShow = command({
  name: 'approvals show',
  summary: 'one approval, with exactly what would be run',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id }),
  output: approvalShape,
  async run({ store }, { id }) {
    const approval = await store.approval(id)
    if (!approval) throw unheardOf(id)
    return approval
  },
})

export const approvalsAllow = command({
  name: 'approvals allow',
  summary: 'let it be run, exactly as shown',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({
    id,
    grant: z
      .string()
      .default('once')
      .describe('how long this holds for the same tool to the same place: once, session, or 7d'),
    step,
    reason,
  }),
  output: approvalShape,
  async run(context, { id, grant, step, reason = null }) {
    const lasting = lastingOf(grant)
    if (lasting === undefined) return answer(context, { id, answer: 'allowed', reason, step })
    const approval = await context.store.approval(id)
    if (!approval) throw unheardOf(id)
    const { agent_id } = (await context.store.session(approval.session_id)) ?? {}
    if (isNeverGranted(approval.effect) || agent_id === undefined)
      throw new TirelessError('usage', {
        what: 'what spends money, destroys or touches credentials is allowed one call at a time',
        where: '--grant',
        got: grant,
        expected: 'once',
      })
    const lent = grantOf(approval, agent_id, lasting, context.clock.now())
    return answer(context, { id, answer: 'allowed', reason, step, grant: lent })
  },
})

type Lasting = 'session' | { readonly days: number }

/** Undefined: for this one call. */
function lastingOf(grant: string): Lasting | undefined {
  if (grant === 'once') return undefined
  if (grant === 'session') return 'session'
  const [, days] = /^(\d{1,4})d$/.exec(grant) ?? []
  if (days !== undefined && Number(days) > 0) return { days: Number(days) }
  throw new TirelessError('usage', {
    what: 'a grant holds once, for a session, or for some days',
    where: '--grant',
    got: JSON.stringify(grant),
    expected: 'once, session, or a number of days such as 7d',
  })
}

/** The same tool to the same places; where it goes nowhere in particular, or does more there than to ask, with exactly the same arguments. */
function grantOf(
  { id, tool, args, sinks, session_id, effect: { method } }: Approval,
  agent_id: string,
  lasting: Lasting,
  now: number,
): Grant {
  return {
    ...{ id: `grant-${id}`, tool, agent_id },
    session_id: lasting === 'session' ? session_id : null,
    to: sinks.map(({ to }) => grantText(to, method).replaceAll('*', '?')),
    args: sinks.length === 0 || method !== undefined ? hash('sha256', canonical(args as Json)) : null,
    granted_at: iso(now),
    expires_at: lasting === 'session' ? null : iso(now + lasting.days * 86_400_000),
  }
}

export const approvalsDeny = command({
  name: 'approvals deny',
  summary: 'say that it must not be run',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id, step, reason }),
  output: approvalShape,
  run: (context, { id, step, reason = null }) => answer(context, { id, answer: 'denied', reason, step }),
})

interface GivenAnswer {
  readonly id: string
  readonly answer: 'allowed' | 'denied'
  readonly reason: string | null
  /** For everything that its step asked for. */
  readonly step: boolean
  readonly grant?: Grant
}

async function answer(context: Context, { id, answer, reason, step, grant }: GivenAnswer): Promise<Approval> {
  const { store, clock } = context
  const asked = await store.approval(id)
  if (!asked) throw unheardOf(id)
  const now = clock.now()
  const others = step ? await askedBeside(context, asked) : []
  const said = (approval_id: string) => ({ op: 'answer', approval_id, answer, reason, now }) as const
  const noted = (approval: string, granted: string | null) =>
    ({ op: 'audit', entry: { ts: now, what: 'answer', approval, answer, reason, grant: granted } }) as const
  const [{ approval }] = await commitOne(store, [
    said(id),
    noted(id, grant?.id ?? null),
    ...others.flatMap((other) => [said(other.id), noted(other.id, null)]),
    ...(grant ? [{ op: 'grant', grant } as const] : []),
  ])
  return approval
}

/** Contract: the other open ones of the same step; none where one of the two must be asked about each time. */
async function askedBeside(
  { store }: Context,
  { id, session_id, origin, effect }: Approval,
): Promise<readonly Approval[]> {
  if (isNeverGranted(effect)) return []
  const open = await store.approvals({ session_id, status: 'open', limit: 1000 })
  return open.filter(
    (one) =>
      one.id !== id &&
      one.origin.run_id === origin.run_id &&
      one.origin.step === origin.step &&
      !isNeverGranted(one.effect),
  )
}

const unheardOf = (id: string): TirelessError =>
  new TirelessError('not_found', { what: 'there is no such approval', got: id, fix: 'see: approvals list' })

export const grantsList = command({
  name: 'grants list',
  summary: 'what may be sent without asking: by your word on approvals, and by policy.grants',
  runsIn: 'any_process',
  input: z.object({}),
  output: z.object({ items: z.array(grantShape) }),
  run: async ({ store, clock, policy }) => ({
    items: [...policy.grants(), ...(await store.grants({ now: clock.now() }))],
  }),
})

export const grantsRevoke = command({
  name: 'grants revoke',
  summary: 'from now on it has to be asked for again',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id: z.string().describe('id from grants list') }),
  output: z.object({ id: z.string(), revoked: z.boolean() }),
  async run({ store, clock }, { id }) {
    if (id.startsWith('policy.'))
      throw new TirelessError('usage', {
        what: 'this grant is in the configuration',
        got: id,
        fix: 'take it out of tireless.yaml',
      })
    const entry = { ts: clock.now(), what: 'revoke', grant: id }
    const [{ revoked }] = await commitOne(store, [
      { op: 'revoke', id },
      { op: 'audit', entry },
    ])
    if (!revoked)
      throw new TirelessError('not_found', { what: 'there is no such grant', got: id, fix: 'see: grants list' })
    return { id, revoked }
  },
})
