/** Facts that agents remember across sessions: list, search, forget. */

import { z } from 'zod'
import { FACT_STATUSES } from '../domain/fact.ts'
import { TRUSTS } from '../domain/label.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'

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

const agentInput = z.string().optional().describe('only facts of this agent').meta({ idOf: 'agent' })
const limitInput = z.int().positive().default(100).describe('maximum number of facts')

export const memoryList = defineCommand({
  name: 'memory list',
  summary: 'list remembered facts, newest first',
  example: 'memory list --agent writer',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  input: z.object({
    agent: agentInput,
    all: z.boolean().default(false).describe('include superseded, forgotten, expired and dropped facts'),
    limit: limitInput,
  }),
  output: z.object({ items: z.array(factShape) }),
  run: async ({ store, clock }, { agent, all, limit }) => ({
    items: [...(await store.facts({ agent_id: agent, over: all, now: clock.now(), limit }))],
  }),
})

export const memorySearch = defineCommand({
  name: 'memory search',
  summary: 'search remembered facts, best match first',
  example: 'memory search "release date"',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['query'],
  input: z.object({
    query: z.string().trim().min(1).describe('words to search for'),
    agent: agentInput,
    limit: limitInput,
  }),
  output: z.object({ items: z.array(factShape) }),
  run: async ({ store, clock }, { query, agent, limit }) => ({
    items: [...(await store.recallFacts({ agent_id: agent, text: query, now: clock.now(), limit }))],
  }),
})

export const memoryForget = defineCommand({
  name: 'memory forget',
  summary: 'delete a remembered fact for good',
  example: 'memory forget release-date --agent writer',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['key'],
  input: z.object({
    key: z.string().trim().min(1).describe('key of the fact, from memory list').meta({ idOf: 'fact' }),
    agent: z.string().default('default').describe('the agent that remembers it').meta({ idOf: 'agent' }),
  }),
  output: z.object({ key: z.string(), agent_id: z.string(), forgotten: z.boolean() }),
  async run({ store, clock }, { key, agent }) {
    const [done] = await commitOne(store, [{ op: 'forget', agent_id: agent, key, before: clock.now() }])
    return { key, agent_id: agent, ...done }
  },
  exitCode: ({ forgotten }) => (forgotten ? 0 : 1),
})
