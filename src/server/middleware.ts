/** Middleware of every route: security headers, checks of Host and Origin, authentication. */

import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { type ErrorParts, TirelessError } from '../domain/error.ts'
import { type Authentication, type Credential, isLoopback, isOwnHost, type LocalAddress } from './auth.ts'
import { httpError } from './error-response.ts'

export interface HonoEnv {
  Bindings: HttpBindings
}

export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // Forbids turning text into markup by script, so that text of a model cannot become part of the page.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

export const withHeaders: MiddlewareHandler<HonoEnv> = async (c, next) => {
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
  c.header('Cache-Control', 'no-store')
  await next()
}

/** The host in a request line such as `GET http://HOST/path`, which counts more than the header Host. */
const AUTHORITY = /^[a-z]+:\/\/([^/?#]*)/i

/** Refuses requests of other sites' pages, even by DNS rebinding. Runs before everything else. */
export function requireOwnHost(host: string): MiddlewareHandler<HonoEnv> {
  return async (c, next) => {
    const address = localAddressOf(c, host)
    const requested = c.req.header('host')
    const target = AUTHORITY.exec(c.env.incoming.url ?? '')?.[1] ?? requested
    if (!isOwnHost(requested, address) || !isOwnHost(target, address))
      throw new TirelessError('forbidden', {
        what: 'unknown host name',
        where: 'Host',
        got: target ?? 'none',
        expected: `127.0.0.1:${address.port}, localhost:${address.port}, or server.host with that port`,
      })
    const origin = c.req.header('origin')
    if (origin !== undefined && !(origin.startsWith('http://') && isOwnHost(origin.slice('http://'.length), address)))
      throw new TirelessError('forbidden', {
        what: 'requests from other sites are refused',
        where: 'Origin',
        got: origin,
      })
    await next()
  }
}

function localAddressOf(c: Context<HonoEnv>, host: string): LocalAddress {
  const { localPort = 0, localAddress = '' } = c.env.incoming.socket
  return { host, port: localPort, address: localAddress }
}

/** The port is part of the cookie's name, because all ports of a host share their cookies. */
export const cookieName = (c: Context<HonoEnv>): string => `tireless-${c.env.incoming.socket.localPort}`

export const readCredentials = (c: Context<HonoEnv>): Parameters<Authentication['credentialOf']>[0] => ({
  authorization: c.req.header('authorization'),
  cookie: getCookie(c, cookieName(c)),
})

export const findCredential = (c: Context<HonoEnv>, access: Authentication): Credential | undefined =>
  access.credentialOf(readCredentials(c))

/** Contract: admits the owner; with `loopback` also every client on this machine. */
export function requireOwner(access: Authentication, { loopback = false } = {}): MiddlewareHandler<HonoEnv> {
  return async (c, next) => {
    if (loopback && isLoopback(c.env.incoming.socket.remoteAddress)) return next()
    const credential = findCredential(c, access)
    if (credential === undefined)
      throw c.req.header('authorization') === undefined
        ? new TirelessError('unauthorized', BAD_TOKEN)
        : wrongToken(c, access, BAD_TOKEN)
    // Browsers send the cookie also with requests that a page on another port of this machine makes.
    if (credential === 'cookie') refuseOtherSites(c)
    if (credential === 'cookie' && !isRead(c) && c.req.header('x-tireless-csrf') !== '1')
      throw new TirelessError('forbidden', {
        what: 'requests with the cookie need a header that other sites cannot send',
        expected: 'X-Tireless-CSRF: 1',
      })
    await next()
  }
}

const BAD_TOKEN: ErrorParts = {
  what: 'missing or wrong token',
  fix: 'send the header `Authorization: Bearer TOKEN`; the token is in the file `token` of the home',
}

/** Contract: the error for a wrong token or code; counts the attempt. */
export function wrongToken(c: Context<HonoEnv>, access: Authentication, complaint: ErrorParts): Error {
  if (!access.countWrongAttempt(c.env.incoming.socket.remoteAddress ?? ''))
    return new TirelessError('unauthorized', complaint)
  return httpError(429, {
    what: 'too many wrong tokens',
    fix: 'wait a minute, then send the right one',
  })
}

function refuseOtherSites(c: Context<HonoEnv>): void {
  const site = c.req.header('sec-fetch-site') ?? 'none'
  if (site !== 'same-origin' && site !== 'none')
    throw new TirelessError('forbidden', {
      what: 'requests from other sites are refused',
      where: 'Sec-Fetch-Site',
      got: site,
    })
}

const isRead = (c: Context<HonoEnv>): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

/** Contract: requests that change something must be JSON, which a form of another site cannot send. */
export const requireJson: MiddlewareHandler<HonoEnv> = async (c, next) => {
  const type = c.req.header('content-type') ?? 'none'
  if (!isRead(c) && !/^application\/json\s*(;|$)/i.test(type))
    throw httpError(415, {
      what: 'the body must be JSON',
      where: 'Content-Type',
      got: type,
      expected: 'application/json',
    })
  await next()
}
