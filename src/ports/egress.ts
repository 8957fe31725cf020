/** Egress: the only way to the network for requests that an agent or untrusted text can influence. */

import type { Address, HostPort } from '../domain/address.ts'

/** Which hosts may be reached. Contract for every method: pure. */
export interface EgressRules {
  /** Contract: whether the owner listed it in `policy.allow_hosts`. */
  isListed(place: HostPort): boolean
  /** Contract: returns why the host is refused by its name; undefined if it is not. */
  refusal(place: HostPort): string | undefined
  /** Contract: the same for an IP address to which the name resolves. */
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
  /** Decompressed; null if there is none. Contract: cancelling it closes the connection. */
  readonly body: ReadableStream<Uint8Array> | null
}

/** A redirect to an address that has not been checked; it was not followed. */
export interface UnfollowedRedirect {
  readonly kind: 'sent_on'
  readonly from: Address
  readonly status: number
  /** The full Location as the server sent it. */
  readonly to: string
}

/** Ends the refusal of a host that the proxy's `admits` does not know. */
export const NOT_ADMITTED = 'was not named'

/** Ends the refusal of a request that writes, by a read-only proxy. */
export const ONLY_READ = 'may only be read'

export interface EgressProxy {
  /** 0 if it listens on a unix socket. */
  readonly port: number
  /** Clients must send these credentials. */
  readonly user: string
  readonly password: string
  /** Contract: returns descriptions of the requests refused since the last call. */
  refusals(): readonly string[]
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
   * redirects included. A private IP address is allowed if the configured address itself spells it; every other name
   * is checked as usual. No timeout: it ends with `signal`.
   */
  open(outgoing: Omit<EgressRequest, 'maxBytes'>, signal: AbortSignal): Promise<StreamedResponse>
  /**
   * Contract: starts a proxy on this machine for a program that makes its own requests. Checks `admits` first, then
   * the rules. `at`: the unix socket to listen on, instead of a loopback port. `use: 'read'` admits only GET
   * and HEAD without a body, fetch requests of git, and TLS, which it cannot inspect.
   */
  proxy(admits: (place: HostPort) => boolean, at?: string, use?: 'all' | 'read'): Promise<EgressProxy>
}
