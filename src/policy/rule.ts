/**
 * The rule: whether a call may be run, must be asked for, or must not be. One pure function, before every call.
 * Must not know: who asks whom, and how. What hinges on the task's intent, and nobody has fixed that yet, is said to.
 */

import { type Effect, isNeverGranted } from '../domain/effect.ts'
import { assertNever } from '../domain/error.ts'
import type { Label } from '../domain/trust.ts'

export interface Ruled {
  readonly tool: string
  readonly effect: Effect
  readonly destinations: readonly string[]
  /** Addresses in what it says. */
  readonly links: readonly string[]
}

/** How things stand with the session that wants the call. */
export interface Standing {
  /** The lowest label of what it has read. */
  readonly label: Label
  /** Whether the owner has named the host. */
  readonly isAllowed: (host: string) => boolean
  /** Whether a standing word of the owner covers the call. */
  readonly isGranted: boolean
  /** Whether the destination is made of the owner's words. */
  readonly isSaid: (destination: string) => boolean
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
  const { host } = call.effect
  const reach = isNeverGranted(call.effect) ? 'destructive' : call.effect.reach
  switch (reach) {
    case 'none':
      return allow('it reaches nothing')
    case 'workspace':
      return allow('it stays in the workspace')
    case 'private':
      return allow('to read is allowed; what it read stays private and untrusted')
    case 'network':
      return host !== undefined && standing.isAllowed(host) && !isTaintedAndPrivate(standing.label)
        ? allow(`${host} is allowed (policy.allow_hosts)`)
        : ruleOfSink(call, standing)
    case 'third_party':
      return ruleOfSink(call, standing)
    case 'self':
      return standing.isGranted ? allow(GRANTED) : ask('it changes the agent itself')
    case 'destructive':
      return ask('it spends money, destroys, publishes, or touches credentials')
    default:
      return assertNever(reach)
  }
}

const GRANTED = 'a standing grant covers it'

const isTaintedAndPrivate = (label: Label): boolean => label.private && label.trust === 'untrusted'

/** What goes to others, be it by the address alone. */
function ruleOfSink({ tool, destinations, links }: Ruled, { isGranted, isSaid, isIntended, label }: Standing): Ruling {
  if (isGranted) return allow(GRANTED)
  const unsaid = destinations.filter((destination) => !isSaid(destination))
  if (unsaid.length > 0) return ask(`it goes to ${quoted(unsaid)}, which is not from your words`)
  // Whoever has read nothing from outside wants what you want.
  if (label.trust === 'trusted') return allow('it goes where your words say, and nothing from outside was read')
  const foreign = links.filter((link) => !isSaid(link))
  if (foreign.length > 0) return ask(`it leads to ${quoted(foreign)}, which is not from your words`)
  if (isIntended === undefined) return { kind: 'consult' }
  return isIntended
    ? allow('your words ask for it, and it goes where they say')
    : ask(`your words alone do not ask for ${tool}, and the session has read text from outside`)
}

const quoted = (places: readonly string[]): string => places.map((one) => JSON.stringify(one)).join(', ')
