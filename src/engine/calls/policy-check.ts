/**
 * The policy check of a call: gathers the session's state, applies the policy rule, and builds the audit entry.
 * Must not know: the consequences of a ruling, see gate.ts.
 */

import { hash } from 'node:crypto'
import { formatHostPort } from '../../domain/address.ts'
import type { CallDestination } from '../../domain/approval.ts'
import { canonicalJson } from '../../domain/approval.ts'
import type { Call } from '../../domain/decision.ts'
import {
  type Grant,
  type GrantableCall,
  grantAppliesTo,
  grantCoversDestination,
  isGrantedBy,
} from '../../domain/grant.ts'
import { CLEAN_LABEL, CLOSED_LABEL, type Label, lowestLabel, UNTRUSTED_LABEL } from '../../domain/label.ts'
import { callKeyOf } from '../../domain/unknown-outcome.ts'
import { hasWord, isListedName } from '../../policy/address-parts.ts'
import {
  addHost,
  findDestinations,
  findHarmfulParts,
  type HarmfulParts,
  splitAddressList,
} from '../../policy/destinations.ts'
import { addressWithoutScheme, findLinks, findWebAddresses, isSameAddress } from '../../policy/links.ts'
import { findMentions } from '../../policy/owner-mentions.ts'
import { type PolicyContext, type PolicyRuling, ruleOnCall } from '../../policy/policy-rule.ts'
import { collectTexts, findSenders } from '../../policy/senders.ts'
import type { GateVerdict } from '../../ports/gate.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { contentPort, destinationsPort } from '../plugins/tool-shapes.ts'
import { getPromptPrefix } from '../request/prompt-prefix.ts'
import type { Run } from '../run.ts'
import { listOwnerTexts } from '../session/provenance.ts'
import { isGrantInherited } from './delegation.ts'
import { determineIntent, isIntended } from './intent-lock.ts'

/** The owner's standing decisions. Read on every call, because the configuration can change during a run. */
export interface Policy {
  isAllowed(host: string): boolean
  /** Whether the host is allowed by its own name, not by a pattern. */
  isAllowedByName(host: string): boolean
  grants(): readonly Grant[]
  /** What to do with a call that needs approval: wait for a person, or deny it. */
  readonly unattended: 'park' | 'deny'
  /** Whether files in the workspace may come from other people. */
  isForeignWorkspace(workspace: string): boolean
}

export interface PolicyVerdict {
  readonly verdict: GateVerdict
  readonly destinations: readonly string[]
}

export async function checkPolicy(run: Run, turn: number, call: Call): Promise<PolicyVerdict> {
  const destinations = destinationsOf(run.toolbox.get(call.tool), call)
  let ruling = await ruleOn(run, call, destinations)
  // A call that a person allowed does not need the intent.
  if (ruling.kind === 'consult' && call.approval === undefined) {
    await determineIntent(run, turn)
    ruling = await ruleOn(run, call, destinations)
  }
  const effective = ruling.kind === 'consult' ? INTENT_UNKNOWN : ruling
  const isDenied = effective.kind === 'ask' && run.engine.policy.unattended === 'deny' && call.approval === undefined
  const clearance: GateVerdict = isDenied
    ? { kind: 'deny', reason: `${effective.reason} (policy.unattended: deny)` }
    : effective
  return { verdict: clearance, destinations }
}

const INTENT_UNKNOWN = {
  kind: 'ask',
  reason: 'it is unclear whether your instructions ask for it, and the session has read outside content',
} as const

async function ruleOn(run: Run, call: Call, destinations: readonly string[]): Promise<PolicyRuling> {
  const { tool, effect } = call
  const isOutside = effect.reach !== 'none' && effect.reach !== 'workspace' && effect.reach !== 'private'
  const standing = isOutside
    ? await buildStanding(run, call, destinations)
    : { ...NO_PERMISSIONS, label: run.thread.label }
  if (!isOutside) return ruleOnCall({ tool, effect, destinations, ...NO_CONTENT }, standing)
  const isContent = (text: string): boolean => !destinations.some((to) => isSameAddress(to, text))
  const [content, harmful] = contentOf(run.toolbox.get(tool), call)
  return ruleOnCall(
    {
      ...{ tool, effect, destinations, content },
      // A sandboxed program can reach only the destinations of the call, so links in its arguments do not matter.
      links: effect.unseen ? [] : findLinks(call.args).filter(isContent),
      harmful: { ...harmful, names: harmful.names.filter(isContent) },
      texts: collectTexts(call.args).filter(isContent),
    },
    standing,
  )
}

const NO_HARMFUL_PARTS: HarmfulParts = { names: [], amounts: [], switches: [] }

const NO_CONTENT = { links: [], content: [], harmful: NO_HARMFUL_PARTS, texts: [] } as const

/** Placeholder values for calls that reach nothing outside; the policy rule does not read them. */
const NO_PERMISSIONS: Omit<PolicyContext, 'label'> = {
  isAllowed: () => false,
  isGranted: false,
  isLinkGranted: () => false,
  words: findMentions([]),
  isLinkedOnHost: () => false,
  isNameFree: () => true,
  hasRead: () => false,
  isWordKnown: () => false,
  isSender: () => false,
  isIntended: undefined,
}

