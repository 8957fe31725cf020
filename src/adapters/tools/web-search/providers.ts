/** Providers of web search: how each is asked, and how its answer is read. */

import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import { parseJson } from '../../../domain/json.ts'
import type { EgressRequest } from '../../../ports/egress.ts'

interface SearchQuery {
  readonly query: string
  readonly count: number
}

/** One page that was found. Contract: `url` is an http(s) address. */
export interface FoundPage {
  readonly title: string
  readonly url: string
  readonly text: string
}

/** Where a provider is. `address` has no slash at its end. */
export interface SearchAccess {
  readonly provider: string
  readonly address: string
  /** Contract: undefined if the provider needs none; throws if it is missing. */
  readonly key: () => string | undefined
}

type ProviderRequest = Pick<EgressRequest, 'method' | 'headers' | 'body'> & { readonly url: string }

interface SearchProvider {
  /** Contract: throws if a key is missing. */
  request(query: SearchQuery, access: SearchAccess): ProviderRequest
  /** The shape of a successful answer; other fields are ignored. */
  readonly answer: z.ZodType<readonly unknown[]>
  /** Contract: pure. Throws for a page without a title or address; such a page is left out. */
  page(found: unknown): FoundPage
}

const JSON_ONLY = { accept: 'application/json' }
const pages = z.array(z.unknown())
const title = z.string().min(1)
const url = z.url({ protocol: /^https?$/ })
const text = z.string().nullish()

const withContent = z.object({ title, url, content: text })
const pageWithContent = (found: unknown): FoundPage => {
  const { content, ...rest } = withContent.parse(found)
  return { ...rest, text: content ?? '' }
}

const brave: SearchProvider = {
  request: ({ query, count }, { address, key }) => ({
    ...{ method: 'GET', url: `${address}/res/v1/web/search?${new URLSearchParams({ q: query, count: `${count}` })}` },
    headers: { ...JSON_ONLY, 'x-subscription-token': key() ?? '' },
  }),
  // An answer without pages has no `web`.
  answer: z.object({ web: z.object({ results: pages }).optional() }).transform(({ web }) => web?.results ?? []),
  page(found) {
    const { description, ...rest } = z.object({ title, url, description: text }).parse(found)
    return { ...rest, text: withoutTags(description ?? '') }
  },
}

const tavily: SearchProvider = {
  request: ({ query, count }, { address, key }) => ({
    ...{ method: 'POST', url: `${address}/search`, body: JSON.stringify({ query, max_results: count }) },
    headers: { ...JSON_ONLY, 'content-type': 'application/json', authorization: `Bearer ${key() ?? ''}` },
  }),
  answer: z.object({ results: pages }).transform(({ results }) => results),
  page: pageWithContent,
}

const searxng: SearchProvider = {
  request({ query }, { address, key }) {
    const token = key()
    return {
      ...{ method: 'GET', url: `${address}/search?${new URLSearchParams({ q: query, format: 'json' })}` },
      headers: { ...JSON_ONLY, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    }
  },
  answer: z.object({ results: pages }).transform(({ results }) => results),
  page: pageWithContent,
}

const PROVIDERS: Readonly<Record<string, SearchProvider>> = { brave, tavily, searxng }

/** Brave marks the words of the query. */
const withoutTags = (html: string): string => html.replaceAll(/<\/?strong>/g, '')

/** Contract: throws `tool_failed` for an unknown provider. */
export function searchProvider(name: string): SearchProvider {
  const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined
  if (provider) return provider
  throw new TirelessError('tool_failed', `there is no search provider ${name}`)
}

/** Contract: at most `count` pages of the body, in its order; undefined if the body is no answer of this provider. */
export function readAnswer(provider: SearchProvider, body: string, count: number): readonly FoundPage[] | undefined {
  const parsed = z.safeParse(provider.answer, parseJson(body))
  return parsed.success ? parsed.data.flatMap((found) => pageOrNone(provider, found)).slice(0, count) : undefined
}

function pageOrNone(provider: SearchProvider, found: unknown): readonly FoundPage[] {
  try {
    return [provider.page(found)]
  } catch {
    return []
  }
}
