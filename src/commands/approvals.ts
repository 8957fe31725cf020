/** Calls that a person has to allow first, and the owner's word on them. */

import { z } from 'zod'
import { APPROVAL_STATUSES, type Approval } from '../domain/approval.ts'
import { TirelessError } from '../domain/error.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import { approvalShape } from './shapes.ts'

const id = z.string().describe('id from approvals list')
const reason = z.string().trim().min(1).optional().describe('a word to the agent with it')

export const approvalsList = command({
  name: 'approvals list',
  summary: 'calls that somebody has to allow first; open ones first',
  place: 'home',
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
  place: 'home',
  positional: ['id'],
  input: z.object({ id }),
  output: approvalShape,
  async run({ store }, { id }) {
    const approval = await store.approval(id)
    if (!approval)
      throw new TirelessError('not_found', { what: 'there is no such approval', got: id, fix: 'see: approvals list' })
    return approval
  },
})

export const approvalsAllow = command({
  name: 'approvals allow',
  summary: 'let it be run, once, exactly as shown',
  place: 'home',
  positional: ['id'],
  input: z.object({
    id,
    grant: z.string().default('once').describe('how long this holds: once'),
    reason,
  }),
  output: approvalShape,
  async run(context, { id, grant, reason = null }) {
    if (grant !== 'once')
      throw new TirelessError('usage', {
        what: 'standing grants come with the policy, which is not built yet',
        where: '--grant',
        got: grant,
        expected: 'once',
      })
    return answer(context, id, 'allowed', reason)
  },
})

export const approvalsDeny = command({
  name: 'approvals deny',
  summary: 'say that it must not be run',
  place: 'home',
  positional: ['id'],
  input: z.object({ id, reason }),
  output: approvalShape,
  run: (context, { id, reason = null }) => answer(context, id, 'denied', reason),
})

async function answer(
  { store, clock, ids }: Context,
  approval_id: string,
  answer: 'allowed' | 'denied',
  reason: string | null,
): Promise<Approval> {
  const now = clock.now()
  const [{ approval }] = await commitOne(store, [
    { op: 'answer', approval_id, answer, reason, successor_id: ids.next(), now },
  ])
  return approval
}
