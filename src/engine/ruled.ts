/**
 * The policy check of a call: gathers the session's state, applies the policy rule, and builds the audit entry.
 * Must not know: the consequences of a ruling, see gate.ts.
 */

import { hash } from 'node:crypto'
import { placeText } from '../domain/address.ts'
import type { Sink } from '../domain/approval.ts'
import { canonical } from '../domain/approval.ts'
import type { Call } from '../domain/decision.ts'
import { type Grant, type Grantable, holdsFor, isGrantedBy, leadsTo } from '../domain/grant.ts'
import { lowest, UNTRUSTED } from '../domain/trust.ts'
import { callKeyOf } from '../domain/unknown.ts'
import { hasWord, isListedName } from '../policy/address-parts.ts'
import { destinationsIn, type HarmfulParts, harmfulPartsIn, splitList, withHost } from '../policy/destinations.ts'
import { isSamePlace, linksIn, pageOf, writtenAddresses } from '../policy/links.ts'
import { type Ruling, rule, type Standing } from '../policy/rule.ts'
import { sendersIn, textsIn } from '../policy/senders.ts'
import { mentionsIn } from '../policy/words.ts'
import type { Clearance } from '../ports/gate.ts'
import type { AnyTool } from '../ports/tool.ts'
import { askPlugin } from './ask-plugin.ts'
import { ownWords } from './heard.ts'
import { fixIntent, isIntended } from './intent.ts'
import { prefixOf } from './prefix.ts'
import { contentPort, destinationsPort } from './return-shapes.ts'
import type { Run } from './run.ts'

/** The owner's standing decisions. Read on every call, because the configuration can change during a run. */
export interface Policy {
  isAllowed(host: string): boolean
  /** Whether the host is allowed by its own name, not by a pattern. */
  isAllowedByName(host: string): boolean
  grants(): readonly Grant[]
  /** What to do with a call that needs approval: wait for a person, or deny it. */
  readonly unattended: 'park' | 'deny'
  /** Whether files in the workspace may come from other people. */
  isForeign(workspace: string): boolean
}

export interface Ruled {
  readonly clearance: Clearance
  readonly destinations: readonly string[]
}

export async function ruledBy(run: Run, turn: number, call: Call): Promise<Ruled> {
  const destinations = destinationsOf(run.toolbox.get(call.tool), call)
  let ruling = await ruleOn(run, call, destinations)
  // A call that a person allowed does not need the intent.
  if (ruling.kind === 'consult' && call.approval === undefined) {
    await fixIntent(run, turn)
    ruling = await ruleOn(run, call, destinations)
  }
  const effective = ruling.kind === 'consult' ? INTENT_UNKNOWN : ruling
  const isDenied = effective.kind === 'ask' && run.engine.policy.unattended === 'deny' && call.approval === undefined
  const clearance: Clearance = isDenied
    ? { kind: 'deny', reason: `${effective.reason} (policy.unattended: deny)` }
    : effective
  return { clearance, destinations }
}

const INTENT_UNKNOWN = {
  kind: 'ask',
  reason: 'it is unclear whether your instructions ask for it, and the session has read outside content',
} as const

async function ruleOn(run: Run, call: Call, destinations: readonly string[]): Promise<Ruling> {
  const { tool, effect } = call
  const isOutside = effect.reach !== 'none' && effect.reach !== 'workspace' && effect.reach !== 'private'
  const standing = isOutside
    ? await buildStanding(run, call, destinations)
    : { ...NO_PERMISSIONS, label: run.thread.label }
  if (!isOutside) return rule({ tool, effect, destinations, ...NO_CONTENT }, standing)
  const isContent = (text: string): boolean => !destinations.some((to) => isSamePlace(to, text))
  const [content, harmful] = contentOf(run.toolbox.get(tool), call)
  return rule(
    {
      ...{ tool, effect, destinations, content },
      // A sandboxed program can reach only the destinations of the call, so its links do not matter.
      links: effect.unseen ? [] : linksIn(call.args).filter(isContent),
      harmful: { ...harmful, names: harmful.names.filter(isContent) },
      texts: textsIn(call.args).filter(isContent),
    },
    standing,
  )
}

const NO_HARMFUL_PARTS: HarmfulParts = { names: [], amounts: [], switches: [] }

const NO_CONTENT = { links: [], content: [], harmful: NO_HARMFUL_PARTS, texts: [] } as const

/** Placeholder for calls that reach nothing outside; the rule does not read it. */
const NO_PERMISSIONS: Omit<Standing, 'label'> = {
  isAllowed: () => false,
  isGranted: false,
  isLinkGranted: () => false,
  words: mentionsIn([]),
  isLinkedThere: () => false,
  isNameFree: () => true,
  hasRead: () => false,
  isWordKnown: () => false,
  isSender: () => false,
  isIntended: undefined,
}

