/**
 * The policy rule: a pure function that decides before every call whether it may run or needs a person's approval.
 * Must not know: how an approval is requested. Answers `consult` if the ruling depends on the task's intent and the
 * intent is not known yet.
 */

import { type Address, formatHostPort } from '../domain/address.ts'
import { alwaysNeedsApproval, type Effect } from '../domain/effect.ts'
import { assertNever } from '../domain/error.ts'
import type { Label } from '../domain/label.ts'
import { truncateText } from '../domain/truncate.ts'
import { isPathFromOwner, type KnownOfHost, unknownParts } from './address-parts.ts'
import { findCredentials } from './credentials.ts'
import type { HarmfulParts } from './destinations.ts'
import { parseWebAddress } from './links.ts'

export interface PolicyCall {
  readonly tool: string
  readonly effect: Effect
  readonly destinations: readonly string[]
  /** Links in the texts of the call. */
  readonly links: readonly string[]
  /** Texts that must consist of the owner's words once the session has read outside content. */
  readonly content: readonly string[]
  readonly harmful: HarmfulParts
  /** All texts of the call. */
  readonly texts: readonly string[]
}

/** The state of the session that makes the call. */
export interface PolicyContext extends KnownOfHost {
  /** The lowest label of everything the session has read. */
  readonly label: Label
  /** Whether `policy.allow_hosts` covers the host. */
  readonly isAllowed: (host: string) => boolean
  /** Whether one of the owner's standing grants covers the call. */
  readonly isGranted: boolean
  /** Whether a standing grant covers a link in the call's texts. */
  readonly isLinkGranted: (link: string) => boolean
  /** Whether the session has read a page of the same host that links to this address. */
  readonly isLinkedOnHost: (page: Address) => boolean
  /** Whether a message came from this address, according to the mail program's own sender field. */
  readonly isSender: (destination: string) => boolean
  /**
   * Whether a model that saw only the owner's messages judges the call necessary; undefined if that model was not asked
   * yet.
   */
  readonly isIntended: boolean | undefined
}

export type PolicyRuling =
  | { readonly kind: 'allow'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason: string }
  /** The ruling depends on the task's intent, which is not known yet. */
  | { readonly kind: 'consult' }

const allow = (reason: string): PolicyRuling => ({ kind: 'allow', reason })
const ask = (reason: string): PolicyRuling => ({ kind: 'ask', reason })

export function ruleOnCall(call: PolicyCall, standing: PolicyContext): PolicyRuling {
  const { effect } = call
  const reach = alwaysNeedsApproval(effect) ? 'destructive' : effect.reach
  switch (reach) {
    case 'none':
      return allow('it has no outside effect')
    case 'workspace':
      return allow('it only changes the workspace')
    case 'private':
      return allow('reading is allowed; the result is labelled private and untrusted')
    case 'network':
      return ruleOnReading(call, standing)
    case 'third_party':
      return ruleOnSending(call, standing)
    case 'self':
      return standing.isGranted ? allow(GRANTED) : ask('it changes the agent itself')
    case 'destructive':
      return ask('it spends money, destroys, publishes, or touches credentials')
    default:
      return assertNever(reach)
  }
}

const GRANTED = 'a standing grant covers it'

/** A request also sends its address to the host, so the address must not contain private data. */
function ruleOnReading({ effect: { host }, destinations }: PolicyCall, standing: PolicyContext): PolicyRuling {
  const { label, isAllowed, isGranted } = standing
  const isTainted = label.trust === 'untrusted'
  const isListed = host !== undefined && isAllowed(host) && !(isTainted && label.private)
  if (isListed && !isTainted) return allow(`${host} is in policy.allow_hosts`)
  if (isGranted) return allow(GRANTED)
  if (isListed) return ruleOnListedHost(host, destinations, standing)
  const unnamed = destinations.filter((destination) => !isReadable(destination, standing))
  if (unnamed.length > 0) {
    const why = isTainted && label.private ? ', and the session has read private data' : ''
    return ask(`it goes to ${quoted(unnamed)}, which your instructions do not name${why}`)
  }
  return allow(
    isTainted
      ? 'it reads an address that your instructions name or that a page of that host links to'
      : 'your instructions name the address',
  )
}

/**
 * Outside content may have chosen the address. So the address may contain only words of the owner or of the host
 * itself.
 */
function ruleOnListedHost(host: string, destinations: readonly string[], standing: PolicyContext): PolicyRuling {
  const isListed = (destination: string): boolean => {
    const address = parseWebAddress(destination)
    return address === undefined || standing.isAllowed(formatHostPort(address))
  }
  const asked = destinations.filter((destination) => !isReadable(destination, standing))
  const elsewhere = asked.filter((destination) => !isListed(destination))
  if (elsewhere.length > 0) return ask(`it goes to ${quoted(elsewhere)}, which your instructions do not name`)
  const unknown = asked.flatMap((destination) => unknownParts(destination, host, standing))
  return unknown.length === 0
    ? allow(`${host} is in policy.allow_hosts, and the address tells it nothing new`)
    : ask(
        `it tells ${host} ${quoted(unknown)}, which neither your instructions nor that host has said, ` +
          'and the session has read outside content',
      )
}

