/** The web search that the owner configured: its schema, its address, its key, and the hosts that may be read. */

import { z } from 'zod'
import type { Config } from './schema.ts'
import { atMostOne, customIssue, httpUrl, isMapping, nonEmptyText, variableName } from './value-types.ts'

/** Each provider, with the address of its service; null: there is no public one. */
const PROVIDERS = {
  brave: 'https://api.search.brave.com',
  tavily: 'https://api.tavily.com',
  searxng: null,
} as const

const NAMES = ['brave', 'tavily', 'searxng'] as const

export const searchSchema = z
  .strictObject({
    provider: z.enum(NAMES),
    url: httpUrl.optional().describe("default: the provider's own address; searxng has none"),
    api_key: nonEmptyText.optional().describe('prefer secret:NAME, api_key_env or api_key_file'),
    api_key_env: variableName.optional(),
    api_key_file: nonEmptyText.optional().describe('relative to the configuration file'),
  })
  .superRefine(atMostOne('api_key', 'api_key_env', 'api_key_file'), { when: isMapping })
  .superRefine(
    ({ provider, url }, context) => {
      if (url !== undefined || PROVIDERS[provider] !== null) return
      const expected = `the address of your server, such as http://127.0.0.1:8888, because the provider is ${provider}`
      context.addIssue({ ...customIssue(expected, undefined, 'add url here'), path: ['url'] })
    },
    { when: isMapping },
  )

type SearchConfig = NonNullable<Config['search']>

/** Contract: the address without a slash at its end. */
export const searchAddress = ({ provider, url }: Pick<SearchConfig, 'provider' | 'url'>): string =>
  (url ?? PROVIDERS[provider] ?? '').replace(/\/+$/, '')

/** Hosts that agents may read without being asked for: those of `policy.allow_hosts`, and the search provider's. */
export function readableHosts({ policy, search }: Pick<Config, 'policy' | 'search'>): readonly string[] {
  if (search === null) return policy.allow_hosts
  const { hostname, port, protocol } = new URL(searchAddress(search))
  return [...policy.allow_hosts, `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`]
}
