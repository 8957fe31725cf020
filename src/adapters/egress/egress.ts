/** The egress of this machine: rules and a resolver in, requests and proxies out. */

import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressRules, Resolver } from '../../ports/egress.ts'
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
    // Loaded when something goes out: most commands never do.
    ask: async (outgoing, signal) => (await import('./ask.ts')).asking({ rules, reach, clock })(outgoing, signal),
    open: async (outgoing, signal) =>
      (await import('./exchange.ts')).opened(outgoing, await reachOwn(outgoing.to), signal),
    proxy: async (admits, at) => (await import('./proxy.ts')).openProxy({ admits, reach, password: secret(), at }),
  }
}
