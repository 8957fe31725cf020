/** Approvals of tool calls, and lasting grants. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { APPROVAL_STATUSES, type Approval, canonicalJson } from '../domain/approval.ts'
import { alwaysNeedsApproval } from '../domain/effect.ts'
import { TirelessError } from '../domain/error.ts'
import { formatGrantTarget, type Grant } from '../domain/grant.ts'
import type { Json } from '../domain/json.ts'
import { answerOps } from '../kernel/conversation/answer-approval.ts'
import { type Clock, iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { approvalSchema, grantSchema } from './lib/output-schemas.ts'
import { titleOfWork } from './lib/session-thread.ts'

const id = z.string().describe('id from approvals list').meta({ idOf: 'approval' })
const step = z
  .boolean()
  .default(false)
  .describe('also answer the other calls of the same step, except for money, destruction and credentials')
const reason = z.string().trim().min(1).optional().describe('a message to the agent')

const listedSchema = approvalSchema.extend({
  task: z.string().nullable().describe('title of the run that asks'),
  sinks_assumed: z.boolean().describe('the tool does not say where its calls go, so sinks are its arguments'),
})

export const approvalsList = defineCommand({
  name: 'approvals list',
  summary: 'list calls awaiting approval, then answered ones',
  example: 'approvals list --status open',
  runsIn: 'any_process',
  needs: ['store', 'tools'],
  input: z.object({
    session: z.string().optional().describe('only of this session').meta({ idOf: 'session' }),
    status: z.enum(APPROVAL_STATUSES).optional().describe('only with this status'),
    limit: z.int().positive().default(100).describe('maximum number of approvals'),
  }),
  output: z.object({ items: z.array(listedSchema) }),
  async run({ store, tools }, { session, status, limit }) {
    const approvals = await store.approvals({ session_id: session, status, limit })
    return { items: await describeApprovals({ store, tools }, approvals) }
  },
})

async function describeApprovals({ store, tools }: Needs<'store' | 'tools'>, approvals: readonly Approval[]) {
  const silent = new Set(tools().flatMap(({ name, namesDestinations }) => (namesDestinations ? [] : [name])))
  const tasks = await findTasks({ store }, approvals)
  return approvals.map((approval) => ({
    ...{ ...approval, task: tasks.get(approval.origin.run_id) ?? null },
    sinks_assumed: silent.has(approval.tool),
  }))
}

/** Contract: the title of each run that asks; runs that are gone are left out. */
async function findTasks(
  { store }: Needs<'store'>,
  approvals: readonly Approval[],
): Promise<ReadonlyMap<string, string>> {
  const runs = [...new Set(approvals.map(({ origin }) => origin.run_id))]
  const found = await Promise.all(runs.map((run) => store.dispatch(run)))
  return new Map(
    found.flatMap((dispatch) => (dispatch ? [[dispatch.dispatch_id, titleOfWork(dispatch)] as const] : [])),
  )
}

export const approvalsShow = defineCommand({
  name: 'approvals show',
  summary: 'show one approval with the exact call',
  example: 'approvals show 1a2b3c',
  runsIn: 'any_process',
  needs: ['store', 'tools'],
  positional: ['id'],
  input: z.object({ id }),
  output: listedSchema,
  async run({ store, tools }, { id }) {
    const approval = await store.approval(id)
    const [described] = approval ? await describeApprovals({ store, tools }, [approval]) : []
    if (!described) throw noSuchApproval(id)
    return described
  },
})

export const approvalsAllow = defineCommand({
  name: 'approvals allow',
  summary: 'allow a call exactly as shown',
  example: 'approvals allow 1a2b3c --grant 7d',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({
    id,
    grant: z
      .string()
      .default('once')
      .describe('how long to allow the same tool and destination: once, session, or days such as 7d'),
    step,
    reason,
  }),
  output: approvalSchema,
  async run(context, { id, grant: wanted, step, reason = null }) {
    const duration = parseGrant(wanted)
    if (duration === undefined) return answer(context, { id, answer: 'allowed', reason, step })
    const approval = await context.store.approval(id)
    if (!approval) throw noSuchApproval(id)
    const { agent_id } = (await context.store.session(approval.session_id)) ?? {}
    if (alwaysNeedsApproval(approval.effect) || agent_id === undefined)
      throw new TirelessError('usage', {
        what: 'calls that spend money, destroy data or touch credentials can only be allowed once',
        where: '--grant',
        got: wanted,
        expected: 'once',
      })
    const grant = buildGrant(approval, agent_id, duration, context.clock)
    return answer(context, { id, answer: 'allowed', reason, step, grant })
  },
})

type GrantDuration = 'session' | { readonly days: number }

