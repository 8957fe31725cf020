/** The schema of `channels`: where people are met, and with which keys. */

import { z } from 'zod'
import {
  anyMapping,
  atMostOne,
  customIssue,
  exactlyOne,
  httpUrl,
  isMapping,
  nonEmptyText,
  secretKeys,
  variableName,
} from './value-types.ts'

const chat_id = nonEmptyText.nullable().prefault(null).describe('chat for messages that name no chat')

const webhook = z
  .strictObject({
    url: httpUrl.describe('messages are posted to this URL'),
    ...secretKeys,
    chat_id,
    replaces: z.boolean().prefault(true).describe('false: the receiver cannot replace a message in place'),
  })
  .superRefine(exactlyOne('secret', 'secret_env', 'secret_file'), { when: isMapping })

/** The addresses of the two platforms. */
const LARK_DOMAINS = { feishu: 'https://open.feishu.cn', lark: 'https://open.larksuite.com' } as const
const DOMAIN = 'feishu, lark, or the https address of a private deployment'
const APP_ID = 'the App ID of the developer console, "Credentials & Basic Info": it begins with cli_'
const CONSOLE_KEY = 'from the developer console, "Events & Callbacks", "Encryption Strategy"'

const larkDomain = z
  .string(DOMAIN)
  .refine((value) => value in LARK_DOMAINS || isOrigin(value), DOMAIN)
  .prefault('feishu')
  .transform((value) => LARK_DOMAINS[value as keyof typeof LARK_DOMAINS] ?? new URL(value).origin)
  .describe('feishu (China), lark (elsewhere), or an address')

/** Plain http only on this machine: the requests contain the App Secret. */
function isOrigin(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, pathname, search, username } = new URL(value)
  const isLocal = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  return (
    (protocol === 'https:' || (protocol === 'http:' && isLocal)) && pathname === '/' && `${search}${username}` === ''
  )
}

const lark = z
  .strictObject({
    app_id: z.string(APP_ID).regex(/^cli_[\w-]{1,60}$/, APP_ID),
    app_secret: nonEmptyText.optional().describe('prefer secret:NAME, app_secret_env or app_secret_file'),
    app_secret_env: variableName.optional(),
    app_secret_file: nonEmptyText.optional().describe('relative to the configuration file'),
    domain: larkDomain,
    mode: z
      .enum(['connection', 'webhook'])
      .prefault('connection')
      .describe('how messages arrive: over a connection to Lark, or as requests from Lark'),
    encrypt_key: nonEmptyText.optional().describe(`${CONSOLE_KEY}; prefer secret:NAME, encrypt_key_env`),
    encrypt_key_env: variableName.optional(),
    encrypt_key_file: nonEmptyText.optional().describe('relative to the configuration file'),
    verification_token: nonEmptyText.optional().describe(`${CONSOLE_KEY}; prefer secret:NAME, verification_token_env`),
    verification_token_env: variableName.optional(),
    verification_token_file: nonEmptyText.optional().describe('relative to the configuration file'),
    chat_id,
  })
  .superRefine(exactlyOne('app_secret', 'app_secret_env', 'app_secret_file'), { when: isMapping })
  .superRefine(atMostOne('encrypt_key', 'encrypt_key_env', 'encrypt_key_file'), { when: isMapping })
  .superRefine(atMostOne('verification_token', 'verification_token_env', 'verification_token_file'), {
    when: isMapping,
  })
  .superRefine(
    (value, context) => {
      const isProven = Object.keys(value).some((key) => /^(encrypt_key|verification_token)/.test(key))
      if (value.mode !== 'webhook' || isProven) return
      const expected = 'the Encrypt Key, because the mode is webhook: it proves that a request comes from Lark'
      const issue = customIssue(expected, undefined, `copy the Encrypt Key ${CONSOLE_KEY}`)
      context.addIssue({ ...issue, path: ['encrypt_key_env'] })
    },
    { when: isMapping },
  )

export const channelsSchema = z.strictObject({
  lark: lark.optional(),
  slack: anyMapping.optional(),
  telegram: anyMapping.optional(),
  webhook: webhook.optional(),
})
