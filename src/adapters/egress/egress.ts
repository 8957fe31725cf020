/** The egress of this machine: rules and a resolver in, requests and proxies out. */

import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressRules, Resolver } from '../../ports/egress.ts'
import { asking } from './ask.ts'
import { opened } from './exchange.ts'
import { openProxy } from './proxy.ts'
import { reachOf } from './reach.ts'

export interface EgressParts {
  readonly rules: EgressRules
  /** Those for an address that the owner wrote down himself. */
  readonly ownersRules: EgressRules
  readonly resolve: Resolver
  readonly clock: Clock
  /** Contract: what nobody can guess. */
  secret(): string
}

export function createEgress({ rules, ownersRules, resolve, clock, secret }: EgressParts): Egress {
  const reach = reachOf(rules, resolve)
  const reachOwn = reachOf(ownersRules, resolve)
  return {
    isListed: rules.isListed,
    refusal: rules.refusal,
    ask: asking({ rules, reach, clock }),
    open: async (outgoing, signal) => opened(outgoing, await reachOwn(outgoing.to), signal),
    proxy: (admits, at) => openProxy({ admits, reach, password: secret(), at }),
  }
}
