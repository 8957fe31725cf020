/**
 * What a resident has in mind: the slots it knows, its queries, the last looks (short-term memory), and one line for
 * each look that has left it (long-term memory). Pure. What leaves the short-term memory is what the long-term memory
 * summarises, and the summary is shorter.
 */

import { z } from 'zod'
import { clipText } from '../../domain/clean-summary.ts'
import type { Json } from '../../domain/json.ts'
import { RESIDENT_ACTIONS, type ResidentMind, type ResidentSetup } from '../../domain/resident.ts'

const setup = z.object({
  tick: z.number(),
  hz: z.number(),
  goals: z.array(z.string()),
  slots: z.array(z.object({ name: z.string(), question: z.string().nullable() })),
  stm: z.number(),
  max_queries: z.number().nullable(),
  persist_thought: z.boolean(),
  expires_ms: z.number().nullable(),
})

const action = z.object({ action: z.enum(RESIDENT_ACTIONS), text: z.string(), why: z.string() })

/** A look in memory: what was new, what the resident did, and why. */
const pastLook = z.object({ tick: z.number(), ts: z.number(), saw: z.string(), did: z.string(), thought: z.string() })

export const mindSchema = z.object({
  setup,
  known: z.record(z.string(), z.string()),
  /** Queries since the owner last wrote. */
  unanswered: z.number(),
  stm: z.array(pastLook),
  ltm: z.array(z.object({ ts: z.number(), text: z.string() })),
  last: action.nullable(),
  /** The look of this run, as far as it has come. */
  look: z.object({
    ts: z.number(),
    saw: z.array(z.string()),
    did: z.array(z.string()),
    thought: z.string(),
    /** Whether the owner wrote, and whether that was the answer to a query. */
    heard: z.boolean(),
    isAnswer: z.boolean(),
    /** Whether the owner's text is Chinese. */
    chinese: z.boolean(),
    outcome: action.nullable(),
  }),
})

export type Mind = z.infer<typeof mindSchema>
export type PastLook = Mind['stm'][number]
export type Outcome = NonNullable<Mind['last']>

const DEFAULT_SETUP: Mind['setup'] = {
  ...{ tick: 0, hz: 1, goals: [], slots: [], stm: 20, max_queries: 3, persist_thought: true, expires_ms: null },
}

const NEW_LOOK: Mind['look'] = {
  ...{ ts: 0, saw: [], did: [], thought: '', heard: false, isAnswer: false, chinese: false, outcome: null },
}

const EMPTY: Omit<Mind, 'setup'> = { known: {}, unanswered: 0, stm: [], ltm: [], last: null, look: NEW_LOOK }

/** Longest text of a look in short-term memory, and in long-term memory. */
const MAX_SAW = 600
const MAX_LINE = 120
/** Longest long-term memory, in lines. */
const MAX_LINES = 60

/** Contract: the mind at the start of a look. `before`: what it was after the last one; anything else is ignored. */
export function beginLook(wanted: Json | undefined, before: Json | undefined): Mind {
  const asked = setup.safeParse(wanted)
  const remembered = mindSchema.safeParse(before)
  const past = remembered.success ? withUnfinishedLook(remembered.data) : EMPTY
  return { ...past, setup: asked.success ? asked.data : DEFAULT_SETUP, look: NEW_LOOK }
}

/** What a look saw that failed before it came to an action is not forgotten. */
function withUnfinishedLook(mind: Mind): Mind {
  const { look } = mind
  if (look.outcome !== null || look.saw.length === 0) return mind
  const { last, unanswered } = mind
  return { ...endLook(mind, { action: 'noop', text: '', why: 'the look failed' }, 'the look failed'), last, unanswered }
}

export const missingSlots = ({ setup: { slots }, known }: Mind): ResidentSetup['slots'] =>
  slots.filter(({ name }) => !Object.hasOwn(known, name))

/**
 * Contract: takes over the values of slots that the resident has; others are ignored. What is known changes only if the
 * owner wrote: no text from outside replaces the owner's words.
 */
export function learn(mind: Mind, values: Readonly<Record<string, string>>): Mind {
  const names = new Set(mind.setup.slots.map(({ name }) => name))
  const isOpen = (name: string): boolean => mind.look.heard || !Object.hasOwn(mind.known, name)
  const news = Object.entries(values).filter(([name, value]) => names.has(name) && isOpen(name) && value.trim() !== '')
  return { ...mind, known: { ...mind.known, ...Object.fromEntries(news) } }
}

/** Contract: the look is over and becomes a memory. */
export function endLook(mind: Mind, outcome: Outcome, ending = describeOutcome(outcome)): Mind {
  const { setup: asked, look } = mind
  const did = [...look.did, ending].join('; ')
  const entry: PastLook = {
    ...{ tick: asked.tick, ts: look.ts, saw: clipText(look.saw.join('\n'), MAX_SAW), did },
    thought: asked.persist_thought ? clipText(look.thought, MAX_SAW) : '',
  }
  // What has expired is forgotten, not summarised.
  const isFresh = ({ ts }: { readonly ts: number }): boolean =>
    asked.expires_ms === null || look.ts - ts < asked.expires_ms
  const [kept, evicted] = splitAt([...mind.stm.filter(isFresh), entry], asked.stm)
  return {
    ...mind,
    unanswered: outcome.action === 'query' ? mind.unanswered + 1 : mind.unanswered,
    stm: kept,
    ltm: [...mind.ltm.filter(isFresh), ...evicted.map(summaryLine)].slice(-MAX_LINES),
    last: outcome,
    look: { ...look, outcome },
  }
}

function splitAt(looks: readonly PastLook[], room: number): [kept: PastLook[], evicted: PastLook[]] {
  const cut = Math.max(0, looks.length - room)
  return [looks.slice(cut), looks.slice(0, cut)]
}

const summaryLine = ({ tick, ts, saw, did }: PastLook): Mind['ltm'][number] => ({
  ts,
  text: `t=${tick} ${clipText(oneLine(saw), MAX_LINE)} → ${clipText(oneLine(did), MAX_LINE)}`,
})

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const describeOutcome = ({ action: type, text }: Outcome): string => (type === 'noop' ? 'noop' : `${type}: ${text}`)

/** Contract: undefined if the value is no mind. */
export function readMind(state: Json): ResidentMind | undefined {
  const parsed = mindSchema.safeParse(state)
  if (!parsed.success) return undefined
  const { known, unanswered, last } = parsed.data
  return { known, unanswered, last, missing: missingSlots(parsed.data).map(({ name }) => name) }
}
