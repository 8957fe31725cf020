/**
 * The network of a command: the hosts that its call names, else the hosts that the owner allows, else none. Each
 * command has its own proxy; its refusals name the argument that would allow the host.
 */

import { z } from 'zod'
import { allowsHost, formatHostPort, type HostPort, parseAllowedHost, parseHostPort } from '../../domain/address.ts'
import type { Label } from '../../domain/label.ts'
import { type Egress, type EgressProxy, NOT_ADMITTED, ONLY_READ } from '../../ports/egress.ts'
import type { OpenSocketProxy, SocketProxy } from '../../ports/env.ts'

export interface CommandNetwork {
  readonly egress: Egress
  /** Whether the owner allows any hosts. */
  readonly hasAllowedHosts: () => boolean
}

const MOST_HOSTS = 20
const HTTPS_PORT = 443

const host = z.string().superRefine((text, context) => {
  const read = parseHostPort(text, HTTPS_PORT)
  if (read.kind === 'refused')
    context.addIssue({ code: 'custom', message: `${read.why}; expected a host such as packages.example.org` })
})

export const networkArgument = z.array(host).max(MOST_HOSTS).optional()

/** Contract: each host once, normalized; with its port unless that is 443. */
export const namedHosts = (network: readonly string[] | undefined): readonly string[] => [
  ...new Set((network ?? []).map((text) => formatHostPort(placeFrom(text)))),
]

function placeFrom(text: string): HostPort {
  const read = parseHostPort(text, HTTPS_PORT)
  if (read.kind === 'read') return read.value
  throw new TypeError(read.why)
}

/** Contract: why one of these hosts is refused even if the owner approves; undefined if none is. */
export const refuseHosts = ({ egress }: CommandNetwork, hosts: readonly string[]): string | undefined =>
  hosts.map((one) => egress.refusal(placeFrom(one))).find((why) => why !== undefined)

/** `hosts`: named by the call and approved. Without them, private data from a tainted session reaches no host. */
export function openNetwork({ egress }: CommandNetwork, hosts: readonly string[], label: Label): OpenSocketProxy {
  if (hosts.length > 0) return async (socket) => withExplanations(await egress.proxy(isAmong(hosts), socket))
  const admits = mayLeave(label) ? egress.isListed : () => false
  return async (socket) => ({ ...withExplanations(await egress.proxy(admits, socket, 'read')), environment: NO_PUSH })
}

const mayLeave = ({ trust, private: isPrivate }: Label): boolean => trust === 'trusted' || !isPrivate

function isAmong(hosts: readonly string[]): (place: HostPort) => boolean {
  const open = hosts.flatMap((one) => parseAllowedHost(one) ?? [])
  return (place) => open.some((entry) => allowsHost(entry, place))
}

/**
 * git rewrites push addresses to this host, which is refused: inside TLS the proxy cannot see a push. This only helps
 * the model; it is no protection, because a command can override the setting.
 */
const PUSHED_TO = 'a-push-names-its-host.invalid'
const NO_PUSH = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: `url.https://${PUSHED_TO}/.pushInsteadOf`,
  GIT_CONFIG_VALUE_0: 'https://',
}

const withExplanations = (proxy: EgressProxy): SocketProxy => ({
  ...proxy,
  refusals: () => [...new Set(proxy.refusals())].map(explainRefusal),
})

const REFUSED = new RegExp(`^(\\S+) (?:${NOT_ADMITTED}|${ONLY_READ})`)

function explainRefusal(refusal: string): string {
  const [, named] = REFUSED.exec(refusal) ?? []
  if (named === undefined) return refusal
  const [why, example] = named === PUSHED_TO ? ['a push must name its host', 'host'] : [refusal, named]
  return `${why}; to ask your owner, run the command again with all hosts that it needs: network: ["${example}"]`
}

/**
 * Contract: why a command without named hosts needs approval: it sends a credential to an allowed host. Credentials in
 * scripts and files are not detected.
 */
export function describeSentCredential({ egress }: CommandNetwork, command: string): string | undefined {
  const allowed = (command.match(/https?:\/\/[^\s"'`<>|;()]+/gi) ?? [])
    .flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []))
    .filter(({ host, protocol }) => {
      const place = parseHostPort(host, protocol === 'http:' ? 80 : HTTPS_PORT)
      return place.kind === 'read' && egress.isListed(place.value)
    })
  const isInUrl = allowed.some(({ username, password }) => username !== '' || password !== '')
  if (!isInUrl && (allowed.length === 0 || !SENDS_CREDENTIAL.some((sign) => sign.test(command)))) return undefined
  return `it sends a credential to ${[...new Set(allowed.map(({ host }) => host))].join(', ')}`
}

/** Options and headers of curl, wget, git and similar programs. */
const SENDS_CREDENTIAL: readonly RegExp[] = [
  /(?<![\w-])(?:authorization|cookie|x-api-key|private-token):/i,
  /\s(?:-u|--user)[\s=]["']?[^\s:"']+:(?!\/\/)/i,
  /--oauth2-bearer|extraheader/i,
]

/** Commands that publish something, as far as the command line shows it; they need approval like a push. */
const PUBLISHES: readonly RegExp[] = [
  /\b(?:git|docker|podman|hg|jj|gem|helm)\b[^\n;|&]*\spush\b/,
  /\bsvn\b[^\n;|&]*\s(?:ci|commit)\b|\bpublish\b|\btwine\s+upload\b/,
  /\bgh\s+(?:release|gist|pr|issue|repo)\s+(?:create|upload|edit)\b/,
]

export const isPublishingCommand = (command: string): boolean => PUBLISHES.some((sign) => sign.test(command))
