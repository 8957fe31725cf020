/**
 * Base URLs as people write them, in a setting or an environment variable: with or without the version path, with or
 * without a slash at the end, or the whole address of the API. The table decides; nothing is tried out.
 */

import { TirelessError } from '../../domain/error.ts'
import type { ProtocolName } from './providers.ts'

interface PathRule {
  readonly version: string
  /** The end of the API's own address. Who writes it states the whole path, so nothing is added. */
  readonly endpoint: RegExp
  /**
   * When the version is added. `unless_last`: it is always the last part, as in the providers' own libraries, which
   * take addresses without it. `bare_host`: gateways have it anywhere or not at all, so a path stays as it is.
   */
  readonly adds: 'unless_last' | 'bare_host'
}

const PATH_RULES: Readonly<Record<ProtocolName, PathRule>> = {
  anthropic: { version: 'v1', endpoint: /\/messages$/, adds: 'unless_last' },
  google: { version: 'v1beta', endpoint: /\/models\/[^/]+:\w+$/, adds: 'unless_last' },
  openai: { version: 'v1', endpoint: /\/(?:chat\/completions|responses)$/, adds: 'bare_host' },
  'openai-compatible': { version: 'v1', endpoint: /\/(?:chat\/completions|responses)$/, adds: 'bare_host' },
}

/** `v1`, `v1beta`, `v4`. */
const VERSION = /^v\d+[a-z\d]*$/i

interface GivenBaseUrl {
  readonly url: string
  /** The setting or variable that has it, for messages. */
  readonly setting: string
  readonly protocol: ProtocolName
  /** The known provider's own address, if there is one. */
  readonly usual?: string | undefined
}

/** Contract: the address to which the protocol's library adds its path. Throws `config_invalid`. */
export function normalizeBaseUrl(given: GivenBaseUrl): string {
  const url = parseAddress(given)
  const { version, endpoint, adds } = PATH_RULES[given.protocol]
  const path = url.pathname.replace(/\/+$/, '')
  if (endpoint.test(path)) return url.origin + path.replace(endpoint, '')
  const parts = path.split('/').slice(1)
  const hasVersion =
    adds === 'unless_last' ? VERSION.test(parts.at(-1) ?? '') : parts.some((part) => VERSION.test(part))
  if (hasVersion) return url.origin + path
  if (adds === 'unless_last') return `${url.origin}${path}/${version}`
  const usual = given.usual === undefined ? undefined : URL.parse(given.usual)
  const usualPath = usual?.pathname ?? ''
  if (path === '') return url.origin + (usual && isSameDomain(url, usual) ? usualPath : `/${version}`)
  return url.origin + (`${path}/${version}` === usualPath ? usualPath : path)
}

/** `dashscope-intl.aliyuncs.com` is the same provider as `dashscope.aliyuncs.com`. */
function isSameDomain(one: URL, other: URL): boolean {
  const domain = (url: URL): string => url.hostname.split('.').slice(-2).join('.')
  return domain(one) === domain(other)
}

/** The address is not quoted if it may contain a password. */
function parseAddress({ url: text, setting }: GivenBaseUrl): URL {
  const expected = 'an address such as https://host or https://host/v1'
  const url = URL.parse(text.trim())
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new TirelessError('config_invalid', {
      what: `${setting} is not a web address`,
      got: text.includes('@') ? 'text (not shown)' : text,
      expected,
      fix: `change ${setting}`,
    })
  if (url.username !== '' || url.password !== '')
    throw new TirelessError('config_invalid', {
      what: `${setting} has a user name or password`,
      expected,
      fix: 'remove it; put the key in api_key_env, or an Authorization line in headers',
    })
  if (url.search !== '')
    throw new TirelessError('config_invalid', {
      what: `${setting} has a query`,
      got: 'text after ?',
      expected,
      fix: 'remove the question mark and what follows it',
    })
  return url
}