function isReadable(destination: string, { label, words, isLinkedOnHost: isLinkedThere }: PolicyContext): boolean {
  if (words.mentions(destination)) return true
  const address = parseWebAddress(destination)
  if (!address || !words.mentionsHost(formatHostPort(address))) return false
  if (label.trust === 'trusted') return true
  return !label.private && (isLinkedThere(address) || isPathFromOwner(address, words))
}

/** Rules on a call that sends something to others. */
function ruleOnSending(call: PolicyCall, standing: PolicyContext): PolicyRuling {
  const { isGranted, words, isIntended, label } = standing
  if (call.effect.publishes && !isGranted) return ask('it publishes something')
  if (call.effect.unseen && label.trust === 'untrusted' && label.private)
    return ask('what it sends cannot be inspected, and the session has read private data')
  const unnamed = isGranted || isPlainReply(call, standing) ? [] : call.destinations.filter((to) => !words.mentions(to))
  if (unnamed.length > 0) return ask(`it goes to ${quoted(unnamed)}, which your instructions do not name`)
  // A session without outside content cannot carry another person's instructions.
  if (label.trust === 'trusted')
    return allow(
      isGranted ? GRANTED : 'your instructions name the destination, and the session has read no outside content',
    )
  const foreign = findForeign(call, standing)
  if (foreign !== undefined) return ask(foreign)
  if (isGranted) return allow(GRANTED)
  const unasked = findUnasked(call, standing)
  if (unasked !== undefined) return ask(`${unasked}, and the session has read outside content`)
  if (isIntended === undefined) return { kind: 'consult' }
  return isIntended
    ? allow('your instructions ask for it and name its destination')
    : ask(`your instructions alone do not ask for ${call.tool}, and the session has read outside content`)
}

/**
 * Checks against the owner's messages themselves whether they ask for the call; returns what they do not ask for.
 * The model that judges the task's intent may be wrong in any way, so its answer alone never allows a call.
 */
function findUnasked(call: PolicyCall, standing: PolicyContext): string | undefined {
  const { destinations, texts, effect } = call
  const { words } = standing
  if (destinations.length === 0 && !texts.every((text) => words.coversText(text)))
    return `it names no destination, and your instructions do not contain ${quoted(texts)}`
  if (effect.method === undefined) {
    if (!words.asksToSend) return 'your instructions do not ask to send anything'
    const read = isPlainReply(call, standing) ? [] : destinations.filter((to) => !words.asksToSendTo(to))
    return read.length === 0
      ? undefined
      : `your instructions name ${quoted(read)}, but do not ask to send anything there`
  }
  return PAGE_METHODS.has(effect.method) && !words.asksToOperatePage
    ? `your instructions do not ask to ${effect.method}`
    : undefined
}

/** Methods that operate a web page. They need approval unless the owner's messages ask to operate a page. */
const PAGE_METHODS = new Set(['click', 'type', 'select'])

/** A reply to a known sender that consists of the owner's own words discloses nothing. */
const isPlainReply = ({ destinations, texts }: PolicyCall, { words, isSender }: PolicyContext): boolean =>
  destinations.every((to) => words.mentions(to) || isSender(to)) && texts.every((text) => words.coversText(text))

/** Finds parts of the call that may come from outside content and can do harm. */
function findForeign(
  { links, content, harmful, texts }: PolicyCall,
  { words, isGranted, isLinkGranted }: PolicyContext,
): string | undefined {
  const leads = links.filter((link) => !words.mentions(link) && !isLinkGranted(link))
  if (leads.length > 0) return `it contains the link ${quoted(leads)}, which your instructions do not name`
  const secrets = texts.flatMap(findCredentials).filter((secret) => !words.mentions(secret))
  if (secrets.length > 0) return `it mentions the credential ${quoted(secrets)}, which your instructions do not`
  const foreign = isGranted ? [] : content.filter((text) => !words.coversText(text))
  if (foreign.length > 0) return `it contains ${quoted(foreign)}, which is not taken from your instructions`
  const unnamed = [
    ...harmful.names.filter((name) => !words.mentions(name)),
    ...harmful.amounts.filter((amount) => !words.mentionsNumber(amount)).map(String),
    ...harmful.switches.filter((name) => !words.mentions(splitName(name))).map((name) => `the switch ${name}`),
  ]
  return unnamed.length === 0 ? undefined : `it sets ${quoted(unnamed)}, which your instructions do not name`
}

/**
 * Splits the name of an argument into words and drops a prefix such as `is`: `is_public` and `isPublic` become
 * "public".
 */
const splitName = (name: string): string =>
  name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[_-]/g, ' ').replace(/^(?:is|make|set|should|send) /i, '')

const MAX_QUOTED_LENGTH = 300
const quoted = (places: readonly string[]): string =>
  places.map((one) => JSON.stringify(truncateText(one, MAX_QUOTED_LENGTH))).join(', ')
