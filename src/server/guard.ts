/** What stands before every route: headers of every answer, whose name was asked for and from where, and who asks. */

import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { type Complaint, TirelessError } from '../domain/error.ts'
import { type Access, type Credential, type Door, isLoopback, isUs } from './access.ts'
import { refusal } from './answer.ts'

export interface Env {
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
    // Text that a model wrote cannot become markup, whatever the page does with it.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

export const withHeaders: MiddlewareHandler<Env> = async (c, next) => {
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
  c.header('Cache-Control', 'no-store')
  await next()
}

/** Before anything else is looked at: another's page, whatever it asks for and however it got here, gets nothing. */
export function onlyUs(host: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    const door = doorOf(c, host)
    const asked = c.req.header('host')
    if (!isUs(asked, door))
      throw new TirelessError('forbidden', {
        what: 'this server does not go by that name',
        where: 'Host',
        got: asked ?? 'none',
        expected: `127.0.0.1:${door.port}, localhost:${door.port}, or server.host of the configuration with that port`,
      })
    const origin = c.req.header('origin')
    if (origin !== undefined && !(origin.startsWith('http://') && isUs(origin.slice('http://'.length), door)))
      throw new TirelessError('forbidden', {
        what: 'it was asked for by a page of another site',
        where: 'Origin',
        got: origin,
      })
    await next()
  }
}

function doorOf(c: Context<Env>, host: string): Door {
  const { localPort = 0, localAddress = '' } = c.env.incoming.socket
  return { host, port: localPort, address: localAddress }
}

/** Cookies know no ports: two homes on one machine would have one. */
export const cookieName = (c: Context<Env>): string => `tireless-${c.env.incoming.socket.localPort}`

export const shownIn = (c: Context<Env>): Parameters<Access['credentialOf']>[0] => ({
  authorization: c.req.header('authorization'),
  cookie: getCookie(c, cookieName(c)),
})

export const credentialIn = (c: Context<Env>, access: Access): Credential | undefined => access.credentialOf(shownIn(c))

/** Contract: lets the owner through, and with `loopback` whoever is on this machine. */
export function onlyOwner(access: Access, { loopback = false } = {}): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (loopback && isLoopback(c.env.incoming.socket.remoteAddress)) return next()
    const credential = credentialIn(c, access)
    if (credential === undefined)
      throw c.req.header('authorization') === undefined
        ? new TirelessError('unauthorized', WRONG)
        : wrongToken(c, access, WRONG)
    // A browser sends the cookie by itself, also for a page of another port of this machine.
    if (credential === 'cookie') refuseForeign(c)
    if (credential === 'cookie' && !isReading(c) && c.req.header('x-tireless-csrf') !== '1')
      throw new TirelessError('forbidden', {
        what: 'with the cookie, this needs a header that another site cannot send',
        expected: 'X-Tireless-CSRF: 1',
      })
    await next()
  }
}

const WRONG: Complaint = {
  what: 'the token is missing or wrong',
  fix: 'send the header `Authorization: Bearer TOKEN`; it is in the file `token` of the home',
}

/** Contract: what whoever has shown something wrong is told. */
export function wrongToken(c: Context<Env>, access: Access, complaint: Complaint): Error {
  if (!access.isGuessing(c.env.incoming.socket.remoteAddress ?? '')) return new TirelessError('unauthorized', complaint)
  return refusal(429, { what: 'too many wrong tokens from there', fix: 'wait a minute, then send the right one' })
}

function refuseForeign(c: Context<Env>): void {
  const site = c.req.header('sec-fetch-site') ?? 'none'
  if (site !== 'same-origin' && site !== 'none')
    throw new TirelessError('forbidden', {
      what: 'it was asked for by a page of another site',
      where: 'Sec-Fetch-Site',
      got: site,
    })
}

const isReading = (c: Context<Env>): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

/** Contract: what changes something comes as JSON, which no form of another site can send. */
export const onlyJson: MiddlewareHandler<Env> = async (c, next) => {
  const type = c.req.header('content-type') ?? 'none'
  if (!isReading(c) && !/^application\/json\s*(;|$)/i.test(type))
    throw refusal(415, {
      what: 'the body has to be JSON',
      where: 'Content-Type',
      got: type,
      expected: 'application/json',
    })
  await next()
}
