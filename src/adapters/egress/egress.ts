/** The egress adapter: sends requests and opens proxies, within the given rules. */

import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressRules, Resolver } from '../../ports/egress.ts'
import { createHostResolver } from './resolve-host.ts'

interface EgressParts {
  readonly rules: EgressRules
  /** Rules for addresses from the owner's configuration. */
  readonly ownersRules: EgressRules
  readonly resolve: Resolver
  readonly clock: Clock
  /** Contract: a new random secret. */
  secret(): string
}

export function createEgress({ rules, ownersRules, resolve, clock, secret }: EgressParts): Egress {
  const resolveChecked = createHostResolver(rules, resolve)
  const resolveOwners = createHostResolver(ownersRules, resolve)
  return {
    isListed: rules.isListed,
    refusal: rules.refusal,
    // Imported on first use: most commands send no request.
    ask: async (outgoing, signal) =>
      (await import('./follow-redirects.ts')).createRequester({ rules, reach: resolveChecked, clock })(
        outgoing,
        signal,
      ),
    open: async (outgoing, signal) =>
      (await import('./http-request.ts')).openResponse(outgoing, await resolveOwners(outgoing.to), signal),
    proxy: async (admits, at, use = 'all') =>
      (await import('./proxy.ts')).openProxy({ admits, reach: resolveChecked, password: secret(), at, use }),
  }
}
