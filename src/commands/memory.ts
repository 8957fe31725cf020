/** Facts that agents remember across sessions: list, show, search, forget. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { FACT_STATUSES, type Fact, MAX_ALL_FACTS } from '../domain/fact.ts'
import { TRUSTS } from '../domain/label.ts'
import { iso } from '../ports/clock.ts'
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
    status: z.enum(FACT_STATUSES).optional().describe('only facts with this status, such as dropped'),
    limit: limitInput,
    offset: z.int().nonnegative().default(0).describe('number of newer facts to leave out'),
  }),
  output: z.object({ items: z.array(factShape), total: z.number() }),
  async run({ store, clock }, { agent, all, status, limit, offset }) {
    const filter = { agent_id: agent, over: all || status !== undefined, status, now: clock.borneOut() }
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
    const filter = { agent_id: agent, over: true, now: clock.borneOut(), limit: MAX_ALL_FACTS }
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

/** Facts that ended without anybody deciding so. */
const RESTORABLE: ReadonlySet<string> = new Set(['dropped', 'expired'])

export const memoryRestore = defineCommand({
  name: 'memory restore',
  summary: 'let an agent remember a fact again that was dropped for lack of room, or expired',
  example: 'memory restore release-date --agent writer',
  runsIn: 'any_process',
  needs: ['clock', 'ids', 'store'],
  positional: ['key'],
  input: z.object({
    key: z.string().trim().min(1).describe('key of the fact, from memory list --status dropped'),
    agent: z.string().default('default').describe('the agent that remembered it').meta({ idOf: 'agent' }),
  }),
  output: factShape.extend({ dropped: z.array(z.string()).describe('keys of facts that were dropped for it') }),
  async run({ store, clock, ids }, { key, agent }) {
    const now = clock.now()
    const all = await store.facts({ agent_id: agent, over: true, now, limit: MAX_ALL_FACTS })
    const found = findRestorable(
      all.filter((fact) => fact.key === key),
      key,
    )
    const id = `restored-${ids.next()}`
    // It counts as the newest, so that it is not dropped again at once. No session wrote it, so no undo takes it along.
    const { status, ended_by: _, ...was } = found
    const fact = { ...was, id, session_id: '', turn: 0, created_at: iso(now), expires_at: null }
    const [, { dropped }] = await commitOne(store, [
      { op: 'change_facts', changes: [{ id: found.id, from: status, to: 'superseded', ended_by: id }] },
      { op: 'remember', fact, now },
    ])
    return { ...fact, status: 'known' as const, dropped: [...dropped] }
  },
})

/** Contract: pure; `versions` of one key, newest first. */
function findRestorable(versions: readonly Fact[], key: string): Fact {
  const known = versions.find(({ status }) => status === 'known')
  if (known)
    throw new TirelessError('conflict', {
      what: 'the agent knows a newer fact under this key',
      got: key,
      fix: 'see both: tireless memory show KEY; to go back, first forget the newer one',
    })
  const found = versions.find(({ status }) => RESTORABLE.has(status))
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'no fact under this key was dropped or has expired',
    got: key,
    fix: 'list them: tireless memory list --status dropped',
  })
}
