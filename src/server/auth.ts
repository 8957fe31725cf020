/** Authentication by token, by a cookie derived from it, or by single-use login codes; the accepted host names. */

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'

/** How long a login code is valid. */
const CODE_MS = 10 * 60_000
/** Maximum number of valid codes; the oldest is dropped first. */
const MAX_CODES = 8

/** After this many wrong attempts per address and period, more are told to wait; the right token is still accepted. */
const MAX_WRONG_ATTEMPTS = 30
const WRONG_PERIOD_MS = 60_000
const MAX_ADDRESSES = 1000

export type Credential = 'bearer' | 'cookie'

export interface Authentication {
  /** Contract: the kind of credential with which the request proves to be the owner's; undefined: it does not. */
  credentialOf(request: {
    readonly authorization: string | undefined
    readonly cookie: string | undefined
  }): Credential | undefined
  /** Contract: the value of the login cookie if the token is right or the code is valid; otherwise undefined. */
  login(given: { readonly token?: string | undefined; readonly code?: string | undefined }): string | undefined
  /** Contract: a new login code, valid once and for CODE_MS. */
  newCode(): string
  /** Contract: counts a wrong attempt from the address; true if there were too many recently. */
  countWrongAttempt(address: string): boolean
}

export function createAuthentication(options: {
  /** Contract: the current token; undefined: there is none, so all logins are refused. */
  readonly token: () => string | undefined
  readonly secret: () => string
  readonly clock: Clock
}): Authentication {
  const { token, secret, clock } = options
  const codes = new Map<string, number>()
  const wrongAttempts = new Map<string, readonly number[]>()

  function redeemCode(given: string): boolean {
    for (const [code, until] of codes) {
      if (until <= clock.monotonic()) codes.delete(code)
      else if (isSame(given, code)) return codes.delete(code)
    }
    return false
  }

  return {
    credentialOf({ authorization, cookie }) {
      const current = token()
      if (current === undefined) return undefined
      const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
      if (bearer !== undefined && isSame(bearer, current)) return 'bearer'
      return cookie !== undefined && isSame(cookie, cookieFor(current)) ? 'cookie' : undefined
    },
    login(given) {
      const current = token()
      if (current === undefined) return undefined
      const isOwner =
        (given.token !== undefined && isSame(given.token, current)) ||
        (given.code !== undefined && redeemCode(given.code))
      return isOwner ? cookieFor(current) : undefined
    },
    countWrongAttempt(address) {
      const at = clock.monotonic()
      const recent = [...(wrongAttempts.get(address) ?? []), at]
        .filter((then) => at - then < WRONG_PERIOD_MS)
        .slice(-MAX_WRONG_ATTEMPTS - 1)
      wrongAttempts.delete(address)
      wrongAttempts.set(address, recent)
      const [oldest] = wrongAttempts.keys()
      if (wrongAttempts.size > MAX_ADDRESSES && oldest !== undefined) wrongAttempts.delete(oldest)
      return recent.length > MAX_WRONG_ATTEMPTS
    },
    newCode() {
      const code = secret()
      codes.set(code, clock.monotonic() + CODE_MS)
      const [oldest] = codes.keys()
      if (codes.size > MAX_CODES && oldest !== undefined) codes.delete(oldest)
      return code
    },
  }
}

/**
 * The cookie is derived from the token: it survives a restart, does not reveal the token, and is invalid once the token
 * changes.
 */
const cookieFor = (token: string): string => createHmac('sha256', token).update('tireless cookie').digest('hex')

/** Compares in the same time for every input, so that timing reveals nothing. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const WILDCARDS = ['0.0.0.0', '[::]', '']

/** The local end of a connection, and the configured host name. */
export interface LocalAddress {
  readonly host: string
  readonly port: number
  readonly address: string
}

/**
 * Contract: whether a Host header, or the host of an Origin, names this server. With DNS rebinding a foreign page keeps
 * its own host name, so only these are accepted: loopback names, the configured host, and the connected address.
 */
export function isOwnHost(authority: string | undefined, { host, port, address }: LocalAddress): boolean {
  const requested = authority?.toLowerCase()
  const own = [host, address].map(urlHost).filter((name) => !WILDCARDS.includes(name))
  return [...LOOPBACK_NAMES, ...own].some(
    (name) => requested === `${name}:${port}` || (port === 80 && requested === name),
  )
}

/** Contract: the host as it is written in a URL: lower case, IPv6 addresses in brackets. */
export function urlHost(host: string): string {
  const bare = host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  return bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(localhost$|127\.|\[::1\]$)/.test(urlHost(address))
}
