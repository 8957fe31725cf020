/** What the policy does with typical calls, found by asking the rule itself: the table is true by construction. */

import type { Effect, EffectReach } from '../../domain/effect.ts'
import { findMentions } from '../../policy/owner-mentions.ts'
import { type PolicyCall, type PolicyContext, ruleOnCall } from '../../policy/policy-rule.ts'

export const CALL_KINDS = [
  ...(['workspace', 'private_data', 'read_listed', 'read_named', 'read_other', 'send_named', 'send_other'] as const),
  ...(['change_itself', 'publish', 'spend_or_destroy'] as const),
] as const
type CallKind = (typeof CALL_KINDS)[number]

export const CALL_OUTCOMES = ['alone', 'depends', 'asks'] as const
type CallOutcome = (typeof CALL_OUTCOMES)[number]

const LISTED = 'listed.example'
const NAMED_PAGE = 'https://named.example/news'
const PERSON = 'ann@named.example'
const OWNER_WORDS = findMentions([`Read ${NAMED_PAGE} and then send hello to ${PERSON}.`])

type Probe = Partial<PolicyCall> & { readonly reach: EffectReach; readonly more?: Partial<Effect> }

const reading = (...destinations: readonly string[]): readonly Probe[] =>
  destinations.map((to) => ({ reach: 'network', destinations: [to], more: { host: new URL(to).host } }))

const sending = (to: string, ...texts: readonly string[]): readonly Probe[] =>
  texts.map((text) => ({ reach: 'third_party', destinations: [to], content: [text], texts: [text] }))

/** Several probes per kind: if their outcomes differ, the outcome depends on more than the kind. */
const PROBES: Readonly<Record<CallKind, readonly Probe[]>> = {
  workspace: [{ reach: 'none' }, { reach: 'workspace' }],
  private_data: [{ reach: 'private' }],
  read_listed: reading(`https://${LISTED}/`, `https://${LISTED}/something/never/mentioned`),
  read_named: reading(NAMED_PAGE, 'https://named.example/something/never/mentioned'),
  read_other: reading('https://other.example/'),
  send_named: sending(PERSON, 'hello', 'a text that is not from the owner'),
  send_other: sending('eve@other.example', 'hello'),
  change_itself: [{ reach: 'self' }],
  publish: [{ reach: 'third_party', destinations: [NAMED_PAGE], more: { publishes: true } }],
  spend_or_destroy: [{ reach: 'destructive' }],
}

export function policyTable(): readonly { kind: CallKind; before: CallOutcome; after: CallOutcome }[] {
  return CALL_KINDS.map((kind) => ({
    kind,
    before: outcomeOf(PROBES[kind], 'trusted'),
    after: outcomeOf(PROBES[kind], 'untrusted'),
  }))
}

function outcomeOf(probes: readonly Probe[], trust: 'trusted' | 'untrusted'): CallOutcome {
  const rulings = new Set(probes.map((probe) => ruleOnCall(callOf(probe), contextOf(trust)).kind))
  if (rulings.size > 1) return 'depends'
  return rulings.has('allow') ? 'alone' : 'asks'
}

const callOf = ({ reach, more, ...parts }: Probe): PolicyCall => ({
  ...{ tool: 'example', effect: { recovery: 'once', reach, ...more }, destinations: [], links: [], content: [] },
  ...{ harmful: { names: [], amounts: [], switches: [] }, texts: [], ...parts },
})

const contextOf = (trust: 'trusted' | 'untrusted'): PolicyContext => ({
  ...{ label: { trust, private: false }, words: OWNER_WORDS, isGranted: false, isIntended: true },
  isAllowed: (host) => host === LISTED || host === `${LISTED}:443`,
  isLinkGranted: () => false,
  isLinkedOnHost: () => false,
  isNameFree: (place) => !place.startsWith(LISTED),
  hasRead: () => false,
  isWordKnown: () => false,
  isSender: () => false,
})