async function buildStanding(run: Run, call: Call, destinations: readonly string[]): Promise<PolicyContext> {
  const { engine, dispatch, thread } = run
  const { agent_id, session_id } = dispatch
  const { tool, effect, args } = call
  const now = engine.clock.borneOut()
  const grantable: GrantableCall = {
    ...{ tool, agent_id, session_id, method: effect.method, destinations },
    args: hash('sha256', canonicalJson(args)),
  }
  const grants = [...engine.policy.grants(), ...(await engine.store.grants({ tool, now }))].filter((grant) =>
    isGrantInherited(grant, dispatch.metadata),
  )
  return {
    // Tool descriptions of a foreign server are outside content too.
    label: lowestLabel(withWorkspace(run), hasForeignTools(run) ? UNTRUSTED_LABEL : CLEAN_LABEL),
    isAllowed: (host) => engine.policy.isAllowed(host),
    isGranted: grants.some((grant) => isGrantedBy(grant, grantable, now)),
    isLinkGranted: (link) =>
      grants.some((grant) => grantAppliesTo(grant, grantable, now) && grantCoversDestination(grant, link)),
    words: findMentions(ownerTexts(run)),
    isLinkedOnHost: (page) =>
      thread.sources.some(
        ({ host, text }) =>
          host === formatHostPort(page) &&
          findWebAddresses(text).some((linked) => addressWithoutScheme(linked) === addressWithoutScheme(page)),
      ),
    ...knownOfHosts(run),
    isSender: (destination) => thread.sources.some(({ text }) => findSenders(text).includes(destination.toLowerCase())),
    isIntended: isIntended(run, call, destinations),
  }
}

function knownOfHosts({
  engine,
  thread: { sources: heard },
}: Run): Pick<PolicyContext, 'isNameFree' | 'hasRead' | 'isWordKnown'> {
  return {
    isNameFree: (place) => !engine.policy.isAllowedByName(place) && !heard.some(({ host }) => host === place),
    hasRead: ({ url }) => heard.some(({ address }) => address !== undefined && isSameAddress(address, url)),
    isWordKnown: (place, word) =>
      heard.some(({ text, host, isEarly }) =>
        host === place ? hasWord(text, word) : isEarly === true && isListedName(text, word),
      ),
  }
}

/** What the call reads of a closed workspace while it runs, it may send. */
const withWorkspace = ({ thread, workspace }: Run): Label => (workspace.isClosed ? CLOSED_LABEL : thread.label)

const hasForeignTools = ({ toolbox }: Run): boolean => [...toolbox.values()].some(({ foreign }) => foreign)

/** If the tool's content() fails, all arguments count as content. */
function contentOf(tool: AnyTool | undefined, { args }: Call): readonly [readonly string[], HarmfulParts] {
  try {
    if (!tool?.content) return [[], findHarmfulParts(args)]
    return [askPlugin(contentPort(tool.name), () => tool.content?.(args as never)), NO_HARMFUL_PARTS]
  } catch {
    return [[JSON.stringify(args)], NO_HARMFUL_PARTS]
  }
}

function destinationsOf(tool: AnyTool | undefined, { args, effect }: Call): readonly string[] {
  const fromArgs = findDestinations(args)
  try {
    const declared = tool?.destinations
      ? askPlugin(destinationsPort(tool.name), () => tool.destinations?.(args as never))
      : addHost(fromArgs, effect.host)
    return declared.flatMap(splitAddressList)
  } catch {
    // The tool's destinations() failed: use the destinations found in the arguments.
    return fromArgs
  }
}

/** The owner's messages and configured prompts. Excludes results, recalled facts and descriptions of server tools. */
const ownerTexts = (run: Run): readonly string[] => [getPromptPrefix(run).ownSystem, ...listOwnerTexts(run.thread)]

/** The source of each destination, shown in the approval. */
export function traceDestinations(run: Run, destinations: readonly string[]): readonly CallDestination[] {
  return destinations.map((to) => {
    const mentions = (text: string): boolean => findMentions([text]).mentions(to)
    const trustedSource = run.thread.sources.find(({ text, trusted }) => trusted && mentions(text))
    const source = trustedSource ?? run.thread.sources.find(({ text }) => mentions(text))
    if (source) return { to, from: source.source, trusted: source.trusted }
    return mentions(getPromptPrefix(run).ownSystem)
      ? { to, from: 'the system prompt', trusted: true }
      : { to, from: 'written by the model', trusted: false }
  })
}

export function createAuditOp(
  run: Run,
  at: { readonly turn: number; readonly index: number },
  call: Call,
  { verdict: clearance, destinations }: PolicyVerdict,
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
      args: hash('sha256', canonicalJson(call.args)),
      reach: call.effect.reach,
      destinations,
      label: { ...run.thread.label },
      ruling: clearance.kind,
      reason: clearance.reason ?? '',
      ...(call.approval === undefined ? {} : { approval: call.approval }),
    },
  } as const
}
