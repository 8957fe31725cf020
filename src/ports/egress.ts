/** Egress: the one way out to the network for whatever the outside may have had a say in. Nobody else opens a connection for an agent. */

import type { Address, Place } from '../domain/address.ts'

/** Which places may be reached. Contract for every method: pure. */
export interface EgressRules {
  /** Contract: whether the owner has listed it in `policy.allow_hosts`. */
  isListed(place: Place): boolean
  /** Contract: why it must not be asked, as far as its name says; undefined where that says nothing against it. */
  refusal(place: Place): string | undefined
  /** Contract: the same of the IP address that its name leads to. */
  refusalOf(place: Place, ip: string): string | undefined
}

/** Contract: the IP addresses of a name, as they are answered now; rejects where there are none. */
export type Resolver = (name: string) => Promise<readonly string[]>

export interface Outgoing {
  readonly to: Address
  readonly method: string
  /** By names in lower case. They are said to the place that was named, and to no other that it sends on to. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** No more of the answer is taken, unpacked. */
  readonly maxBytes: number
}

export interface Answered {
  readonly kind: 'answered'
  /** Where the answer came from in the end. */
  readonly from: Address
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** There was more. */
  readonly cut: boolean
}

/** An answer that is still coming in. */
export interface Opened extends Pick<Answered, 'status' | 'headers'> {
  /** Unpacked. Null where there is none. Contract: whoever cancels it ends the connection. */
  readonly body: ReadableStream<Uint8Array> | null
}

/** It was sent on to somewhere that nobody has judged yet, and did not go. */
export interface SentOn {
  readonly kind: 'sent_on'
  readonly from: Address
  readonly status: number
  /** As the other side wrote it, in full. */
  readonly to: string
}

/** How a refusal ends of a place that `admits` knows nothing of. */
export const UNNAMED = 'was not named'

export interface EgressProxy {
  /** 0 where it listens on a file. */
  readonly port: number
  /** Whoever uses it has to say this. */
  readonly user: string
  readonly password: string
  /** Contract: what was refused since it was asked last, in words. */
  refusals(): readonly string[]
  /** Contract: nobody is served any more, and nothing is left open. */
  close(): Promise<void>
}

/**
 * Contract for every method: a place is judged by its name, its name resolved once, and what is connected to is one of the addresses that were
 * judged then. Refusals are `egress_refused`; a place that does not answer is `tool_failed`.
 */
export interface Egress extends Pick<EgressRules, 'isListed' | 'refusal'> {
  /**
   * Contract: one request. Redirects are followed for GET and HEAD, to the same host (`www.` makes no other) or one that is listed, each judged
   * like the first; never from https to http. Ends in time, and soon after `signal` aborts.
   */
  ask(outgoing: Outgoing, signal: AbortSignal): Promise<Answered | SentOn>
  /**
   * Contract: one request to an address that the owner himself wrote down for it, answered as the other side answers: a redirect is told, not
   * followed. What is not public in that address by its own spelling is his word; where any other name leads is judged as for everybody. It
   * ends with `signal`, however late.
   */
  open(outgoing: Omit<Outgoing, 'maxBytes'>, signal: AbortSignal): Promise<Opened>
  /**
   * Contract: a proxy on this machine for a program that makes its own requests. `admits` is asked first, and then the rules. `at`: the file of a
   * unix socket that it listens on, instead of a port of the loopback.
   */
  proxy(admits: (place: Place) => boolean, at?: string): Promise<EgressProxy>
}
