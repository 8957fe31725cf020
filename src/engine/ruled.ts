/**
 * What policy says of a call: the rule, told how things stand with the session, and every ruling written down with its reason.
 * Must not know: what comes of a ruling. That is gate.ts.
 */

import { hash } from 'node:crypto'
import { placeText } from '../domain/address.ts'
import type { Sink } from '../domain/approval.ts'
import { canonical } from '../domain/approval.ts'
import type { Call } from '../domain/decision.ts'
import { type Grant, type Grantable, holdsFor, isGrantedBy, leadsTo } from '../domain/grant.ts'
import { lowest, UNTRUSTED } from '../domain/trust.ts'
import { callKeyOf } from '../domain/unknown.ts'
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

/** What the owner has settled beforehand. As it is now: the configuration may change while a run goes on. */
export interface Policy {
  isAllowed(host: string): boolean
  grants(): readonly Grant[]
  /** What becomes of a call that has to be asked for where nobody may be. */
  readonly unattended: 'park' | 'deny'
  /** Whether what lies in a workspace may be others'. */
  isForeign(workspace: string): boolean
}

export interface Ruled {
  readonly clearance: Clearance
  readonly destinations: readonly string[]
}

export async function ruledBy(run: Run, turn: number, call: Call): Promise<Ruled> {
  const destinations = destinationsOf(run.toolbox.get(call.tool), call)
  let ruling = await judge(run, call, destinations)
  // What a person has allowed needs no other judge.
  if (ruling.kind === 'consult' && call.approval === undefined) {
    await fixIntent(run, turn)
    ruling = await judge(run, call, destinations)
  }
  const said = ruling.kind === 'consult' ? UNFIXED : ruling
  const strict = said.kind === 'ask' && run.engine.policy.unattended === 'deny' && call.approval === undefined
  const clearance: Clearance = strict ? { kind: 'deny', reason: `${said.reason} (policy.unattended: deny)` } : said
  return { clearance, destinations }
}

const UNFIXED = {
  kind: 'ask',
  reason: 'what your words alone ask for could not be found out, and the session has read text from outside',
} as const

async function judge(run: Run, call: Call, destinations: readonly string[]): Promise<Ruling> {
  const { tool, effect } = call
  const isOutside = effect.reach !== 'none' && effect.reach !== 'workspace' && effect.reach !== 'private'
  const standing = isOutside ? await standingOf(run, call, destinations) : { ...NOWHERE, label: run.thread.label }
  if (!isOutside) return rule({ tool, effect, destinations, ...SAYS_NOTHING }, standing)
  const isContent = (text: string): boolean => !destinations.some((to) => isSamePlace(to, text))
  const [content, harmful] = contentOf(run.toolbox.get(tool), call)
  return rule(
    {
      ...{ tool, effect, destinations, content },
      // What a program is told to reach, it reaches only where the call goes.
      links: effect.unseen ? [] : linksIn(call.args).filter(isContent),
      harmful: { ...harmful, names: harmful.names.filter(isContent) },
      texts: textsIn(call.args).filter(isContent),
    },
    standing,
  )
}

const NOTHING: HarmfulParts = { names: [], amounts: [], switches: [] }

const SAYS_NOTHING = { links: [], content: [], harmful: NOTHING, texts: [] } as const

/** What stays inside needs nobody's word. */
const NOWHERE: Omit<Standing, 'label'> = {
  isAllowed: () => false,
  isGranted: false,
  isLinkGranted: () => false,
  words: mentionsIn([]),
  isLinkedThere: () => false,
  isSender: () => false,
  isIntended: undefined,
}

async function standingOf(run: Run, call: Call, destinations: readonly string[]): Promise<Standing> {
  const { engine, dispatch, thread } = run
  const { agent_id, session_id } = dispatch
  const { tool, effect, args } = call
  const now = engine.clock.now()
  const asked: Grantable = {
    ...{ tool, agent_id, session_id, method: effect.method, destinations },
    args: hash('sha256', canonical(args)),
  }
  const grants = [...engine.policy.grants(), ...(await engine.store.grants({ tool, now }))]
  return {
    // Whoever was told by a server what its tools are for has read from outside.
    label: showsForeign(run) ? lowest(thread.label, UNTRUSTED) : thread.label,
    isAllowed: (host) => engine.policy.isAllowed(host),
    isGranted: grants.some((grant) => isGrantedBy(grant, asked, now)),
    isLinkGranted: (link) => grants.some((grant) => holdsFor(grant, asked, now) && leadsTo(grant, link)),
    words: mentionsIn(ownersTexts(run)),
    isLinkedThere: (page) =>
      thread.heard.some(
        ({ host, text }) =>
          host === placeText(page) && writtenAddresses(text).some((linked) => pageOf(linked) === pageOf(page)),
      ),
    isSender: (destination) => thread.heard.some(({ text }) => sendersIn(text).includes(destination.toLowerCase())),
    isIntended: isIntended(run, call, destinations),
  }
}

const showsForeign = ({ toolbox }: Run): boolean => [...toolbox.values()].some(({ foreign }) => foreign)

/** A tool that cannot say so has said that all of it counts. */
function contentOf(tool: AnyTool | undefined, { args }: Call): readonly [readonly string[], HarmfulParts] {
  try {
    if (!tool?.content) return [[], harmfulPartsIn(args)]
    return [askPlugin(contentPort(tool.name), () => tool.content?.(args as never)), NOTHING]
  } catch {
    return [[JSON.stringify(args)], NOTHING]
  }
}

function destinationsOf(tool: AnyTool | undefined, { args, effect }: Call): readonly string[] {
  const named = destinationsIn(args)
  try {
    const places = tool?.destinations
      ? askPlugin(destinationsPort(tool.name), () => tool.destinations?.(args as never))
      : withHost(named, effect.host)
    return places.flatMap(splitList)
  } catch {
    // Wherever its arguments say: it could not say so itself.
    return named
  }
}

/** What the owner has typed or configured, and the program's own prompt: no result, no echo, nothing that is remembered, no description of a server. */
const ownersTexts = (run: Run): readonly string[] => [prefixOf(run).own, ...ownWords(run.thread)]

/** Where each destination comes from, for whoever is asked. */
export function sinksOf(run: Run, destinations: readonly string[]): readonly Sink[] {
  return destinations.map((to) => {
    const isIn = (text: string): boolean => mentionsIn([text]).names(to)
    const known = run.thread.heard.find(({ text, trusted }) => trusted && isIn(text))
    const from = known ?? run.thread.heard.find(({ text }) => isIn(text))
    if (from) return { to, from: from.source, trusted: from.trusted }
    return isIn(prefixOf(run).own)
      ? { to, from: 'the system prompt', trusted: true }
      : { to, from: "the model's own words", trusted: false }
  })
}

/** For the audit: what was ruled, about what, and why. */
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
