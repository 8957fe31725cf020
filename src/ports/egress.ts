/** Egress: the only way to the network for requests that an agent or untrusted text can influence. */

import type { Address, HostPort } from '../domain/address.ts'

/** Which hosts may be reached. Contract for every method: pure. */
export interface EgressRules {
  /** Contract: whether the owner listed this host and port in `policy.allow_hosts`. */
  isListed(place: HostPort): boolean
  /** Contract: returns why the name of the host is refused; undefined if it is allowed. */
  refusal(place: HostPort): string | undefined
  /** Contract: returns why `ip`, an address to which the name resolves, is refused; undefined if it is allowed. */
  refusalOf(place: HostPort, ip: string): string | undefined
}

/** Contract: resolves a name to its current IP addresses; rejects if there are none. */
export type Resolver = (name: string) => Promise<readonly string[]>

export interface EgressRequest {
  readonly to: Address
  readonly method: string
  /** Keys in lower case. Sent to the requested host only, never to the target of a redirect. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Limit for the decompressed body; the rest is discarded. */
  readonly maxBytes: number
}

export interface EgressResponse {
  readonly kind: 'answered'
  /** The address that answered, after redirects. */
  readonly from: Address
  readonly status: number
  /** Keys in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The body was longer than `maxBytes`. */
  readonly truncated: boolean
}

/** A response whose body is still arriving. */
export interface StreamedResponse extends Pick<EgressResponse, 'status' | 'headers'> {
  /** The decompressed body; null if there is none. Contract: cancelling the stream closes the connection. */
  readonly body: ReadableStream<Uint8Array> | null
}

/** A redirect that was not followed, because its target has not been checked. */
export interface UnfollowedRedirect {
  readonly kind: 'sent_on'
  readonly from: Address
  readonly status: number
  /** The full Location as the server sent it. */
  readonly to: string
}

/** A request that a proxy refused, or that failed. */
export interface ProxyRefusal {
  /** `not_admitted`: `admits` rejects the host. `only_read`: the proxy is read-only, and the request writes. */
  readonly kind: 'not_admitted' | 'only_read' | 'other'
  /** The host, with its port unless that is 443; null for `other`. */
  readonly host: string | null
  readonly message: string
}

export interface EgressProxy {
  /** 0 if the proxy listens on a unix socket. */
  readonly port: number
  /** Clients must send this user and password to the proxy. */
  readonly user: string
  readonly password: string
  /** Contract: returns the requests refused since the last call. */
  refusals(): readonly ProxyRefusal[]
  /** Contract: stops serving and closes all connections. */
  close(): Promise<void>
}

/**
 * Contract for every method: the host is checked by name, resolved once, and the connection goes to one of the
 * addresses that were checked. A refusal throws `egress_refused`; a host that does not answer, `tool_failed`.
 */
export interface Egress extends Pick<EgressRules, 'isListed' | 'refusal'> {
  /**
   * Contract: sends one request. Follows redirects of GET and HEAD to the same host (with or without `www.`) or to a
   * listed host, never from https to http; every target is checked like the first. Ends soon after `signal` aborts.
   */
  ask(outgoing: EgressRequest, signal: AbortSignal): Promise<EgressResponse | UnfollowedRedirect>
  /**
   * Contract: sends one request to an address from the owner's configuration and returns the response unchanged,
   * redirects included. A private IP address is allowed only if it is written in the configured address itself; a name
   * is checked as usual. There is no timeout: only `signal` ends the request.
   */
  open(outgoing: Omit<EgressRequest, 'maxBytes'>, signal: AbortSignal): Promise<StreamedResponse>
  /**
   * Contract: starts a proxy on this machine for a program that makes its own requests. A host must pass `admits`
   * first, then the rules. `at`: the unix socket to listen on, instead of a loopback port. `use: 'read'` admits only
   * GET and HEAD without a body, fetch requests of git, and TLS connections, whose content the proxy cannot see.
   */
  proxy(admits: (place: HostPort) => boolean, at?: string, use?: 'all' | 'read'): Promise<EgressProxy>
}
