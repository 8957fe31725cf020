/**
 * The network of a command: the hosts that its call names, else those that the owner allows, else none. Each command has a proxy of its own, and
 * what that refuses is told with the argument that would open it.
 */

import { z } from 'zod'
import { covers, listedOf, type Place, placeOf, placeText } from '../../domain/address.ts'
import type { Label } from '../../domain/trust.ts'
import { type Egress, type EgressProxy, ONLY_READ, UNNAMED } from '../../ports/egress.ts'
import type { OpenWayOut, WayOut } from '../../ports/env.ts'

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
  if (hosts.length > 0) return async (socket) => explaining(await egress.proxy(isAmong(hosts), socket))
  const admits = mayLeave(label) ? egress.isListed : () => false
  return async (socket) => ({ ...explaining(await egress.proxy(admits, socket, 'read')), environment: NO_PUSH })
}

const mayLeave = ({ trust, private: isPrivate }: Label): boolean => trust === 'trusted' || !isPrivate

function isAmong(hosts: readonly string[]): (place: Place) => boolean {
  const open = hosts.flatMap((one) => listedOf(one) ?? [])
  return (place) => open.some((entry) => covers(entry, place))
}

/** Where git goes instead, to be refused: over TLS the proxy would not see that it pushes. No guard, because a command can have it otherwise. */
const PUSHED_TO = 'a-push-names-its-host.invalid'
const NO_PUSH = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: `url.https://${PUSHED_TO}/.pushInsteadOf`,
  GIT_CONFIG_VALUE_0: 'https://',
}

const explaining = (proxy: EgressProxy): WayOut => ({
  ...proxy,
  refusals: () => [...new Set(proxy.refusals())].map(explained),
})

const REFUSED = new RegExp(`^(\\S+) (?:${UNNAMED}|${ONLY_READ})`)

function explained(refusal: string): string {
  const [, named] = REFUSED.exec(refusal) ?? []
  if (named === undefined) return refusal
  const [why, example] = named === PUSHED_TO ? ['a push names its host', 'host'] : [refusal, named]
  return `${why}; run the command again with every host that it needs in the argument network: ["${example}"], and your owner is asked`
}

/**
 * Contract: why a command that names no hosts has to be asked about: it shows a credential to a host that the owner allows. What a script or a file
 * holds is not seen.
 */
export function credentialAsked({ egress }: CommandNetwork, command: string): string | undefined {
  const allowed = (command.match(/https?:\/\/[^\s"'`<>|;()]+/gi) ?? [])
    .flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []))
    .filter(({ host, protocol }) => {
      const place = placeOf(host, protocol === 'http:' ? 80 : HTTPS_PORT)
      return place.kind === 'read' && egress.isListed(place.value)
    })
  const isShown = allowed.some(({ username, password }) => username !== '' || password !== '')
  if (!isShown && (allowed.length === 0 || !SHOWS_CREDENTIAL.test(command))) return undefined
  return `it shows a credential to ${[...new Set(allowed.map(({ host }) => host))].join(', ')}`
}

/** Of curl, wget, git and their like. */
const SHOWS_CREDENTIAL =
  /(?<![\w-])(?:authorization|cookie|x-api-key|private-token):|\s(?:-u|--user)[\s=]["']?[^\s:"']+:(?!\/\/)|--oauth2-bearer|extraheader/i

/** What makes something public, as far as the command line shows it: asked about like any push. */
const PUBLISHES =
  /\b(?:git|docker|podman|hg|jj|gem|helm)\b[^\n;|&]*\spush\b|\bsvn\b[^\n;|&]*\s(?:ci|commit)\b|\bpublish\b|\btwine\s+upload\b|\bgh\s+(?:release|gist|pr|issue|repo)\s+(?:create|upload|edit)\b/

export const publishes = (command: string): boolean => PUBLISHES.test(command)
