/**
 * The network of a command: the hosts that its call names, else those that the owner allows, else none. Each command has a proxy of its own, and
 * what that refuses is told with the argument that would open it.
 */

import { z } from 'zod'
import { covers, listedOf, type Place, placeOf, placeText } from '../../domain/address.ts'
import type { Label } from '../../domain/trust.ts'
import { type Egress, type EgressProxy, UNNAMED } from '../../ports/egress.ts'
import type { OpenWayOut } from '../../ports/env.ts'

export interface CommandNetwork {
  readonly egress: Egress
  /** Whether the owner allows any hosts. */
  readonly hasAllowedHosts: () => boolean
}

const MOST_HOSTS = 20
const HTTPS_PORT = 443

const host = z.string().superRefine((text, context) => {
  const read = placeOf(text, HTTPS_PORT)
  if (read.kind === 'refused')
    context.addIssue({ code: 'custom', message: `${read.why}; expected a host such as registry.npmjs.org` })
})

export const networkArg = z
  .array(host)
  .max(MOST_HOSTS)
  .optional()
  .describe('Hosts that the command needs, such as registry.npmjs.org; your owner is asked.')

/** Contract: each host once, in one spelling; the port only where it is not the web's. */
export const namedHosts = (network: readonly string[] | undefined): readonly string[] => [
  ...new Set((network ?? []).map((text) => placeText(placeFrom(text)))),
]

function placeFrom(text: string): Place {
  const read = placeOf(text, HTTPS_PORT)
  if (read.kind === 'read') return read.value
  throw new TypeError(read.why)
}

/** Contract: why one of these hosts cannot be reached, whoever allows it; or nothing. */
export const refusalOfHosts = ({ egress }: CommandNetwork, hosts: readonly string[]): string | undefined =>
  hosts.map((one) => egress.refusal(placeFrom(one))).find((why) => why !== undefined)

/** `hosts`: what the call names, and somebody has allowed. Then those alone are open; what is private and tainted goes nowhere else. */
export function openNetwork({ egress }: CommandNetwork, hosts: readonly string[], label: Label): OpenWayOut {
  const admits = hosts.length > 0 ? isAmong(hosts) : mayLeave(label) ? egress.isListed : () => false
  return async (socket) => explaining(await egress.proxy(admits, socket))
}

const mayLeave = ({ trust, private: isPrivate }: Label): boolean => trust === 'trusted' || !isPrivate

function isAmong(hosts: readonly string[]): (place: Place) => boolean {
  const open = hosts.flatMap((one) => listedOf(one) ?? [])
  return (place) => open.some((entry) => covers(entry, place))
}

const explaining = (proxy: EgressProxy): EgressProxy => ({
  ...proxy,
  refusals: () => [...new Set(proxy.refusals())].map(explained),
})

function explained(refusal: string): string {
  if (!refusal.endsWith(` ${UNNAMED}`)) return refusal
  const named = JSON.stringify(refusal.slice(0, -UNNAMED.length - 1))
  return `${refusal}; run the command again with every host that it needs in the argument network: [${named}], and your owner is asked`
}
