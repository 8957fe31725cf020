/**
 * The rule: whether a call may be run, must be asked for, or must not be. One pure function, before every call.
 * Must not know: who asks whom, and how. What hinges on the task's intent, and nobody has fixed that yet, is said to.
 */

import { type Address, placeText } from '../domain/address.ts'
import { type Effect, isNeverGranted } from '../domain/effect.ts'
import { assertNever } from '../domain/error.ts'
import type { Label } from '../domain/trust.ts'
import { credentialsIn } from './credentials.ts'
import type { HarmfulParts } from './destinations.ts'
import { webAddressOf } from './links.ts'
import type { OwnerMentions } from './words.ts'

export interface Ruled {
  readonly tool: string
  readonly effect: Effect
  readonly destinations: readonly string[]
  /** Addresses in what it says. */
  readonly links: readonly string[]
  /** Texts that have to be made of the owner's words, once something from outside was read. */
  readonly content: readonly string[]
  /** What else decides harm. */
  readonly harmful: HarmfulParts
  /** All that it says. */
  readonly texts: readonly string[]
}

/** How things stand with the session that wants the call. */
export interface Standing {
  /** The lowest label of what it has read. */
  readonly label: Label
  /** Whether the owner allows the host. */
  readonly isAllowed: (host: string) => boolean
  /** Whether a standing word of the owner covers the call. */
  readonly isGranted: boolean
  /** Whether one covers a link in what it says. */
  readonly isLinkGranted: (link: string) => boolean
  readonly words: OwnerMentions
  /** Whether a page of that very host has linked to it. */
  readonly isLinkedThere: (page: Address) => boolean
  /** Whether somebody has written from there, by the word of a program, not of the letter. */
  readonly isSender: (destination: string) => boolean
  /** Whether the owner's words need such a call, by the judgement of a mind that has seen nothing else; undefined: nobody was asked. */
  readonly isIntended: boolean | undefined
}

export type Ruling =
  | { readonly kind: 'allow'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason: string }
  /** It depends on what the task needs. */
  | { readonly kind: 'consult' }

const allow = (reason: string): Ruling => ({ kind: 'allow', reason })
const ask = (reason: string): Ruling => ({ kind: 'ask', reason })

export function rule(call: Ruled, standing: Standing): Ruling {
  const { effect } = call
  const reach = isNeverGranted(effect) ? 'destructive' : effect.reach
  switch (reach) {
    case 'none':
      return allow('it reaches nothing')
    case 'workspace':
      return allow('it stays in the workspace')
    case 'private':
      return allow('to read is allowed; what it read stays private and untrusted')
    case 'network':
      return ruleOfReading(call, standing)
    case 'third_party':
      return ruleOfSending(call, standing)
    case 'self':
      return standing.isGranted ? allow(GRANTED) : ask('it changes the agent itself')
    case 'destructive':
      return ask('it spends money, destroys, publishes, or touches credentials')
    default:
      return assertNever(reach)
  }
}

const GRANTED = 'a standing grant covers it'

/** An address that is asked tells its host something, too: what is private must not stand in it. */
function ruleOfReading({ effect: { host }, destinations }: Ruled, standing: Standing): Ruling {
  const { label, isAllowed, isGranted } = standing
  const isTainted = label.trust === 'untrusted'
  if (host !== undefined && isAllowed(host) && !(isTainted && label.private))
    return allow(`${host} is allowed (policy.allow_hosts)`)
  if (isGranted) return allow(GRANTED)
  const unnamed = destinations.filter((destination) => !mayBeRead(destination, standing))
  if (unnamed.length > 0) {
    const why = isTainted && label.private ? ', and the session knows private things' : ''
    return ask(`it goes to ${quoted(unnamed)}, which is not from your words${why}`)
  }
  return allow(isTainted ? 'it reads what your words name, or what is linked there' : 'your words name the place')
}

function mayBeRead(destination: string, { label, words, isLinkedThere }: Standing): boolean {
  if (words.names(destination)) return true
  const address = webAddressOf(destination)
  if (!address || !words.namesHost(placeText(address))) return false
  if (label.trust === 'trusted') return true
  return !label.private && (isLinkedThere(address) || isSpelledOut(address, words))
}

const MOST_OF_A_PATH = 200
/** They say nothing. */
const PLAIN = [
  'index',
  'html',
  'htm',
  'wiki',
  'search',
  'q',
  'query',
  'page',
  'docs',
  'en',
  'de',
  'zh',
  'api',
  'latest',
  'git',
]

