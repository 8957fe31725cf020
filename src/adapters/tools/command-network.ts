/**
 * The network of a command: the hosts that its call names or, if it names none, the hosts that the owner allows. Each
 * command has its own proxy. If the proxy refuses a host, its message says with which argument the model can ask for
 * the host.
 */

import { z } from 'zod'
import { allowsHost, formatHostPort, type HostPort, parseAllowedHost, parseHostPort } from '../../domain/address.ts'
import type { Label } from '../../domain/label.ts'
import type { Egress, EgressProxy, ProxyRefusal } from '../../ports/egress.ts'
import type { OpenSocketProxy, SocketProxy } from '../../ports/env.ts'

export interface CommandNetwork {
  readonly egress: Egress
  /** True if the owner allows any hosts. */
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

/** Contract: the hosts in normalized form, without duplicates; with the port unless it is 443. */
export const namedHosts = (network: readonly string[] | undefined): readonly string[] => [
  ...new Set((network ?? []).map((text) => formatHostPort(placeFrom(text)))),
]

function placeFrom(text: string): HostPort {
  const read = parseHostPort(text, HTTPS_PORT)
  if (read.kind === 'read') return read.value
  throw new TypeError(read.why)
}

/** Contract: why one of the hosts is refused even if the owner approves the call; undefined if none is refused. */
export const refuseHosts = ({ egress }: CommandNetwork, hosts: readonly string[]): string | undefined =>
  hosts.map((one) => egress.refusal(placeFrom(one))).find((why) => why !== undefined)

/**
 * `hosts`: the hosts that the call names, already approved. If there are none, the command reaches the hosts that the
 * owner allows, for reading; in a session with an untrusted and private label, it reaches no host.
 */
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
 * A setting makes git push to this host, which the proxy refuses; inside TLS the proxy could not see that it is a push.
 * The refusal tells the model what to do. It is no protection, because a command can override the setting.
 */
const PUSHED_TO = 'a-push-names-its-host.invalid'
const NO_PUSH = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: `url.https://${PUSHED_TO}/.pushInsteadOf`,
  GIT_CONFIG_VALUE_0: 'https://',
}

const withExplanations = (proxy: EgressProxy): SocketProxy => ({
  ...proxy,
  refusals: () => {
    const byMessage = new Map(proxy.refusals().map((refusal) => [refusal.message, refusal]))
    return [...byMessage.values()].map((refusal) => ({ ...refusal, message: explainRefusal(refusal) }))
  },
})

function explainRefusal({ host: refused, message }: ProxyRefusal): string {
  if (refused === null) return message
  const [why, example] = refused === PUSHED_TO ? ['a push must name its host', 'host'] : [message, refused]
  return `${why}; to ask your owner, run the command again with all hosts that it needs: network: ["${example}"]`
}

/**
 * Contract: for a command without named hosts, why it needs approval: it sends a credential to a host that the owner
 * allows. Undefined if it does not. Credentials in scripts and files are not detected.
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

/** Options and headers with which curl, wget, git and similar programs send a credential. */
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
