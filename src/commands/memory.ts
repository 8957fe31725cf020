/** What agents remember over their sessions: looked at, searched, and forgotten on a person's word. */

import { z } from 'zod'
import { FACT_STATUSES } from '../domain/fact.ts'
import { TRUSTS } from '../domain/trust.ts'
import { commitOne } from '../ports/store.ts'
import { command } from './command.ts'

const factShape = z.object({
  id: z.string(),
  key: z.string(),
  text: z.string(),
  agent_id: z.string(),
  session_id: z.string(),
  turn: z.number(),
  trust: z.enum(TRUSTS),
  private: z.boolean(),
  status: z.enum(FACT_STATUSES),
  created_at: z.string(),
  expires_at: z.string().nullable(),
})

const agentInput = z.string().optional().describe("only this agent's")
const limitInput = z.int().positive().default(100).describe('at most so many')

export const memoryList = command({
  name: 'memory list',
  summary: 'what is remembered, newest first',
  runsIn: 'any_process',
  input: z.object({
    agent: agentInput,
    all: z.boolean().default(false).describe('also what is over: superseded, forgotten, expired, dropped'),
    limit: limitInput,
  }),
  output: z.object({ items: z.array(factShape) }),
  run: async ({ store, clock }, { agent, all, limit }) => ({
    items: [...(await store.facts({ agent_id: agent, over: all, now: clock.now(), limit }))],
  }),
})

export const memorySearch = command({
  name: 'memory search',
  summary: 'what is remembered about something, best match first',
  runsIn: 'any_process',
  positional: ['query'],
  input: z.object({
    query: z.string().trim().min(1).describe('words that stand in it'),
    agent: agentInput,
    limit: limitInput,
  }),
  output: z.object({ items: z.array(factShape) }),
  run: async ({ store, clock }, { query, agent, limit }) => ({
    items: [...(await store.recallFacts({ agent_id: agent, text: query, now: clock.now(), limit }))],
  }),
})

export const memoryForget = command({
  name: 'memory forget',
  summary: 'what is remembered under a key is gone for good',
  runsIn: 'any_process',
  positional: ['key'],
  input: z.object({
    key: z.string().trim().min(1).describe('key from memory list'),
    agent: z.string().default('default').describe('whose it is'),
  }),
  output: z.object({ key: z.string(), agent_id: z.string(), forgotten: z.boolean() }),
  async run({ store, clock }, { key, agent }) {
    const [done] = await commitOne(store, [{ op: 'forget', agent_id: agent, key, before: clock.now() }])
    return { key, agent_id: agent, ...done }
  },
  exit: ({ forgotten }) => (forgotten ? 0 : 1),
})
