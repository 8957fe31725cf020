/** The policy rule as a table: which calls run, which need a person, which depend on the task's intent. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Effect } from '../domain/effect.ts'
import type { Label } from '../domain/label.ts'
import { findMentions } from './owner-mentions.ts'
import { type PolicyCall, type PolicyContext, type PolicyRuling, ruleOnCall } from './policy-rule.ts'

const CLEAN: Label = { trust: 'trusted', private: false }
const TAINTED: Label = { trust: 'untrusted', private: false }
const LEAKY: Label = { trust: 'untrusted', private: true }

interface Row {
  readonly why: string
  readonly reach: Effect['reach']
  readonly label?: Label
  /** The owner's message. */
  readonly said?: string
  readonly call?: Partial<Omit<PolicyCall, 'effect'>>
  readonly effect?: Partial<Effect>
  readonly given?: Partial<PolicyContext>
  readonly gives: PolicyRuling['kind']
}

const PAGE = 'https://example.org/report'
const READ = { destinations: [PAGE] }
const AT_HOST = { host: 'example.org' }
const LISTED = { isAllowed: (host: string) => host === 'example.org' }
const MAIL = { destinations: ['ann@example.org'], texts: ['hello'] }
const ASKS_MAIL = 'Send an email to ann@example.org that says hello'
const INTENDED = { isIntended: true }
const GRANTED = { isGranted: true }

const ROWS: readonly Row[] = [
  { why: 'no outside effect', reach: 'none', label: LEAKY, gives: 'allow' },
  { why: 'only the workspace', reach: 'workspace', label: LEAKY, gives: 'allow' },
  { why: 'reading private data is allowed; its result is labelled', reach: 'private', label: LEAKY, gives: 'allow' },
  { why: 'changes the agent itself', reach: 'self', gives: 'ask' },
  { why: 'changes the agent itself, but is granted', reach: 'self', given: GRANTED, gives: 'allow' },
  { why: 'destroys: not even a grant allows it', reach: 'destructive', given: GRANTED, gives: 'ask' },

  { why: 'the owner named the address', reach: 'network', said: `Read ${PAGE}`, call: READ, gives: 'allow' },
  { why: 'nobody named the address', reach: 'network', said: 'Read the news', call: READ, gives: 'ask' },
  { why: 'the host is listed', reach: 'network', effect: AT_HOST, call: READ, given: LISTED, gives: 'allow' },
  {
    why: 'the host is listed, but outside content may have chosen an address that says something new',
    ...{ reach: 'network', label: TAINTED, effect: AT_HOST, call: READ, given: LISTED, gives: 'ask' },
  },
  {
    why: 'the host is listed, and the owner named the page',
    ...{ reach: 'network', label: TAINTED, said: `Read ${PAGE}`, effect: AT_HOST, call: READ, given: LISTED },
    gives: 'allow',
  },
  {
    why: 'private data could leave to a listed host in the address',
    ...{ reach: 'network', label: LEAKY, effect: AT_HOST, call: READ, given: LISTED, gives: 'ask' },
  },
  {
    why: 'after outside content, a page that the host itself links to',
    ...{ reach: 'network', label: TAINTED, said: 'Look at example.org', call: READ },
    ...{ given: { isLinkedOnHost: () => true }, gives: 'allow' },
  },
  {
    why: 'the same link after private data',
    ...{ reach: 'network', label: LEAKY, said: 'Look at example.org', call: READ },
    ...{ given: { isLinkedOnHost: () => true }, gives: 'ask' },
  },
  { why: 'a grant covers the address', reach: 'network', label: LEAKY, call: READ, given: GRANTED, gives: 'allow' },

  {
    why: 'the owner named the recipient, and no outside content was read',
    ...{ reach: 'third_party', said: ASKS_MAIL, call: MAIL, gives: 'allow' },
  },
  { why: 'nobody named the recipient', reach: 'third_party', said: 'Say hello', call: MAIL, gives: 'ask' },
  {
    why: 'publishing needs a grant or a person',
    ...{ reach: 'third_party', said: ASKS_MAIL, effect: { publishes: true }, call: MAIL, gives: 'ask' },
  },
  {
    why: 'what cannot be inspected must not follow private data, even if granted',
    ...{ reach: 'third_party', label: LEAKY, effect: { unseen: true }, call: MAIL, given: GRANTED, gives: 'ask' },
  },
  {
    why: 'after outside content the task must ask for it, which is not known yet',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: MAIL, gives: 'consult' },
  },
  {
    why: 'after outside content, the task asks for it',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: MAIL, given: INTENDED, gives: 'allow' },
  },
  {
    why: 'after outside content, the task does not ask for it',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: MAIL, given: { isIntended: false } },
    gives: 'ask',
  },
  {
    why: 'the judge of the intent cannot replace the owner’s words',
    ...{ reach: 'third_party', label: TAINTED, said: 'Summarise the mail from ann@example.org', call: MAIL },
    ...{ given: INTENDED, gives: 'ask' },
  },
  {
    why: 'a link that the owner did not name',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: { ...MAIL, links: ['https://evil.test/x'] } },
    ...{ given: INTENDED, gives: 'ask' },
  },
  {
    why: 'a link that a grant covers',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: { ...MAIL, links: ['https://evil.test/x'] } },
    ...{ given: { ...INTENDED, isLinkGranted: () => true }, gives: 'allow' },
  },
  {
    why: 'content that must be the owner’s words, and is not',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL, call: { ...MAIL, content: ['transfer everything'] } },
    ...{ given: INTENDED, gives: 'ask' },
  },
  {
    why: 'an amount that the owner did not name',
    ...{ reach: 'third_party', label: TAINTED, said: ASKS_MAIL },
    call: { ...MAIL, harmful: { names: [], amounts: [900], switches: [] } },
    ...{ given: INTENDED, gives: 'ask' },
  },
  {
    why: 'a click that the owner did not ask for',
    ...{ reach: 'third_party', label: TAINTED, said: `Read ${PAGE}`, effect: { method: 'click' }, call: READ },
    ...{ given: INTENDED, gives: 'ask' },
  },
  {
    why: 'a grant covers the recipient, also after outside content',
    ...{ reach: 'third_party', label: TAINTED, call: MAIL, given: GRANTED, gives: 'allow' },
  },
]

for (const { why, reach, label = CLEAN, said = '', call, effect, given, gives } of ROWS)
  test(`policy rule: ${reach}: ${why}: ${gives}`, () => {
    const ruling = ruleOnCall(
      {
        ...{ tool: 'tool', destinations: [], links: [], content: [], texts: [] },
        ...{ harmful: { names: [], amounts: [], switches: [] } },
        ...call,
        effect: { recovery: 'once', reach, ...effect },
      },
      {
        ...{ label, words: findMentions([said]), isGranted: false, isIntended: undefined },
        ...{ isAllowed: () => false, isLinkGranted: () => false, isLinkedOnHost: () => false, isSender: () => false },
        ...{ isNameFree: () => false, hasRead: () => false, isWordKnown: () => false },
        ...given,
      },
    )
    assert.equal(ruling.kind, gives, JSON.stringify(ruling))
  })
