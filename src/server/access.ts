/** Who may come in: the token, the cookie that stands for it, codes that are good once, and the names under which we are ourselves. */

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'

/** How long the code of a login link is good. */
const CODE_MS = 10 * 60_000
/** How many of them are, at most: the oldest goes first. */
const MOST_CODES = 8

/** Whoever is wrong more often than this in so long is told to wait; whoever is right comes in all the same. */
const MOST_WRONG = 30
const WRONG_MS = 60_000
const MOST_ADDRESSES = 1000

export type Credential = 'bearer' | 'cookie'

export interface Access {
  /** Contract: what was shown proves that it is the owner's; undefined otherwise. */
  credentialOf(shown: {
    readonly authorization: string | undefined
    readonly cookie: string | undefined
  }): Credential | undefined
  /** Contract: the cookie's value for whoever shows the token, or a code that nobody has used; undefined otherwise. */
  login(shown: { readonly token?: string | undefined; readonly code?: string | undefined }): string | undefined
  /** Contract: a new code, good once and for a short time. */
  newCode(): string
  /** Contract: notes that somebody there has shown what is wrong; whether that was too often of late. */
  isGuessing(address: string): boolean
}

export function createAccess(options: {
  /** Contract: as it is in this moment; undefined where nobody can come in. */
  readonly token: () => string | undefined
  readonly secret: () => string
  readonly clock: Clock
}): Access {
  const { token, secret, clock } = options
  const codes = new Map<string, number>()
  const wrong = new Map<string, readonly number[]>()

  function redeemed(shown: string): boolean {
    for (const [code, until] of codes) {
      if (until <= clock.monotonic()) codes.delete(code)
      else if (isSame(shown, code)) return codes.delete(code)
    }
    return false
  }

  return {
    credentialOf({ authorization, cookie }) {
      const now = token()
      if (now === undefined) return undefined
      const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
      if (bearer !== undefined && isSame(bearer, now)) return 'bearer'
      return cookie !== undefined && isSame(cookie, cookieFor(now)) ? 'cookie' : undefined
    },
    login(shown) {
      const now = token()
      if (now === undefined) return undefined
      const isOwner =
        (shown.token !== undefined && isSame(shown.token, now)) || (shown.code !== undefined && redeemed(shown.code))
      return isOwner ? cookieFor(now) : undefined
    },
    isGuessing(address) {
      const at = clock.monotonic()
      const lately = [...(wrong.get(address) ?? []), at].filter((then) => at - then < WRONG_MS).slice(-MOST_WRONG - 1)
      wrong.delete(address)
      wrong.set(address, lately)
      const [oldest] = wrong.keys()
      if (wrong.size > MOST_ADDRESSES && oldest !== undefined) wrong.delete(oldest)
      return lately.length > MOST_WRONG
    },
    newCode() {
      const code = secret()
      codes.set(code, clock.monotonic() + CODE_MS)
      const [oldest] = codes.keys()
      if (codes.size > MOST_CODES && oldest !== undefined) codes.delete(oldest)
      return code
    },
  }
}

/** Made of the token, not kept: it outlives a restart, says nothing of the token, and is void with it. */
const cookieFor = (token: string): string => createHmac('sha256', token).update('tireless cookie').digest('hex')

/** In the same time, however much of it is right. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const EVERYWHERE = ['0.0.0.0', '[::]', '']

/** Where a connection came in, and under which name we are configured. */
export interface Door {
  readonly host: string
  readonly port: number
  readonly address: string
}

/**
 * Contract: whether a Host header, or what an Origin names, is this server. A page of somebody else's whose name was made to point to
 * this machine keeps its own name, so names decide: those of the loopback, the configured one, and the address that was connected to.
 */
export function isUs(authority: string | undefined, { host, port, address }: Door): boolean {
  const said = authority?.toLowerCase()
  const own = [host, address].map(bracketed).filter((name) => !EVERYWHERE.includes(name))
  return [...LOOPBACK_NAMES, ...own].some((name) => said === `${name}:${port}` || (port === 80 && said === name))
}

/** Contract: as it stands in a URL. */
export function bracketed(host: string): string {
  const bare = host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  return bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(localhost$|127\.|\[::1\]$)/.test(bracketed(address))
}
