/**
 * Completes shortened ids in the input of any command: a unique beginning of an id, its short form as tables show it,
 * or `last`. A command declares the kind of an id by the meta key `idOf` of the input field.
 */

import { TirelessError } from '../../domain/error.ts'
import { generatedPart, shortId } from '../../domain/short-id.ts'
import { titleOfRun } from '../../domain/title.ts'
import { listSchedules } from '../../kernel/schedule/all-schedules.ts'
import { findOpenNeeds } from '../../past/open-needs.ts'
import type { Command } from './command.ts'
import type { CommandContext } from './context.ts'
import { type IdKind, type InputField, inputFields } from './input-fields.ts'

/** Ids of at most this many of the newest records are compared. */
const MAX_COMPARED = 10_000
/** Shorter beginnings of generated ids are refused as typing errors; names may be shorter. */
const MIN_TYPED = 4
const MAX_LISTED = 8

interface Candidate {
  readonly id: string
  /** What the id stands for, to help people choose between several. */
  readonly about?: string
}

type Input = Readonly<Record<string, unknown>>

interface Kind {
  readonly plural: string
  /** Whether this whole id exists; without it, the list is searched. */
  has?(context: CommandContext, id: string): Promise<boolean>
  /** Newest first, if `last` can be used. */
  list(context: CommandContext, input: Input): Promise<readonly Candidate[]>
  /** Which ids `last` chooses from; without it, `last` is an id like any other. */
  last?(context: CommandContext): Promise<readonly Candidate[]>
}

const newestOf = (candidates: readonly Candidate[]): readonly Candidate[] => candidates.slice(0, 1)

const dispatches = async ({ store }: CommandContext, limit: number): Promise<readonly Candidate[]> =>
  (await store.dispatches({ limit })).map(({ dispatch_id, agent_id, prompt, metadata }) => ({
    id: dispatch_id,
    about: `${agent_id}: ${titleOfRun(prompt, metadata.behaviour)}`,
  }))

const sessions = async ({ store }: CommandContext, limit: number): Promise<readonly Candidate[]> =>
  (await store.sessions({ limit, archived: true })).map(({ session_id }) => ({ id: session_id }))

const KINDS: Readonly<Record<IdKind, Kind>> = {
  agent: {
    plural: 'agents',
    list: async ({ agents, agentDirectory }) =>
      [...new Set([...agents(), ...agentDirectory.all().map(({ agent }) => agent.agent_id)])].map((id) => ({ id })),
  },
  approval: {
    plural: 'approvals',
    has: async ({ store }, id) => (await store.approval(id)) !== undefined,
    list: async ({ store }) => (await store.approvals({ limit: MAX_COMPARED })).map(describeCall),
    // All open ones: an approval that arrived after the owner looked must not be answered by mistake.
    last: async ({ store }) => (await store.approvals({ status: 'open', limit: MAX_COMPARED })).map(describeCall),
  },
  dispatch: {
    plural: 'runs',
    has: async ({ store }, id) => (await store.dispatch(id)) !== undefined,
    list: (context) => dispatches(context, MAX_COMPARED),
    last: (context) => dispatches(context, 1),
  },
  fact: {
    plural: 'facts',
    list: async ({ store, clock }, { agent }) => {
      const filter = { agent_id: typeof agent === 'string' ? agent : undefined, now: clock.now(), limit: MAX_COMPARED }
      return (await store.facts(filter)).map(({ key }) => ({ id: key }))
    },
  },
  grant: {
    plural: 'grants',
    list: async ({ store, clock, policy }) => [...policy.grants(), ...(await store.grants({ now: clock.borneOut() }))],
  },
  mcp_server: {
    plural: 'MCP servers',
    list: async ({ mcp }) => (await mcp.list()).map(({ name }) => ({ id: name })),
  },
  need: {
    plural: 'needs',
    list: async ({ store, clock }) =>
      (await findOpenNeeds({ store, now: clock.now })).map(({ need: { id, title } }) => ({ id, about: title.text })),
  },
  schedule: {
    plural: 'schedules',
    list: async ({ store, settings }) => {
      const stored = await store.schedules()
      const rows = listSchedules(settings(), stored).map(({ schedule_id }) => schedule_id)
      return [...new Set([...rows, ...stored.map(({ id }) => id)])].map((id) => ({ id }))
    },
  },
  session: {
    plural: 'sessions',
    has: async ({ store }, id) => (await store.session(id)) !== undefined,
    list: (context) => sessions(context, MAX_COMPARED),
    last: (context) => sessions(context, 1),
  },
  unknown: {
    plural: 'calls',
    list: async ({ store }) => (await store.unknowns({})).map(describeCall),
    last: async ({ store }) => (await store.unknowns({ status: 'open' })).map(describeCall),
  },
}