async function buildStanding(run: Run, call: Call, destinations: readonly string[]): Promise<Standing> {
  const { engine, dispatch, thread } = run
  const { agent_id, session_id } = dispatch
  const { tool, effect, args } = call
  const now = engine.clock.now()
  const grantable: Grantable = {
    ...{ tool, agent_id, session_id, method: effect.method, destinations },
    args: hash('sha256', canonical(args)),
  }
  const grants = [...engine.policy.grants(), ...(await engine.store.grants({ tool, now }))]
  return {
    // Tool descriptions of a foreign server are outside content too.
    label: hasForeignTools(run) ? lowest(thread.label, UNTRUSTED) : thread.label,
    isAllowed: (host) => engine.policy.isAllowed(host),
    isGranted: grants.some((grant) => isGrantedBy(grant, grantable, now)),
    isLinkGranted: (link) => grants.some((grant) => holdsFor(grant, grantable, now) && leadsTo(grant, link)),
    words: mentionsIn(ownerTexts(run)),
    isLinkedThere: (page) =>
      thread.heard.some(
        ({ host, text }) =>
          host === placeText(page) && writtenAddresses(text).some((linked) => pageOf(linked) === pageOf(page)),
      ),
    ...knownOfHosts(run),
    isSender: (destination) => thread.heard.some(({ text }) => sendersIn(text).includes(destination.toLowerCase())),
    isIntended: isIntended(run, call, destinations),
  }
}

function knownOfHosts({ engine, thread: { heard } }: Run): Pick<Standing, 'isNameFree' | 'hasRead' | 'isWordKnown'> {
  return {
    isNameFree: (place) => !engine.policy.isAllowedByName(place) && !heard.some(({ host }) => host === place),
    hasRead: ({ url }) => heard.some(({ address }) => address !== undefined && isSamePlace(address, url)),
    isWordKnown: (place, word) =>
      heard.some(({ text, host, isEarly }) =>
        host === place ? hasWord(text, word) : isEarly === true && isListedName(text, word),
      ),
  }
}

const hasForeignTools = ({ toolbox }: Run): boolean => [...toolbox.values()].some(({ foreign }) => foreign)

/** If the tool's content() fails, all arguments count as content. */
function contentOf(tool: AnyTool | undefined, { args }: Call): readonly [readonly string[], HarmfulParts] {
  try {
    if (!tool?.content) return [[], harmfulPartsIn(args)]
    return [askPlugin(contentPort(tool.name), () => tool.content?.(args as never)), NO_HARMFUL_PARTS]
  } catch {
    return [[JSON.stringify(args)], NO_HARMFUL_PARTS]
  }
}

function destinationsOf(tool: AnyTool | undefined, { args, effect }: Call): readonly string[] {
  const fromArgs = destinationsIn(args)
  try {
    const declared = tool?.destinations
      ? askPlugin(destinationsPort(tool.name), () => tool.destinations?.(args as never))
      : withHost(fromArgs, effect.host)
    return declared.flatMap(splitList)
  } catch {
    // The tool's destinations() failed: use those found in the arguments.
    return fromArgs
  }
}

/** The owner's messages and configured prompts. Excludes results, recalled facts and descriptions of server tools. */
const ownerTexts = (run: Run): readonly string[] => [prefixOf(run).own, ...ownWords(run.thread)]

/** The source of each destination, shown in the approval. */
export function sinksOf(run: Run, destinations: readonly string[]): readonly Sink[] {
  return destinations.map((to) => {
    const mentions = (text: string): boolean => mentionsIn([text]).names(to)
    const trustedSource = run.thread.heard.find(({ text, trusted }) => trusted && mentions(text))
    const source = trustedSource ?? run.thread.heard.find(({ text }) => mentions(text))
    if (source) return { to, from: source.source, trusted: source.trusted }
    return mentions(prefixOf(run).own)
      ? { to, from: 'the system prompt', trusted: true }
      : { to, from: 'written by the model', trusted: false }
  })
}

/** The audit entry of a ruling. */
export function auditOf(
  run: Run,
  at: { readonly turn: number; readonly index: number },
  call: Call,
  { clearance, destinations }: Ruled,
) {
  const { agent_id, session_id } = run.dispatch
  return {
    op: 'audit',
    entry: {
      ts: run.engine.clock.now(),
      what: 'call',
      session_id,
      agent_id,
      call: callKeyOf(session_id, at),
      tool: call.tool,
      args: hash('sha256', canonical(call.args)),
      reach: call.effect.reach,
      destinations,
      label: { ...run.thread.label },
      ruling: clearance.kind,
      reason: clearance.reason ?? '',
      ...(call.approval === undefined ? {} : { approval: call.approval }),
    },
  } as const
}