/** Undefined: the approval holds for this one call only, so there is no grant. */
function parseGrant(grant: string): GrantDuration | undefined {
  if (grant === 'once') return undefined
  if (grant === 'session') return 'session'
  const [, days] = /^(\d{1,4})d$/.exec(grant) ?? []
  if (days !== undefined && Number(days) > 0) return { days: Number(days) }
  throw new TirelessError('usage', {
    what: 'invalid grant',
    where: '--grant',
    got: JSON.stringify(grant),
    expected: 'once, session, or a number of days such as 7d',
  })
}

/**
 * The grant covers the tool and its destinations. It is bound to these exact arguments if the call has no destination,
 * or an HTTP method.
 */
function buildGrant(
  { id, tool, args, sinks, session_id, effect: { method } }: Approval,
  agent_id: string,
  duration: GrantDuration,
  clock: Clock,
): Grant {
  return {
    ...{ id: `grant-${id}`, tool, agent_id },
    session_id: duration === 'session' ? session_id : null,
    to: sinks.map(({ to }) => formatGrantTarget(to, method).replaceAll('*', '?')),
    args: sinks.length === 0 || method !== undefined ? hash('sha256', canonicalJson(args as Json)) : null,
    granted_at: iso(clock.now()),
    expires_at: duration === 'session' ? null : iso(clock.borneOut() + duration.days * 86_400_000),
  }
}

export const approvalsDeny = defineCommand({
  name: 'approvals deny',
  summary: 'deny a call',
  example: 'approvals deny 1a2b3c --reason "use the staging server"',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({ id, step, reason }),
  output: approvalSchema,
  run: (context, { id, step, reason = null }) => answer(context, { id, answer: 'denied', reason, step }),
})

interface OwnersAnswer {
  readonly id: string
  readonly answer: 'allowed' | 'denied'
  readonly reason: string | null
  /** True: the answer also applies to the other open approvals of the same step. */
  readonly step: boolean
  readonly grant?: Grant
}

async function answer(
  context: Needs<'clock' | 'store'>,
  { id, answer, reason, step, grant }: OwnersAnswer,
): Promise<Approval> {
  const { store, clock } = context
  const asked = await store.approval(id)
  if (!asked) throw noSuchApproval(id)
  const others = step ? await findOthersOfStep(context, asked) : []
  const opsFor = (approval_id: string, granted: string | null) =>
    answerOps({ approval_id, answer, reason, grant: granted }, clock)
  const [{ approval }] = await commitOne(store, [
    ...opsFor(id, grant?.id ?? null),
    ...others.flatMap((other) => opsFor(other.id, null)),
    ...(grant ? [{ op: 'grant', grant } as const] : []),
  ])
  return approval
}

/** Contract: the other open approvals of the same step; a call that always needs its own answer is not combined. */
async function findOthersOfStep(
  { store }: Needs<'store'>,
  { id, session_id, origin, effect }: Approval,
): Promise<readonly Approval[]> {
  if (alwaysNeedsApproval(effect)) return []
  const open = await store.approvals({ session_id, status: 'open', limit: 1000 })
  return open.filter(
    (other) =>
      other.id !== id &&
      other.origin.run_id === origin.run_id &&
      other.origin.step === origin.step &&
      !alwaysNeedsApproval(other.effect),
  )
}

const noSuchApproval = (id: string): TirelessError =>
  new TirelessError('not_found', { what: 'no such approval', got: id, fix: 'run tireless approvals list' })

export const grantsList = defineCommand({
  name: 'grants list',
  summary: 'list what agents may send without asking, from approvals and from policy.grants',
  example: 'grants list',
  runsIn: 'any_process',
  needs: ['clock', 'policy', 'store'],
  input: z.object({}),
  output: z.object({ items: z.array(grantSchema) }),
  run: async ({ store, clock, policy }) => ({
    items: [...policy.grants(), ...(await store.grants({ now: clock.borneOut() }))],
  }),
})

export const grantsRevoke = defineCommand({
  name: 'grants revoke',
  summary: 'revoke a grant; the agent has to ask again',
  example: 'grants revoke grant-1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({ id: z.string().describe('id from grants list').meta({ idOf: 'grant' }) }),
  output: z.object({ id: z.string(), revoked: z.boolean() }),
  async run({ store, clock }, { id }) {
    if (id.startsWith('policy.'))
      throw new TirelessError('usage', {
        what: 'this grant comes from the configuration',
        got: id,
        fix: 'remove it from tireless.yaml',
      })
    const entry = { ts: clock.now(), what: 'revoke', grant: id }
    const [{ revoked }] = await commitOne(store, [
      { op: 'revoke', id },
      { op: 'audit', entry },
    ])
    if (!revoked)
      throw new TirelessError('not_found', { what: 'no such grant', got: id, fix: 'run tireless grants list' })
    return { id, revoked }
  },
})