function describeCall({ id, tool }: { readonly id: string; readonly tool: string }): Candidate {
  return { id, about: tool }
}

/** Contract: the input with whole ids; an id that matches nothing stays, so that the command itself refuses it. */
export async function resolveIds(command: Command, context: CommandContext, input: Input): Promise<Input> {
  const typed = inputFields(command).filter(({ idOf, key }) => idOf !== undefined && typeof input[key] === 'string')
  // Agents first: the key of a fact is looked up among the facts of its agent.
  const ordered = [...typed.filter(({ idOf }) => idOf === 'agent'), ...typed.filter(({ idOf }) => idOf !== 'agent')]
  let resolved = input
  for (const { key, idOf } of ordered)
    resolved = { ...resolved, [key]: await resolveId(KINDS[idOf as IdKind], context, key, resolved) }
  return resolved
}

async function resolveId(kind: Kind, context: CommandContext, key: string, input: Input): Promise<string> {
  const typed = String(input[key])
  if (generatedPart(typed) === typed) return typed
  if (typed === 'last' && kind.last) return choose(kind, key, typed, await kind.last(context)) ?? typed
  if (await kind.has?.(context, typed)) return typed
  const all = await kind.list(context, input)
  if (all.some(({ id }) => id === typed)) return typed
  return choose(kind, key, typed, findMatching(all, typed)) ?? typed
}

/** Contract: for a home that cannot be opened: completes ids of runs, by their trace files. */
export async function resolveRunIds(
  fields: readonly InputField[],
  input: Input,
  runIds: () => Promise<readonly string[]>,
): Promise<Input> {
  let resolved = input
  for (const { key } of fields.filter(({ idOf }) => idOf === 'dispatch')) {
    const typed = resolved[key]
    if (typeof typed !== 'string' || generatedPart(typed) === typed) continue
    const all = (await runIds()).map((id) => ({ id }))
    const found = typed === 'last' ? newestOf(all) : findMatching(all, typed)
    resolved = { ...resolved, [key]: choose(KINDS.dispatch, key, typed, found) ?? typed }
  }
  return resolved
}

function findMatching(all: readonly Candidate[], typed: string): readonly Candidate[] {
  return all.filter(({ id }) => {
    const uuid = generatedPart(id)
    if (uuid === undefined) return id.startsWith(typed)
    if (typed.length < MIN_TYPED) return false
    return [id, uuid, shortId(id)].some((form) => form.startsWith(typed)) || id.endsWith(typed)
  })
}

/** Contract: the only candidate's id, undefined if there is none; throws `usage` with the candidates if several. */
function choose(kind: Kind, key: string, typed: string, found: readonly Candidate[]): string | undefined {
  const [only, second] = found
  if (second === undefined) return only?.id
  const shorts = new Set(found.map(({ id }) => shortId(id)))
  const names = found
    .slice(0, MAX_LISTED)
    .map(({ id, about }) => `${shorts.size === found.length ? shortId(id) : id}${about ? ` (${about})` : ''}`)
  const more = found.length > MAX_LISTED ? `, and ${found.length - MAX_LISTED} more` : ''
  throw new TirelessError('usage', {
    what: `this stands for several ${kind.plural}`,
    where: key,
    got: typed,
    expected: `one of ${names.join(', ')}${more}`,
    fix: 'type more of the id',
  })
}