/** Whether what stands behind the host is made of the owner's words. */
function isSpelledOut({ url, host }: Address, words: OwnerMentions): boolean {
  const { pathname, search } = new URL(url)
  try {
    const behind = decodeURIComponent((pathname + search).replaceAll('+', ' '))
    return (
      behind.length <= MOST_OF_A_PATH &&
      !/[^\p{L}\p{N}]{2}|[^\p{L}\p{N}/?&=+ ,._~-]/u.test(behind) &&
      words.supplies(behind, [...PLAIN, ...host.split(/[.-]/)])
    )
  } catch {
    return false
  }
}

/** What goes to others. */
function ruleOfSending(call: Ruled, standing: Standing): Ruling {
  const { isGranted, words, isIntended, label } = standing
  if (call.effect.publishes && !isGranted) return ask('it publishes')
  if (call.effect.unseen && label.trust === 'untrusted' && label.private)
    return ask('nobody sees what it sends, and the session knows private things')
  const unsaid = isGranted || isPlainReply(call, standing) ? [] : call.destinations.filter((to) => !words.names(to))
  if (unsaid.length > 0) return ask(`it goes to ${quoted(unsaid)}, which is not from your words`)
  // Whoever has read nothing from outside wants what you want.
  if (label.trust === 'trusted')
    return allow(isGranted ? GRANTED : 'it goes where your words say, and nothing from outside was read')
  const foreign = foreignIn(call, standing)
  if (foreign !== undefined) return ask(foreign)
  if (isGranted) return allow(GRANTED)
  const unasked = unaskedIn(call, standing)
  if (unasked !== undefined) return ask(`${unasked}, and the session has read text from outside`)
  if (isIntended === undefined) return { kind: 'consult' }
  return isIntended
    ? allow('your words ask for it, and it goes where they say')
    : ask(`your words alone do not ask for ${call.tool}, and the session has read text from outside`)
}

/**
 * What the owner's words do not ask for, by the words themselves. Whoever judges the task's intent is a model, and may be wrong in any way: what it says
 * never suffices on its own.
 */
function unaskedIn(call: Ruled, standing: Standing): string | undefined {
  const { destinations, texts, effect } = call
  const { words } = standing
  if (destinations.length === 0 && !texts.every((text) => words.supplies(text)))
    return `it does not say where it goes, and your words do not say ${quoted(texts)}`
  if (effect.method === undefined) {
    if (!words.asksToTellAnybody) return 'your words do not ask to tell anybody anything'
    const read = isPlainReply(call, standing) ? [] : destinations.filter((to) => !words.asksToTell(to))
    return read.length === 0 ? undefined : `your words name ${quoted(read)}, but not to tell anything there`
  }
  return PRESSES.has(effect.method) && !words.asksToPress ? `your words do not ask to ${effect.method}` : undefined
}

/** What is done to a page. Other methods have to stand in the words themselves, or in a grant. */
const PRESSES = new Set(['click', 'type', 'select'])

/** An answer to whoever has written, in the owner's own words, gives nothing away. */
const isPlainReply = ({ destinations, texts }: Ruled, { words, isSender }: Standing): boolean =>
  destinations.every((to) => words.names(to) || isSender(to)) && texts.every((text) => words.supplies(text))

/** What in it may be somebody else's will, and decides what comes of it. */
function foreignIn(
  { links, content, harmful, texts }: Ruled,
  { words, isGranted, isLinkGranted }: Standing,
): string | undefined {
  const leads = links.filter((link) => !words.names(link) && !isLinkGranted(link))
  if (leads.length > 0) return `it leads to ${quoted(leads)}, which is not from your words`
  const secrets = texts.flatMap(credentialsIn).filter((secret) => !words.names(secret))
  if (secrets.length > 0) return `it speaks of ${quoted(secrets)}, which your words do not`
  const foreign = isGranted ? [] : content.filter((text) => !words.supplies(text))
  if (foreign.length > 0) return `it says ${quoted(foreign)}, which is not made of your words`
  const unsaid = [
    ...harmful.names.filter((name) => !words.names(name)),
    ...harmful.amounts.filter((amount) => !words.counts(amount)).map(String),
    ...harmful.switches.filter((name) => !words.names(spaced(name))).map((name) => `${name} on or off`),
  ]
  return unsaid.length === 0 ? undefined : `it says ${quoted(unsaid)}, which is not from your words`
}

/** `is_public` and `isPublic` are two words, of which one says something. */
const spaced = (name: string): string =>
  name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[_-]/g, ' ').replace(/^(?:is|make|set|should|send) /i, '')

const MOST_SHOWN = 300
const quoted = (places: readonly string[]): string =>
  places.map((one) => JSON.stringify(one.length > MOST_SHOWN ? `${one.slice(0, MOST_SHOWN)}…` : one)).join(', ')
