/** Calls of Lark's API through the SDK, which gets and renews the access token. What the API returns is checked. */

import { hash } from 'node:crypto'
import type * as Sdk from '@larksuiteoapi/node-sdk'
import type { Client, Logger } from '@larksuiteoapi/node-sdk'
import { z } from 'zod'
import { describeMismatch } from '../../../domain/describe-issues.ts'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { withDeadline } from '../../../ports/deadline.ts'
import { isTokenRefused } from './lark-errors.ts'
import { type HttpRequest, larkHttp } from './lark-http.ts'

/** The SDK is large: it is loaded when it is first needed. */
export const loadSdk = (): Promise<typeof Sdk> => import('@larksuiteoapi/node-sdk')

export interface LarkApp {
  readonly appId: string
  readonly appSecret: string
  /** Such as https://open.feishu.cn. */
  readonly domain: string
}

export interface LarkDeps {
  readonly clock: Clock
  log(text: string): void
}

export interface LarkApi {
  readonly app: LarkApp
  /**
   * Contract: the checked answer; rejects with a TirelessError that quotes no secret. Ends soon after `signal` aborts.
   */
  call<T>(request: HttpRequest, shape: z.ZodType<T>, signal: AbortSignal): Promise<T>
  /** Contract: asks for the open_id and the name of the bot. */
  askBot(signal: AbortSignal): Promise<LarkBot>
  /** The bot, if it was asked for before. */
  knownBot(): LarkBot | undefined
}

interface LarkBot {
  readonly open_id: string
  readonly app_name: string
}

const botShape = z.object({ bot: z.object({ open_id: z.string().min(1), app_name: z.string().catch('') }) })

export function createLarkApi(app: LarkApp, deps: LarkDeps): LarkApi {
  const { clock } = deps
  let client: Promise<Client> | undefined
  let bot: LarkBot | undefined
  const send = async (request: HttpRequest): Promise<unknown> => {
    client ??= createClient(app, deps)
    return (await client).request(request as Parameters<Client['request']>[0])
  }
  const sendAgain = async (request: HttpRequest): Promise<unknown> => {
    try {
      return await send(request)
    } catch (thrown) {
      if (!isTokenRefused(thrown)) throw thrown
      // The token was withdrawn before its time: a new client asks for a new one.
      client = undefined
      return send(request)
    }
  }
  const call = async <T>(request: HttpRequest, shape: z.ZodType<T>, signal: AbortSignal): Promise<T> => {
    const answer = await withDeadline(
      { clock, ms: Number.POSITIVE_INFINITY, stop: signal },
      () => sendAgain({ ...request, signal }),
      () => {
        throw new TirelessError('channel_unavailable', 'Lark did not answer in time')
      },
    ).catch((thrown: unknown) => {
      throw thrown instanceof TirelessError ? thrown : asApiError(thrown)
    })
    return checkAnswer(shape, answer)
  }
  return {
    ...{ app, call, knownBot: () => bot },
    async askBot(signal) {
      bot = (await call({ method: 'GET', url: '/open-apis/bot/v3/info' }, botShape, signal)).bot
      return bot
    },
  }
}

async function createClient({ appId, appSecret, domain }: LarkApp, { clock, log }: LarkDeps): Promise<Client> {
  const sdk = await loadSdk()
  return new sdk.Client({
    ...{ appId, appSecret, domain, httpInstance: larkHttp(clock), cache: new sdk.DefaultCache() },
    ...{ logger: sdkLogger(log), loggerLevel: sdk.LoggerLevel.error },
  })
}

/** Contract: passes on the texts only; objects of the SDK may contain tokens and messages. */
export function sdkLogger(log: (text: string) => void): Logger {
  const write = (...parts: readonly unknown[]): void => {
    const texts = parts.flat(2).filter((part) => typeof part === 'string')
    if (texts.length > 0) log(texts.join(' '))
  }
  return { error: write, warn: write, info: () => {}, debug: () => {}, trace: () => {} }
}

/** The SDK throws texts such as "failed to get tenant_access_token, code: …". */
const asApiError = (thrown: unknown): TirelessError =>
  new TirelessError('channel_unavailable', 'the Lark SDK failed', { cause: asTirelessError(thrown).message })

function checkAnswer<T>(shape: z.ZodType<T>, answer: unknown): T {
  const { success, data, error } = shape.safeParse(answer)
  if (success) return data
  throw new TirelessError('channel_unavailable', {
    what: 'Lark sent an unexpected answer',
    got: describeMismatch(error.issues, {}),
  })
}

/** Lark accepts a message with the same key once within an hour. At most 50 characters. */
export const idempotencyKey = (...parts: readonly string[]): string => hash('sha256', parts.join('\n')).slice(0, 40)
