/**
 * What policy says of a call: the rule, told how things stand with the session, and every ruling written down with its reason.
 * Must not know: what comes of a ruling. That is gate.ts.
 */

import { hash } from 'node:crypto'
import type { Sink } from '../domain/approval.ts'
import { canonical } from '../domain/approval.ts'
import type { Call } from '../domain/decision.ts'
import { type Grant, isGrantedBy } from '../domain/grant.ts'
import { callKeyOf } from '../domain/unknown.ts'
import { destinationsIn, linksIn, withHost } from '../policy/destinations.ts'
import { type Ruling, rule } from '../policy/rule.ts'
import { saidIn } from '../policy/words.ts'
import type { Clearance } from '../ports/gate.ts'
import type { AnyTool } from '../ports/tool.ts'
import { askPlugin } from './ask-plugin.ts'
import { fixIntent, isIntended } from './intent.ts'
import { prefixOf } from './prefix.ts'
import { destinationsPort } from './return-shapes.ts'
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
  const { thread, engine } = run
  const { tool, effect } = call
  const isOutside = effect.reach !== 'none' && effect.reach !== 'workspace' && effect.reach !== 'private'
  const isSaid = isOutside ? saidIn(trustedTexts(run)) : () => false
  return rule(
    { tool, effect, destinations, links: linksIn(call.args) },
    {
      label: thread.label,
      isAllowed: (host) => engine.policy.isAllowed(host),
      isGranted: isOutside && (await isGranted(run, call, destinations)),
      isSaid,
      isIntended: isIntended(run, tool, destinations),
    },
  )
}

async function isGranted(
  { engine, dispatch }: Run,
  { tool, args }: Call,
  destinations: readonly string[],
): Promise<boolean> {
  const { agent_id, session_id } = dispatch
  const now = engine.clock.now()
  const call = { tool, agent_id, session_id, destinations, args: hash('sha256', canonical(args)) }
  const covers = (grant: Grant): boolean => isGrantedBy(grant, call, now)
  return engine.policy.grants().some(covers) || (await engine.store.grants({ tool, now })).some(covers)
}

function destinationsOf(tool: AnyTool | undefined, { args, effect }: Call): readonly string[] {
  const named = destinationsIn(args)
  try {
    if (!tool?.destinations) return withHost(named, effect.host)
    return askPlugin(destinationsPort(tool.name), () => tool.destinations?.(args as never))
  } catch {
    // Wherever its arguments say: it could not say so itself.
    return named
  }
}

/** What the owner, the program, or what either of them trusts has said. */
const trustedTexts = (run: Run): readonly string[] => [
  prefixOf(run).system,
  ...run.thread.heard.filter(({ trusted }) => trusted).map(({ text }) => text),
]

/** Where each destination comes from, for whoever is asked. */
export function sinksOf(run: Run, destinations: readonly string[]): readonly Sink[] {
  return destinations.map((to) => {
    const isIn = (text: string): boolean => saidIn([text])(to)
    const known = run.thread.heard.find(({ text, trusted }) => trusted && isIn(text))
    const from = known ?? run.thread.heard.find(({ text }) => isIn(text))
    if (from) return { to, from: from.source, trusted: from.trusted }
    return isIn(prefixOf(run).system)
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
