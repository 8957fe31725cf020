/** Facts that agents remember across sessions: list, show, search, forget. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { FACT_STATUSES, MAX_ENDED_FACTS, MAX_FACTS } from '../domain/fact.ts'
import { TRUSTS } from '../domain/label.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import { findWriter, writtenByShape } from './lib/written-by.ts'

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
    offset: z.int().nonnegative().default(0).describe('number of newer facts to leave out'),
  }),
  output: z.object({ items: z.array(factShape), total: z.number() }),
  async run({ store, clock }, { agent, all, limit, offset }) {
    const filter = { agent_id: agent, over: all, now: clock.borneOut() }
    return { items: [...(await store.facts({ ...filter, limit, offset }))], total: await store.countFacts(filter) }
  },
})

export const memoryShow = defineCommand({
  name: 'memory show',
  summary: 'show a remembered fact, the run that wrote it, and what it replaced',
  example: 'memory show release-date --agent writer',
  runsIn: 'any_process',
  needs: ['clock', 'redact', 'store'],
  positional: ['key'],
  input: z.object({
    key: z.string().trim().min(1).describe('key of the fact, from memory list').meta({ idOf: 'fact' }),
    agent: z.string().default('default').describe('the agent that remembers it').meta({ idOf: 'agent' }),
  }),
  output: z.object({
    versions: z.array(factShape).describe('newest first; the first may be known, the others ended'),
    written_by: writtenByShape,
  }),
  async run({ store, clock, redact }, { key, agent }) {
    const filter = { agent_id: agent, over: true, now: clock.borneOut(), limit: MAX_FACTS + MAX_ENDED_FACTS }
    const versions = (await store.facts(filter)).filter((fact) => fact.key === key)
    const [newest] = versions
    if (!newest)
      throw new TirelessError('not_found', {
        what: 'this agent remembers no such fact',
        got: key,
        fix: 'list the facts: tireless memory list',
      })
    return { versions: [...versions], written_by: await findWriter({ store, redact }, newest) }
  },
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
    items: [...(await store.recallFacts({ agent_id: agent, text: query, now: clock.borneOut(), limit }))],
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
